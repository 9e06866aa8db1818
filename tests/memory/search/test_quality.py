from __future__ import annotations

import statistics
from datetime import date
from pathlib import Path

from bench.recall.data import Question, read_cases
from bench.recall.figures import recall
from bench.recall.systems import fts5, ours

from reverie.memory.search.document import SearchDocument
from tests.requirements import requirement

TALKS = {
    date(2023, 3, 4): [
        ("Ines", "Hi Tomas! What have you been up to since we talked the last time?"),
        ("Tomas", "I started to bake sourdough. The first loaf was as hard as a brick."),
        ("Ines", "What do you do with what you do not eat?"),
        ("Tomas", "The neighbours' hens are glad of it."),
        ("Ines", "I signed up for a pottery course, every Thursday in the old mill."),
        ("Tomas", "What do you want to make there?"),
        ("Ines", "Bowls for my sister's wedding."),
    ],
    date(2023, 5, 20): [
        ("Tomas", "I have been to the doctor, and what do you think it was? An allergy against hazelnuts."),
        ("Ines", "What a pity, you do like that cake so much."),
        ("Tomas", "How did the exhibition go?"),
        ("Ines", "I sold three vases, and a gallery in Porto asked for more."),
        ("Tomas", "We adopted a greyhound, she is called Nuvem."),
        ("Ines", "What did your landlord say to that?"),
        ("Tomas", "He likes dogs more than tenants."),
    ],
    date(2023, 9, 2): [
        ("Ines", "I have given notice at the bank, from October on I only do ceramics."),
        ("Tomas", "What do you live on until it does what you want it to do?"),
        ("Ines", "My savings last for a year, and Rui pays the rent."),
        ("Tomas", "I ran my first half marathon in Braga, two hours and four minutes."),
        ("Ines", "What did you do for your knee?"),
        ("Tomas", "Swimming twice a week, as the physiotherapist wanted it."),
    ],
}
ASKED = {
    "What did Tomas begin baking?": [(0, 1)],
    "Who eats the bread that Tomas does not want?": [(0, 3)],
    "What was Ines making the bowls for?": [(0, 6)],
    "Which nuts is Tomas allergic to?": [(1, 0)],
    "How many vases did Ines sell at the exhibition?": [(1, 3)],
    "What is the name of the dog that Tomas adopted in May 2023?": [(1, 4)],
    "What did Tomas's landlord think of the dog?": [(1, 6)],
    "What did Ines do about her job at the bank in September?": [(2, 0)],
    "What does Ines live on?": [(2, 2)],
    "Where did Tomas run the half marathon?": [(2, 3)],
    "What did Tomas do for his knee?": [(2, 5)],
    "Where does Ines do pottery courses?": [(0, 4)],
}


@requirement("search:quality:words")
def test_our_own_questions_are_answered_better_than_by_plain_full_text_search(tmp_path: Path) -> None:
    documents = tuple(
        SearchDocument(key=f"{talk}.{at}", body=text, about=(who,), observed=day, group=str(talk), position=at)
        for talk, (day, turns) in enumerate(TALKS.items())
        for at, (who, text) in enumerate(turns)
    )
    questions = [
        Question(text, "own", tuple((f"{talk}.{at}",) for talk, at in places)) for text, places in ASKED.items()
    ]
    figures = []
    for system in (ours(limit=3), fts5):
        rank = system(documents, tmp_path)
        figures.append(statistics.fmean(recall(one, rank(one.text), limit=3) for one in questions))
    assert figures[0] > figures[1] + 0.1
    assert figures[0] > 0.8


@requirement("search:quality:words")
def test_real_questions_are_answered_better_than_by_plain_full_text_search(shared_data: Path, tmp_path: Path) -> None:
    assert (shared_data / "recall").is_dir()
    case = read_cases("turn")[1]
    figures = []
    for system in (ours(), fts5):
        rank = system(case.documents, tmp_path)
        figures.append(statistics.fmean(recall(question, rank(question.text)) for question in case.questions))
    assert figures[0] > figures[1] + 0.1

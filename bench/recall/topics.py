"""A store of topics as a developer's memory holds them, and requests that share hardly a word with the topic they mean.

They show what abstention does where names, descriptions and requests are short and about work; the development splits
are talk about private life.
"""

from __future__ import annotations

from bench.recall.data import Case, Question
from reverie.memory.search.document import SearchDocument

_TOPICS = (
    ("user", "Pets", "The user owns a golden retriever called Biscuit", "Adopted from a shelter; walks at seven."),
    ("user", "Background in hardware", "Twenty years of firmware in C, new to the browser", "Explain styling slowly."),
    ("user", "Works from Lisbon", "Lives in Portugal and starts at ten local time", "Meetings before that are missed."),
    ("feedback", "Short replies", "Wants answers in a few lines, no closing summary", "Said so twice in October."),
    ("feedback", "Real database in tests", "Integration tests use Postgres; a mock hid a broken migration", ""),
    ("feedback", "Ask before pushing", "Never push to the remote unless told", "A half-done branch went out once."),
    ("project", "Version 4 release", "Ships at the end of March after the audit", "The audit moved it twice."),
    (
        "project",
        "Payment retries",
        "Failed charges are tried again three times, then mailed",
        "Owner: the billing team.",
    ),
    ("project", "Slow import", "Reading the ledger file takes nine minutes because rows are parsed one by one", ""),
    ("project", "Two currencies", "Amounts are kept in cents with the currency beside them", "Rounding half to even."),
    ("reference", "Where failures are reported", "Crashes of the app arrive in the Sentry board 'harbour'", ""),
    (
        "reference",
        "Build machines",
        "Continuous integration runs on four machines in Frankfurt",
        "They sleep on Sunday.",
    ),
)
_PARAPHRASES = (
    ("what animal lives with me?", "Pets"),
    ("what breed is my dog?", "Pets"),
    ("have I done front-end work before?", "Background in hardware"),
    ("how much do I know about CSS?", "Background in hardware"),
    ("which time zone am I in?", "Works from Lisbon"),
    ("can we schedule a call at eight in the morning?", "Works from Lisbon"),
    ("how long should your messages be?", "Short replies"),
    ("should you recap at the end?", "Short replies"),
    ("is it fine to stub the SQL layer here?", "Real database in tests"),
    ("how do we check code that talks to storage?", "Real database in tests"),
    ("may you upload my commits?", "Ask before pushing"),
    ("sync the branch with GitHub now", "Ask before pushing"),
    ("when does the next major go out?", "Version 4 release"),
    ("what is our deadline?", "Version 4 release"),
    ("what happens when a credit card is declined?", "Payment retries"),
    ("who is in charge of invoices that bounce?", "Payment retries"),
    ("why does loading the books drag on?", "Slow import"),
    ("how could the CSV loader be sped up?", "Slow import"),
    ("how is money represented?", "Two currencies"),
    ("do we store euros as floats?", "Two currencies"),
    ("where can I see exceptions from production?", "Where failures are reported"),
    ("which dashboard shows errors?", "Where failures are reported"),
    ("where do the pipelines execute?", "Build machines"),
    ("why did nothing compile over the weekend?", "Build machines"),
)


def topic_case() -> Case:
    """The store and its requests."""
    documents = tuple(
        SearchDocument(key=name, body=body, name=name, description=description, type=kind)
        for kind, name, description, body in _TOPICS
    )
    return Case("topics", documents, tuple(Question(text, "paraphrase", ((name,),)) for text, name in _PARAPHRASES))

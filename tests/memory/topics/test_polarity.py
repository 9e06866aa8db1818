from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.topics.polarity import (
    TITLE_CHARS,
    MismatchKind,
    PolarityMismatch,
    find_distortion,
    find_mismatch,
    keep_as_said,
    make_title,
)
from reverie.memory.topics.topic import Source, Topic
from tests.requirements import requirement

INVERTED = [
    ("No emojis in commit messages.", "Emojis in commit messages"),
    ("no more than one class per file please", "More than one class per file"),
    ("no need to ask me before running the tests", "Need to ask me before running the tests"),
    ("please no mocks of the database", "Mocks of the database"),
    ("dont push to main", "push to main"),
    ("Don't commit without tests", "Commit without tests"),
    ("Don't commit without tests", "Don't commit with tests"),
    ("no, never mock the database", "Mock the database"),
    ("Use tabs in Go files.", "Don't use tabs in Go files."),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("use pytest rather than unittest", "use unittest rather than pytest"),
    ("Bitte keine Emojis in Commits", "Emojis in Commits"),
    ("Ohne Tests wird nicht deployt", "Ohne Tests wird deployt"),
    ("不要在提交信息里用表情符号", "在提交信息里用表情符号"),
    ("别用模拟对象", "用模拟对象"),
    ("テストでモックを使わないでください", "テストでモックを使ってください"),
    ("タブを使って、スペースは使わないで", "スペースを使って、タブは使わないで"),
    ("pas d'emojis dans les commits", "des emojis dans les commits"),
    ("N'utilise jamais de tabulations", "Utilise des tabulations"),
    ("Sin emojis en los commits", "Emojis en los commits"),
    ("no uses nunca tabuladores", "usa tabuladores"),
    ("Не используй табы", "Используй табы"),
    ("Используй табы", "Не используй табы"),
    ("nunca use mocks em produção", "use mocks em produção"),
    ("커밋 메시지에 이모지를 쓰지 마세요", "커밋 메시지에 이모지를 쓰세요"),
]
CHANGED = [
    (MismatchKind.number, "Keep functions under 40 lines", "Keep functions under 50 lines"),
    (MismatchKind.number, "two approvals per change", "three approvals per change"),
    (MismatchKind.number, "最多三个参数", "最多两个参数"),
    (MismatchKind.name, "Anna approves all releases", "Bernd approves all releases"),
    (MismatchKind.name, "ask Anna before you deploy", "ask Bernd before you deploy"),
    (MismatchKind.name, "run foo_bar first", "run foo_baz first"),
    (MismatchKind.name, "张伟负责发布", "李强负责发布"),
    (MismatchKind.condition, "at least 2 reviews", "at most 2 reviews"),
    (MismatchKind.condition, "wait until the build is green", "wait before the build is green"),
    (MismatchKind.condition, "squash when the branch is yours", "squash the branch that is yours"),
]
REWORDED = [
    ("Timeouts are 30 s.", "Timeouts are 30 ms."),
    ("The budget is $500.", "The budget is €500."),
    ("The meeting is at 3 pm.", "The meeting is at 3 am."),
    ("Reply within 2 hours.", "Reply within 2 days."),
    ("Prefer composition over inheritance.", "Prefer inheritance over composition."),
    ("Ask me before you delete anything, not after.", "Ask me after you delete anything, not before."),
    ("Write the tests first, then the code.", "Write the code first, then the tests."),
    ("We moved from Jenkins to Buildkite.", "We moved from Buildkite to Jenkins."),
    ("Reviews are mandatory for hotfixes.", "Reviews are optional for hotfixes."),
    ("You must sign commits.", "You may sign commits."),
    ("You may skip the changelog.", "You must skip the changelog."),
    ("Keep responses under 100 words.", "Keep responses over 100 words."),
    ("Either Ana or Ben reviews.", "Ana and Ben review."),
    ("The freeze starts on Monday 9 March.", "The freeze ends on Monday 9 March."),
    ("Prod is in eu-west-1.", "Prod is in us-west-1."),
    ("We rarely deploy on Fridays.", "We often deploy on Fridays."),
    ("dnt use semicolons", "use semicolons"),
    ("At most 2 open PRs per person.", "2 open PRs per person."),
    ("Always use tabs unless the file is Python.", "Always use tabs."),
    ("Nie auf main pushen, außer bei Hotfixes.", "Nie auf main pushen."),
    ("Erst testen, dann mergen.", "Erst mergen, dann testen."),
    ("用制表符代替空格", "用空格代替制表符"),
    ("必须写测试", "可以写测试"),
    ("周五可以上线", "周四可以上线"),
    ("コメントは日本語で", "コメントは英語で"),
    ("最低2人のレビュー", "最大2人のレビュー"),
    ("Como máximo 2 PR por persona.", "Como mínimo 2 PR por persona."),
    ("Seul Paul peut valider.", "Paul peut valider."),
]
"""What no list of negations knows: units, order, modality, opposites."""


@requirement("memory:polarity")
@pytest.mark.parametrize(("source", "stored"), [*INVERTED, *REWORDED])
def test_the_opposite_is_told_from_what_was_said_in_text_and_title(source: str, stored: str) -> None:
    assert find_mismatch(source, stored)
    assert find_mismatch(source, stored, is_title=True)


@requirement("memory:polarity")
@pytest.mark.parametrize(("kind", "source", "stored"), CHANGED)
def test_another_number_name_or_condition_is_a_mismatch(kind: MismatchKind, source: str, stored: str) -> None:
    found = find_mismatch(source, stored)

    assert found is not None
    assert found.kind is kind


@requirement("memory:polarity")
@pytest.mark.parametrize(
    ("source", "stored"),
    [
        ("No, use tabs", "Use tabs"),
        ("no - use tabs", "Use tabs"),
        ("Nein, nimm Tabs", "Nimm Tabs"),
        ("不，用制表符缩进", "用制表符缩进"),
        ("いいえ、タブを使って", "タブを使って"),
        ("non, utilise des espaces", "Utilise des espaces"),
        ("нет, используй пробелы", "Используй пробелы"),
        ("아니, 탭을 써", "탭을 써"),
        ("não, usa espaços", "Usa espaços"),
        ("remember: never deploy on a Friday afternoon", "Never deploy on a Friday afternoon"),
        ("The release is tomorrow", "The release is tomorrow (2026-09-02)"),
        ("以后提交信息都用英文写", "提交信息都用英文写"),
        ("Don't mock the database. Mocks hid a broken migration.", "Don't mock the database"),
        ("Never use more than two mocks", "Never use more than 2 mocks"),
        ("Push with --no-verify", "Push with `--no-verify`"),
    ],
)
def test_what_says_the_same_is_no_mismatch(source: str, stored: str) -> None:
    assert find_mismatch(source, stored) is None


@requirement("memory:polarity")
def test_a_sentence_that_limits_the_one_before_must_not_be_missing() -> None:
    source = "Squash every branch. Except release branches."

    assert find_mismatch(source, "Squash every branch.") == PolarityMismatch(MismatchKind.condition, ("except",))
    assert find_mismatch("Squash every branch. No rush.", "Squash every branch.") is None


@requirement("memory:polarity")
def test_a_script_whose_negations_are_not_known_is_kept_word_by_word() -> None:
    assert find_mismatch("μην χρησιμοποιείς tabs", "χρησιμοποιείς tabs")
    assert find_mismatch("μην χρησιμοποιείς tabs", "Μην χρησιμοποιείς tabs.") is None


@requirement("memory:polarity")
def test_a_topic_that_differs_says_what_was_said_instead() -> None:
    quote = "Please no emojis in commit messages."
    wrong = Topic("", "Emojis in commits", "Use emojis in commit messages", body="Use emojis.", sources=_quotes(quote))

    held = keep_as_said(wrong)

    assert (held.name, held.description, held.body) == (quote.rstrip("."), quote, quote)


@requirement("memory:polarity")
def test_what_is_put_otherwise_is_said_as_it_was_said_and_what_it_adds_stays() -> None:
    quote = "keep your answers short"
    added = "**How to apply:** details go behind a question"
    topic = Topic("", "Terse", "The user wants verbosity", body=f"Be verbose.\n\n{added}", sources=_quotes(quote))

    held = keep_as_said(topic)

    assert (held.description, held.body) == (quote, f"{quote}\n\n{added}")
    assert find_distortion(held) is None
    assert find_distortion(topic)
    assert find_distortion(replace(topic, pinned=True), topic) is None


@requirement("memory:polarity")
def test_a_topic_that_was_brought_up_to_date_says_what_one_of_its_quotes_says() -> None:
    old = Topic("", "Use tabs", "Use tabs", body="Use tabs", sources=_quotes("Use tabs"))
    new = replace(old, name="Use spaces", description="Use spaces", body="Use spaces\n\nBefore: Use tabs")

    assert find_distortion(new, old)
    assert find_distortion(replace(new, sources=(*old.sources, *_quotes("Use spaces"))), old) is None


@requirement("memory:polarity")
def test_a_title_that_inverts_is_replaced_and_the_rest_stays() -> None:
    quote = "never mock the database, it hid a bug"
    made = Topic(
        "", "Mocking the database", "Never mock the database, it hid a bug", body=quote, sources=_quotes(quote)
    )

    held = keep_as_said(made)

    assert held.name == "Never mock the database, it hid a bug"
    assert held.body == quote
    assert keep_as_said(held) == held


def test_a_topic_without_a_quote_has_nothing_to_differ_from() -> None:
    topic = Topic("", "Anything", "Never say never", body="Always.", sources=(Source("s1", "m1", None),))

    assert keep_as_said(topic) == topic


@requirement("memory:polarity")
def test_a_long_sentence_keeps_its_negation_in_its_title() -> None:
    long = f"Changing {'the settings of a service and ' * 6}its database is what we never do on a Friday"

    assert make_title(long).count("never") == 1
    assert len(make_title(long)) < 120


_LANGUAGES = {
    "en": ("Use {} in {}", "Never use {} in {}", "Use {} in {}, but not with {}", "Use {} only in {}"),
    "de": ("Nimm {} in {}", "Nimm nie {} in {}", "Nimm {} in {}, aber nicht mit {}", "Nimm {} nur in {}"),
    "fr": ("Utilise {} en {}", "N'utilise jamais {} en {}", "Utilise {} en {}, mais pas {}", "{} seulement en {}"),
    "es": ("Usa {} en {}", "Nunca uses {} en {}", "Usa {} en {}, pero no con {}", "Usa {} solo en {}"),
    "ru": ("Используй {} в {}", "Не используй {} в {}", "Используй {} в {}, но не с {}", "Используй {} только в {}"),
    "pt": ("Usa {} em {}", "Nunca uses {} em {}", "Usa {} em {}, mas não com {}", "Usa {} apenas em {}"),
    "zh": ("在{1}里用{0}", "在{1}里不要用{0}", "在{1}里用{0}，别和{2}一起", "只在{1}里用{0}"),
    "ja": ("{1}で{0}を使う", "{1}で{0}を使わない", "{1}で{0}を使う、{2}は使わない", "{1}でだけ{0}を使う"),
    "ko": ("{1}에서 {0}을 써", "{1}에서 {0}을 쓰지 마", "{1}에서 {0}을 써, {2}은 쓰지 마", "{1}에서만 {0}을 써"),
}  # fmt: skip
_THINGS = ("tabs", "mocks", "emojis", "macros", "globals", "threads", "caches", "snapshots")


@st.composite
def _pair(draw: st.DrawFn) -> tuple[str, str, bool]:
    """Two sentences on the same things in one language, and whether they say the same."""
    forms = _LANGUAGES[draw(st.sampled_from(sorted(_LANGUAGES)))]
    things = draw(st.permutations(_THINGS))[:3]
    one, other = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return forms[one].format(*things), forms[other].format(*things), one == other


@requirement("memory:polarity")
@given(_pair())
def test_the_same_things_said_in_another_polarity_are_always_noticed(pair: tuple[str, str, bool]) -> None:
    source, stored, is_same = pair

    assert (find_mismatch(source, stored) is None) is is_same


@requirement("memory:polarity")
@given(_pair(), st.sampled_from(["", "Ok. ", "Thanks! ", "No, "]))
def test_whatever_is_written_on_a_source_what_is_kept_has_no_mismatch(pair: tuple[str, str, bool], lead: str) -> None:
    source, stored, is_same = lead + pair[0], pair[1], pair[2]

    held = keep_as_said(Topic("", stored, stored, body=stored, sources=_quotes(source)))

    assert (held.body == stored) is is_same
    assert find_mismatch(source, held.description) is None
    assert find_mismatch(source, held.body) is None
    assert find_mismatch(source, held.name, is_title=True) is None
    assert keep_as_said(held) == held


def _quotes(quote: str) -> tuple[Source, ...]:
    return (Source("s1", "m1", quote),)


@requirement("memory:polarity")
def test_a_title_a_little_too_long_stays_whole_where_a_cut_would_lose_its_negation() -> None:
    sentence = "Our certificate for the public interface runs out on April 11 2026, and of all we renew this one alone"
    sentence += " is not renewed by a job"

    assert len(sentence) > TITLE_CHARS
    assert make_title(sentence) == sentence

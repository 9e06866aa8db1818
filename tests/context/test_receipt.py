from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.context.compact import compact
from reverie.context.receipt import RECEIPT, Fate, Receipt, ReceiptLine, Sort, in_view, receipts
from reverie.messages.codec import decode_json, encode_json
from reverie.messages.entries import MarkEntry
from tests.context.kit import Session, conclude, golden, long_session, resumed
from tests.requirements import requirement

lines = st.builds(ReceiptLine, st.sampled_from(Sort), st.sampled_from(Fate), st.text(max_size=30), st.text(max_size=20))
some = st.builds(
    Receipt,
    st.sampled_from(["full compaction", "notes compaction"]),
    st.just("embedded"),
    st.text(max_size=10),
    st.text(max_size=10),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.lists(lines, max_size=30).map(tuple),
)


def size(text: str) -> int:
    return len(text) // 3


@requirement("context:receipt:full")
@given(some)
def test_a_receipt_survives_the_transcript(receipt: Receipt) -> None:
    assert Receipt.from_json(decode_json(encode_json(receipt.to_json()))) == receipt


@requirement("context:receipt:full")
@given(some, st.integers(0, 600))
def test_the_words_in_view_keep_their_limit(receipt: Receipt, limit: int) -> None:
    assert size(in_view(receipt, limit_tokens=limit, weigh=size, short={})) <= limit


@requirement("context:receipt:full")
def test_a_compaction_leaves_its_receipt_in_the_transcript() -> None:
    session = long_session()
    session.take(conclude(compact(session.case(16_000)), "<summary>Short.</summary>"))
    (receipt,) = receipts(resumed(session.entries))

    assert (receipt.kind, receipt.written_by) == ("full compaction", "scripted")
    assert receipt.pre_tokens > receipt.post_tokens > 0
    assert {line.sort for line in receipt.of(Fate.BACK)} >= {Sort.REQUEST, Sort.FILE, Sort.TROUBLE}
    assert len([line for line in receipt.lines if line.sort is Sort.REQUEST]) == 6


@requirement("context:receipt:full")
def test_a_mark_that_is_no_receipt_is_passed_over() -> None:
    session = Session().mark(RECEIPT, lines="none").mark(RECEIPT).mark("other", lines=[])

    assert receipts(session.entries) == []
    assert all(isinstance(entry, MarkEntry) for entry in session.entries)


@requirement("context:receipt:full", "context:prompts")
def test_the_words_of_a_compaction_are_golden() -> None:
    """Summary, what is brought back, and the receipt, as the model reads them."""
    session = long_session(3, lines=12)
    session.say("Use tabs? No: never use tabs in this project, spaces only. " + "Background: " + "blah " * 1200)
    session.reply("Understood, spaces only.")
    session.mark("pin", uuid=session.uuid())
    session.work("TodoWrite", "ok", todos=[{"content": "write the changelog", "status": "pending"}])
    session.reply("Noted.").say("And now the exporter, please.")
    session.take(conclude(compact(session.case(8_000), tail_tokens=0), "<summary>We changed importers.</summary>"))

    golden("compacted.md", "\n\n---\n\n".join(item.message.text for item in session.view.items))

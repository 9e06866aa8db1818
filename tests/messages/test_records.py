from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.messages.blocks import Block, ToolUse
from reverie.messages.codec import block_from_wire, block_to_wire, tool_from_wire, tool_to_wire
from reverie.messages.entries import AssistantEntry, BadLine, Entry, LinkEntry, OtherEntry, UserEntry
from reverie.messages.records import decode_line, decode_lines, encode_line
from tests.requirements import requirement
from tests.strategies import blocks, entries, json_values


@requirement("messages:codec:round-trip")
@given(blocks)
def test_a_block_survives_its_wire_form(block: Block) -> None:
    assert block_from_wire(json.loads(json.dumps(block_to_wire(block)))) == block


@requirement("messages:codec:round-trip")
@given(entries())
def test_an_entry_survives_its_line(entry: Entry) -> None:
    assert decode_line(encode_line(entry)) == entry


@requirement("messages:codec:unknown-survives")
@given(st.dictionaries(st.sampled_from(["type", "uuid", "message", "later"]), json_values))
def test_any_json_object_is_written_back_as_it_came(record: dict[str, object]) -> None:
    line = json.dumps(record).encode()

    assert encode_line(decode_line(line)) == line


@requirement("messages:codec:unknown-survives")
@given(st.binary(min_size=1).filter(lambda line: b"\n" not in line))
def test_any_bytes_are_written_back_as_they_came(line: bytes) -> None:
    assert encode_line(decode_line(line)) == line


@requirement("messages:codec:unknown-survives")
def test_unknown_fields_of_a_known_block_travel_with_it() -> None:
    wire = {"type": "tool_use", "id": "t1", "name": "Read", "input": {}, "caller": {"type": "direct"}}

    block = block_from_wire(wire)

    assert isinstance(block, ToolUse)
    assert block_to_wire(block) == wire


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b"// a comment", BadLine),
        (b'"massive error"', BadLine),
        (b"42", BadLine),
        (b'{"silly": "this"}', BadLine),
        (b'{"type":"queue-operation","operation":"enqueue"}', OtherEntry),
        (b'{"type":"user","uuid":"u","message":"error"}', LinkEntry),
        (b'{"type":"user","uuid":7,"message":{"role":"user","content":"x"}}', OtherEntry),
        (b'{"type":"system","subtype":"reverie_later","uuid":"u"}', LinkEntry),
        (b'{"type":"system","subtype":"reverie_snip","uuid":"u","reverie":{"wrong":1}}', LinkEntry),
    ],
)
@requirement("messages:chain:tolerant")
def test_a_line_that_does_not_fit_is_named_and_kept(line: bytes, kind: type[Entry]) -> None:
    entry = decode_line(line)

    assert isinstance(entry, kind)
    assert entry.raw == line


@requirement("messages:codec:result-field-not-sent")
def test_the_structured_tool_result_is_no_part_of_the_message() -> None:
    record = {
        "type": "user",
        "uuid": "u1",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "seen"}]},
        "toolUseResult": {"stdout": "unseen" * 1000},
    }

    entry = decode_line(json.dumps(record).encode())

    assert isinstance(entry, UserEntry)
    assert "unseen" not in repr(entry.message)
    assert b"unseen" in encode_line(entry)


@requirement("messages:codec:unknown-survives")
def test_every_sample_transcript_is_written_back_byte_for_byte(shared_data: Path) -> None:
    for path in sorted((shared_data / "transcripts").rglob("*.jsonl")):
        lines = [line for line in path.read_bytes().split(b"\n") if line.strip()]

        assert [encode_line(entry) for entry in decode_lines(path.read_bytes())] == lines, path


@requirement("messages:codec:round-trip")
def test_a_built_in_tool_keeps_its_kind_and_has_no_schema() -> None:
    wire = {"type": "memory_20250818", "name": "memory"}

    assert tool_to_wire(tool_from_wire(wire)) == wire


def test_an_error_shown_by_the_client_is_marked() -> None:
    record = {
        "type": "assistant",
        "uuid": "u",
        "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}]},
    }

    entry = decode_line(json.dumps(record).encode())

    assert isinstance(entry, AssistantEntry)
    assert entry.is_error

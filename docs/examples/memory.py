"""Keep, find, trace and undo a memory; no model is asked."""

import tempfile

from reverie import Memory

with tempfile.TemporaryDirectory() as folder:
    memory = Memory(folder)
    memory.save(
        name="No database mocks",
        type="feedback",
        description="Integration tests use a real database; mocks hid a broken migration",
        body="Use the real database in integration tests.\n\n**Why:** mocks once hid a broken migration.",
    )
    for hit in memory.recall("may I mock the database in this integration test?"):
        print(hit.topic.path, round(hit.score, 2), hit.why)
    print("unrelated:", memory.recall("what is the weather in Lisbon"))
    (change, *_) = memory.log()
    memory.undo(change.commit)
    print("after undo:", [topic.name for topic in memory.topics()])

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reverie.memory.store.index.catalogue import RowTable, read_names
from reverie.memory.store.index.memory_md import IndexRow, render_index
from tests.memory.stores import open_store, topic

_rows = st.builds(
    IndexRow,
    st.sampled_from([f"{name}.md" for name in ("a", "B", "ü", "\udc80", "x/y")]),
    st.text(max_size=5),
    st.lists(st.text(st.characters(blacklist_characters="\x1f"), max_size=8), min_size=1, max_size=2).map(tuple),
    is_always=st.booleans(),
    is_pinned=st.booleans(),
    day=st.none() | st.dates(),
)


@given(st.lists(_rows, max_size=6))
def test_rows_come_back_as_they_were_put(tmp_path_factory: object, rows: list[IndexRow]) -> None:
    table = RowTable(tmp_path_factory.mktemp("rows") / "index.db")  # type: ignore[attr-defined]
    table.put((row.path, b"1" * 20, row) for row in rows)
    table.commit("head")
    table.renew()
    last = {row.path: row for row in rows}
    assert {path: table.get(path) for path in last} == last
    assert len(table) == len(last)
    table.close()


def test_the_index_of_a_table_is_the_index_of_the_same_rows_in_a_list(tmp_path: Path) -> None:
    chance = random.Random(5)
    rows = [
        IndexRow(
            f"t{number:03}.md",
            f"name {number}",
            ("a hook",),
            is_always=chance.random() < 0.01,
            is_pinned=chance.random() < 0.01,
            day=chance.choice([None, date(2026, 1, 1) + timedelta(days=chance.randrange(300))]),
        )
        for number in range(500)
    ]
    use = {f"t{chance.randrange(600):03}.md": chance.random() for _ in range(40)}
    previous = "# Mine\n\n## Own\n- [x](T007.md) — mine\n- [gone](gone.md)\n"
    table = RowTable(tmp_path / "index.db")
    table.put((row.path, b"1" * 20, row) for row in rows)
    first = render_index(table, previous, use=use)
    assert first == render_index(rows, previous, use=use)
    assert render_index(table, first, changed=["t001.md"]) == render_index(rows, first, changed=["t001.md"])
    table.close()


def test_a_table_that_is_damaged_or_gone_costs_nothing_but_time(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save_many([topic(f"Topic {number}") for number in range(5)])
    place = next(tmp_path.rglob("index.db"))
    for content in (b"not a database" * 100, b""):
        for left in place.parent.glob("index.db*"):
            left.unlink()
        place.write_bytes(content)
        for each in (store, open_store(tmp_path)):
            each.edit("topic 3", lambda old: topic(old.name, body=f"{old.body} more", path=old.path))
            assert each.find("TOPIC 3") == "feedback_topic_3.md"
    assert read_names(place)["feedback_topic_4.md"][1] == "Topic 4"


def test_a_name_is_found_as_it_is_on_disk_now(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    path = tmp_path / store.save(topic("Old name")).topic.path
    path.write_text(path.read_text(encoding="utf-8").replace("Old name", "New name"), encoding="utf-8")
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "ours.md").write_text("---\nname: Shared one\n---\nText.\n", encoding="utf-8")
    reader = open_store(tmp_path)
    assert reader.find("new name") == path.name
    assert reader.find("shared one") == "team/ours.md"

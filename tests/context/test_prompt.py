from __future__ import annotations

from importlib.resources import files

from reverie.context.prompt import fill, read_prompt
from tests.requirements import requirement


@requirement("context:notes:custom")
def test_placeholders_are_filled_in_a_single_pass() -> None:
    filled = fill(r"{{one}} {{two}} {{unknown}}", {"one": r"{{two}} \1 $& \g<0>", "two": "2"})

    assert filled == r"{{two}} \1 $& \g<0> 2 {{unknown}}"


def test_every_prompt_opens_with_a_comment_that_the_model_does_not_see() -> None:
    folder = files("reverie.context") / "prompts"
    names = sorted(entry.name.removesuffix(".md") for entry in folder.iterdir() if entry.name.endswith(".md"))

    assert names == ["notes", "notes_template", "span", "summary"]
    for name in names:
        raw = (folder / f"{name}.md").read_text(encoding="utf-8")
        assert raw.startswith("<!-- Read by: context."), name
        assert "<!--" not in read_prompt(name)

"""The long session of the story: on one day all banks move to one reader (`migration.md` is what the user types)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from reverie.apps.demo.project import BANKS, Bank
from reverie.apps.demo.script import ScriptedTurn
from reverie_simulator.script import ScriptAction, ToolCall


def migration_turns(project: Path) -> list[ScriptedTurn]:
    """The long session: what is typed before some of the banks, and the work on each."""
    text = (files("reverie.apps.demo") / "migration.md").read_text(encoding="utf-8")
    typed: dict[int, str] = {}
    for part in text.split("@@ before ")[1:]:
        before, _, words = part.partition("\n")
        typed[int(before)] = words.strip()
    turns: list[ScriptedTurn] = []
    for number, bank in enumerate(BANKS, 1):
        turn = ScriptedTurn(typed.get(number) or f"Next: {bank.name}.", minutes=4 if number % 6 else 9)
        turn.actions += _move_bank(bank, project)
        if number == len(BANKS):
            turn.actions[-1] = ScriptAction(text="All banks read through `reader.py` now. The release note follows.")
        turns.append(turn)
    return turns


def _move_bank(bank: Bank, project: Path) -> list[ScriptAction]:
    """What the model does for one bank: read, replace, check; where its guess was wrong, look at a row and correct."""
    path, check = str(project / bank.path), {"command": f"python3 tools/check.py {bank.slug}"}
    guess, right = bank.new_reader(usual=True), bank.new_reader()
    edit = {"file_path": path, "old_string": bank.old_reader, "new_string": guess}
    actions = [
        ScriptAction(text=f"{bank.name} is next.", tool_calls=(ToolCall("Read", {"file_path": path}),)),
        ScriptAction(tool_calls=(ToolCall("Edit", edit),)),
        ScriptAction(tool_calls=(ToolCall("Bash", check),)),
    ]
    if not bank.is_usual:
        sample = {"file_path": str(project / "samples" / f"{bank.slug}.csv")}
        correct = {"file_path": path, "old_string": guess, "new_string": right}
        actions += [
            ScriptAction(text="The check fails; I look at a row.", tool_calls=(ToolCall("Read", sample),)),
            ScriptAction(tool_calls=(ToolCall("Edit", correct),)),
            ScriptAction(tool_calls=(ToolCall("Bash", check),)),
        ]
    return [*actions, ScriptAction(text=f"{bank.name} reads through the one reader now; its sample is as expected.")]

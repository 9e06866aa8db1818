"""Files of skills for tests."""

from __future__ import annotations

from pathlib import Path

from reverie.extensions.skills.skill import Skill, read_skill


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def skill_in(folder: Path, name: str, *, head: str = "", body: str = "Do it.\n") -> Path:
    return write(folder / "skills" / name / "SKILL.md", f"---\n{head}\n---\n{body}" if head else body)


def made(
    folder: Path, head: str = "", body: str = "Do it.\n", *, source: str = "user", is_command: bool = False
) -> Skill:
    path = skill_in(folder, "made", head=head, body=body)
    if is_command:
        path = write(folder / "commands" / "made.md", path.read_text(encoding="utf-8"))
    skill, problem = read_skill(path, source=source, is_command=is_command)
    assert skill is not None, problem
    return skill

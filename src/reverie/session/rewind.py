"""Going back in a session: the conversation, the files that its tools changed, or both.

Memories are files that belong to the store: what tools write there is noted after the fact, and put back by a commit.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reverie.memory.memory import Memory
from reverie.memory.store.tracked import is_topic_path
from reverie.session.file_history import FileHistory, Return

RESTORED_KIND = "files_restored"


def put_back(files: FileHistory, returns: Iterable[Return], memory: Memory, session: str) -> tuple[Path, ...]:
    """Bring files back, memories through their store; the paths of those that were brought back."""

    def write(path: Path, content: bytes | None) -> bool:
        found = memory.holding(path)
        if found is None:
            return False
        owner, name = found
        if is_topic_path(name):
            text = content.decode("utf-8", "replace") if content is not None else None
            owner.store.write_files({name: text}, author="user", reason="rewind", session=session)
        # The index and whatever else lies there follows the topics.
        return True

    return files.put_back(returns, write)


def restored_words(paths: Iterable[Path]) -> str:
    """What the model is told when files went back and the conversation did not."""
    names = "\n".join(f"- {path}" for path in paths)
    return f"The user brought these files back to an earlier state; read them again before you rely on them:\n{names}"

from __future__ import annotations

import re
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from reverie.patterns import lazy_regex
from tests.requirements import requirement


@requirement("patterns:lazy")
@given(st.text(alphabet="aAbB 1", max_size=12))
def test_a_lazy_expression_does_what_the_compiled_one_does(text: str) -> None:
    given = (r"(a)(b+)?", re.IGNORECASE)
    lazy, compiled = lazy_regex(*given), re.compile(*given)

    assert [each.span() for each in lazy.finditer(text)] == [each.span() for each in compiled.finditer(text)]
    assert lazy.sub(r"<\1>", text) == compiled.sub(r"<\1>", text)
    assert (lazy.search(text) is None, lazy.split(text)) == (compiled.search(text) is None, compiled.split(text))
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)


@requirement("patterns:lazy")
def test_what_a_session_imports_compiles_none_of_the_rules_of_extraction() -> None:
    code = (
        "import re, sys\n"
        "compiled = []\n"
        "usual = re.compile\n"
        "def noted(*given, **named):\n"
        "    compiled.append(sys._getframe(1).f_globals['__name__'])\n"
        "    return usual(*given, **named)\n"
        "re.compile = noted\n"
        "import reverie.session.session, reverie.memory.extraction.nothing_here\n"
        "print(*compiled)"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    by = ran.stdout.split()
    assert "reverie.patterns" not in by
    assert not [name for name in by if name.startswith(("reverie.memory.extraction", "reverie.context.facts"))]

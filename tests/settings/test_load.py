from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.errors import UserMistake
from reverie.files.places import Places
from reverie.files.trust import write_answers
from reverie.memory.memory import Memory
from reverie.settings import Settings
from reverie.settings.features import find_off_reason
from reverie.settings.load import Configuration, SettingsFlags, git_tracks, load, parts_of_settings
from reverie.settings.schema import Form, Key, keys
from tests.requirements import requirement


class Machine:
    """A home, a project and an administrator's directory under one folder."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "work" / "project"
        self.managed = root / "etc"
        self.user = self.home / ".reverie" / "settings.toml"
        self.committed = self.project / ".reverie" / "settings.toml"
        self.local = self.project / ".reverie" / "settings.local.toml"
        for folder in (self.home, self.project / ".git", self.managed):
            folder.mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")

    def write(self, path: Path, text: str | bytes | Mapping[str, object]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(text) if isinstance(text, Mapping) else text
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def load(
        self,
        flags: SettingsFlags = SettingsFlags(),  # noqa: B008
        *,
        environ: Mapping[str, str] | None = None,
        directory: Path | None = None,
        is_tracked: Callable[[Path], bool] = lambda _: False,
        trusted: bool | None = None,
    ) -> Configuration:
        return load(
            flags,
            environ=environ or {},
            user_home=self.home,
            directory=directory or self.project,
            managed=self.managed,
            is_tracked=is_tracked,
            trusted=trusted,
        )

    def mistakes(self, flags: SettingsFlags = SettingsFlags(), **environ: str) -> list[str]:  # noqa: B008
        with pytest.raises(UserMistake) as caught:
            self.load(flags, environ=environ)
        return str(caught.value).splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@requirement("settings:load:cheap")
def test_without_any_source_the_defaults_stand(machine: Machine) -> None:
    found = machine.load()
    assert found.settings == Settings()
    assert (found.origins, found.cautions) == ({}, ())
    assert found.home == machine.home / ".reverie"
    assert found.config_home == machine.home / ".claude"
    assert found.project == machine.project


@requirement("settings:load:cheap")
def test_without_any_source_nothing_is_parsed(machine: Machine) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from reverie.settings.load import SettingsFlags, load\nfrom reverie.settings import schema\n"
        "here = Path(sys.argv[1])\n"
        "environ = {'PATH': '/bin', 'CLAUDECODE': '1'}\n"
        "load(SettingsFlags(), environ=environ, user_home=here, directory=here, managed=here)\n"
        "heavy = {'tomllib', 'difflib', 'click', 'rich', 'msgspec', 'yaml'} & set(sys.modules)\n"
        "print(sorted(heavy), schema.keys.cache_info().currsize)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(machine.home)], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.strip() == "[] 0"


@requirement("settings:precedence:highest-wins")
def test_each_source_is_read_and_the_highest_wins(machine: Machine) -> None:
    steps: list[tuple[Path | None, int]] = [
        (machine.home / ".claude" / "settings.json", 101),
        (machine.user, 102),
        (machine.project / ".claude" / "settings.json", 103),
        (machine.committed, 104),
        (machine.project / ".claude" / "settings.local.json", 105),
        (machine.local, 106),
        (None, 107),
        (None, 108),
        (machine.managed / "settings.toml", 109),
    ]
    flags = SettingsFlags()
    environ: dict[str, str] = {}
    for path, value in steps:
        if path is None and not environ:
            environ = {"REVERIE_AUTO_COMPACT_WINDOW": str(value)}
        elif path is None:
            flags = SettingsFlags(assignments=(f"compaction.auto_window_tokens={value}",))
        elif path.suffix == ".json":
            machine.write(path, {"autoCompactWindow": value, "unknownKey": {"x": 1}})
        else:
            machine.write(path, f"\n[compaction]\nauto_window_tokens = {value}\n")
        assert machine.load(flags, environ=environ).settings.compaction.auto_window_tokens == value
    places = [origin.place for origin in machine.load(flags, environ=environ).origins["compaction.auto_window_tokens"]]
    assert places == [
        f"{machine.home}/.claude/settings.json:1",
        f"{machine.user}:3",
        f"{machine.project}/.claude/settings.json:1",
        f"{machine.committed}:3",
        f"{machine.project}/.claude/settings.local.json:1",
        f"{machine.local}:3",
        "REVERIE_AUTO_COMPACT_WINDOW",
        "--set",
        f"{machine.managed}/settings.toml:3",
    ]


@requirement("settings:managed:parts")
def test_managed_parts_follow_in_the_order_of_their_names(machine: Machine) -> None:
    machine.write(machine.managed / "settings.toml", "recall.max_files = 1")
    for name, value in (("20-b.toml", 3), ("10-a.toml", 2), (".30-hidden.toml", 9), ("40-not-toml.txt", 9)):
        machine.write(machine.managed / "settings.d" / name, f"recall.max_files = {value}")
    found = machine.load(SettingsFlags(assignments=("recall.max_files=4",)))
    assert found.settings.recall.max_files == 3
    assert found.origins["recall.max_files"][-1].place == f"{machine.managed}/settings.d/20-b.toml:1"


def values_of(key: Key) -> st.SearchStrategy[object]:
    low, high = key.range
    one: st.SearchStrategy[object]
    if key.choices:
        one = st.sampled_from(key.choices)
    elif key.base is bool:
        one = st.booleans()
    elif key.base is int:
        one = st.integers(int(low or 0), int(high or 10**9))
    elif key.base is float:
        one = st.floats(low or 0, high or 1e6, allow_nan=False)
    else:
        one = st.text("abc/_", min_size=1) if key.pattern is None else st.just("A_KEY")
    return st.lists(one, max_size=3, unique=True) if key.form is Form.LIST else one


@st.composite
def valued_keys(draw: st.DrawFn) -> tuple[Key, object]:
    key = draw(st.sampled_from([key for key in keys().values() if key.variable]))
    return key, draw(values_of(key))


@requirement("settings:values:same-everywhere")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(valued_keys())
def test_a_value_means_the_same_wherever_it_is_written(machine: Machine, valued: tuple[Key, object]) -> None:
    key, value = valued
    assert key.variable
    text = value if isinstance(value, str) else json.dumps(value)
    nested: object = value
    for name in reversed(key.path):
        nested = {name: nested}
    ways: dict[str, Callable[[], Configuration]] = {
        "variable": lambda: machine.load(environ={key.variable or "": text}),
        "flag": lambda: machine.load(SettingsFlags(assignments=(f"{key.name}={text}",))),
        "json": lambda: machine.load(SettingsFlags(settings=(json.dumps(nested),))),
        "toml": lambda: machine.load(
            SettingsFlags(settings=(str(machine.write(machine.home / "x.toml", f"{key.name} = {json.dumps(value)}")),))
        ),
    }
    found: dict[str, Settings | str] = {}
    for way, read in ways.items():
        try:
            found[way] = read().settings
        except UserMistake as mistake:
            # A pair of levels in the wrong order is one everywhere.
            found[way] = str(mistake).partition(": ")[2]
    assert len(set(found.values())) == 1, found


@requirement("settings:mistakes:place", "settings:mistakes:all", "settings:mistakes:suggestion")
def test_every_mistake_of_every_file_is_named_with_its_line(machine: Machine) -> None:
    machine.write(
        machine.user,
        "[recall]\nmax_files = 'many'\n'max_fils' = 3\n\n[models.local]\nbase_url = 'u'\nprovider = \"x\"\n"
        "spill = { result_chars = 0 }\n",
    )
    machine.write(machine.committed, "recall.max_files = -1\n")
    assert machine.mistakes(SettingsFlags(assignments=("ui.colour=never", "nonsense"))) == [
        "--set: unknown setting `ui.colour`; did you mean `ui.color`?",
        "--set nonsense: expected KEY=VALUE",
        f"{machine.user}:3: unknown setting `recall.max_fils`; did you mean `recall.max_files`?",
        f"{machine.user}:8: unknown setting `models.local.spill`; run `reverie settings` for a list",
        f"{machine.user}:2: `recall.max_files` takes a whole number of at least 0, not the text 'many'",
        f"{machine.user}:7: `models.local.provider` takes one of `anthropic`, `openai`, `offline`, not the text 'x'",
        f"{machine.committed}:1: `recall.max_files` takes a whole number of at least 0, not -1",
    ]


@requirement("settings:mistakes:place")
def test_a_wrong_variable_is_named(machine: Machine) -> None:
    assert machine.mistakes(REVERIE_DREAM_MIN_HOURS="soon") == [
        "REVERIE_DREAM_MIN_HOURS: `dream.min_hours` takes a number of at least 0, not the text 'soon'"
    ]


@requirement("settings:mistakes:files")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\n[b\n", ":2: not valid TOML: "),
        ("a = ", ":1: not valid TOML: "),
        (b"# ok\na = '\xff'\n", ":2: not valid UTF-8"),
        ("a = " + "[" * 5_000, ": nested too deeply"),
        ("a = 1" + "0" * 5_000, ":1: not valid TOML: Exceeds the limit"),
        ("#" * (2 * 1024 * 1024 + 1), ": not a regular file of at most 2,097,152 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(machine: Machine, text: str | bytes, words: str) -> None:
    machine.write(machine.user, text)
    (line,) = machine.mistakes()
    assert line.startswith(f"{machine.user}{words}")


@requirement("settings:mistakes:files")
def test_a_special_file_is_refused_without_waiting_for_it(machine: Machine) -> None:
    machine.committed.parent.mkdir()
    os.mkfifo(machine.committed)
    (line,) = machine.mistakes()
    assert line.startswith(f"{machine.committed}: not a regular file")


@requirement("settings:mistakes:files")
def test_broken_json_of_the_host_agent_is_named_with_its_line(machine: Machine) -> None:
    path = machine.write(machine.home / ".claude" / "settings.json", '{\n  "hooks": {},\n  7}')
    (line,) = machine.mistakes()
    assert line.startswith(f"{path}:3: not valid JSON")
    machine.write(path, "[]")
    assert machine.mistakes() == [f'{path}: expected a JSON object, such as `{{"key": value}}`']


@requirement("settings:mistakes:files")
def test_what_a_flag_names_must_exist(machine: Machine) -> None:
    assert machine.mistakes(SettingsFlags(settings=("none.toml",), project=Path("nowhere"))) == [
        f"--settings: {machine.project}/none.toml does not exist",
        f"--project: {machine.project}/nowhere is not a directory",
    ]


@requirement("settings:mistakes:files")
def test_a_byte_order_mark_and_windows_line_ends_are_read(machine: Machine) -> None:
    machine.write(machine.user, b"\xef\xbb\xbf[recall]\r\nmax_files = 3\r\n")
    found = machine.load()
    assert found.settings.recall.max_files == 3
    assert found.origins["recall.max_files"][0].place == f"{machine.user}:2"


@requirement("settings:precedence:highest-wins")
def test_flags_are_read_from_files_and_from_themselves(machine: Machine) -> None:
    machine.write(machine.project / "a.toml", "recall.max_files = 1\nrecall.min_words = 1\nindex.max_lines = 1\n")
    machine.write(machine.project / "b.json", {"recall": {"min_words": 2, "max_files": 2}})
    flags = SettingsFlags(
        settings=("a.toml", "b.json", ' {"recall": {"max_files": 3}}'), assignments=("index.max_lines=9",)
    )
    found = machine.load(flags)
    assert (found.settings.recall.max_files, found.settings.recall.min_words) == (3, 2)
    assert found.settings.index.max_lines == 9
    assert [origin.place for origin in found.origins["recall.max_files"]] == [
        f"{machine.project}/a.toml:1",
        f"{machine.project}/b.json:1",
        "--settings",
    ]


def memory_directory(found: Configuration) -> Path:
    """Where a command with this configuration works."""
    places = Places.at(found.home, found.config_home)
    return Memory.at(places, found.settings, found.project).directory


@requirement("places:memory-directory:order")
def test_the_memory_directory_is_the_first_valid_one_of_environment_administrator_flag_local_and_user(
    machine: Machine,
) -> None:
    def named(who: str) -> str:
        return f"memory.directory = '/memory/of/{who}'\n"

    flags = SettingsFlags(assignments=("memory.directory=/memory/of/flag",))
    environ = {"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "/memory/of/environment"}
    machine.write(machine.user, named("user"))
    machine.write(machine.committed, named("project"))
    machine.write(machine.local, named("local"))
    machine.write(machine.managed / "settings.toml", named("managed"))
    seen = [memory_directory(machine.load(flags, environ=environ, trusted=True)).name]
    seen += [memory_directory(machine.load(flags, trusted=True)).name]
    (machine.managed / "settings.toml").unlink()
    seen += [memory_directory(machine.load(flags, trusted=True)).name]
    seen += [memory_directory(machine.load(trusted=True)).name]
    seen += [memory_directory(machine.load(trusted=False)).name]
    machine.user.unlink()
    seen += [memory_directory(machine.load(trusted=False)).name]
    assert seen == ["environment", "managed", "flag", "local", "user", "memory"]


@requirement("places:memory-directory:order")
def test_a_directory_that_cannot_hold_memories_is_passed_over_in_a_file_and_a_mistake_in_a_flag(
    machine: Machine,
) -> None:
    machine.write(machine.user, "memory.directory = '/'\n")
    machine.write(machine.home / ".claude" / "settings.json", {"autoMemoryDirectory": "/data/memory"})
    found = machine.load()
    assert memory_directory(found) == Path("/data/memory")
    (caution,) = map(str, found.cautions)
    assert caution.startswith(f"{machine.user}:1: `memory.directory` is ignored: '/' is too close to the root; name")
    relative = "'notes' is relative; use an absolute path or start with ~/"
    flags = SettingsFlags(assignments=("memory.directory=notes",))
    assert machine.mistakes(flags, CLAUDE_COWORK_MEMORY_PATH_OVERRIDE="notes") == [
        f"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE: `memory.path_override`: {relative}",
        f"--set: `memory.directory`: {relative}",
    ]


@requirement("settings:guards:committed", "places:memory-directory:repository-has-no-say")
def test_a_project_file_cannot_send_memory_or_keys_elsewhere(machine: Machine) -> None:
    machine.write(
        machine.committed,
        "memory.directory = '/home/me/.ssh'\nrecall.max_files = 3\n[models.claude-sonnet-5]\nbase_url = 'http://e'\n",
    )
    machine.write(machine.project / ".claude" / "settings.json", {"autoMemoryDirectory": "/home/me/.ssh"})
    found = machine.load()
    assert found.settings.memory.directory is None
    assert found.settings.models == ()
    assert found.settings.recall.max_files == 3
    assert [(caution.key, caution.place) for caution in found.cautions] == [
        ("memory.directory", f"{machine.project}/.claude/settings.json:1"),
        ("memory.directory", f"{machine.committed}:1"),
        ("models.claude-sonnet-5.base_url", f"{machine.committed}:4"),
    ]


@requirement("settings:guards:tracked-local", "settings:guards:local", "places:memory-directory:repository-has-no-say")
def test_a_local_file_counts_as_the_users_own_once_agreed_to_unless_git_holds_it(machine: Machine) -> None:
    machine.write(machine.local, "memory.directory = '/data/memory'\nrecall.max_files = 3\n")
    before = machine.load()
    assert (before.settings.memory.directory, before.settings.recall.max_files) == (None, 3)
    assert [(caution.place, caution.waits_for_trust) for caution in before.cautions] == [(f"{machine.local}:1", True)]

    store = machine.home / ".reverie" / "trust.json"
    parts = parts_of_settings(machine.load(trusted=True).origins)
    write_answers(store, machine.project, parts, accepted=True, now=datetime(2026, 1, 1, tzinfo=UTC))
    assert machine.load().settings.memory.directory == "/data/memory"
    tracked = machine.load(is_tracked=lambda path: path == machine.local)
    assert tracked.settings.memory.directory is None
    assert not tracked.cautions[0].waits_for_trust
    machine.write(machine.local, "memory.directory = '/data/other'\n")
    assert machine.load().settings.memory.directory is None, "another value is another question"


@requirement("settings:guards:tracked-local")
def test_git_is_asked_whether_it_tracks_a_file(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True, timeout=30)

    local = tmp_path / ".reverie" / "settings.local.toml"
    local.parent.mkdir()
    local.write_text("", encoding="utf-8")
    assert not git_tracks(local)
    git("init", "-q")
    assert not git_tracks(local)
    git("add", "-f", str(local))
    assert git_tracks(local)
    assert git_tracks(local.with_name("Settings.Local.TOML"))
    (tmp_path / ".git" / "index").write_bytes(b"broken")
    assert git_tracks(local), "where git cannot answer, the file is not believed"


@requirement("settings:guards:trust", "settings:precedence:declarations", "settings:vendor:files")
def test_blocks_of_the_host_agents_files_are_honoured(machine: Machine) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    machine.write(
        machine.home / ".claude" / "settings.json",
        {
            "hooks": hooks,
            "permissions": {"allow": ["Read"], "deny": ["Bash(rm *)"], "defaultMode": "plan", "other": 1},
            "autoCompactEnabled": False,
            "cleanupPeriodDays": 20,
            "claudeMdExcludes": ["**/a.md"],
            "model": "opus",
            "env": {"A": "1"},
        },
    )
    machine.write(
        machine.project / ".claude" / "settings.json",
        {
            "hooks": hooks,
            "agents": {"reviewer": {"description": "d", "prompt": "p"}},
            "permissions": {"allow": ["Bash"], "deny": ["Write"], "additionalDirectories": ["/"]},
            "claudeMdExcludes": ["**/b.md"],
            "autoMemoryEnabled": False,
            "disableAllHooks": True,
        },
    )
    found = machine.load()
    made = found.settings
    assert [(hook.source, hook.committed) for hook in made.hooks] == [("user", False)]
    assert json.loads(made.hooks[0].text) == hooks
    assert made.agents == ()
    assert (made.permissions.mode, made.permissions.allow) == ("plan", ("Read",))
    assert made.permissions.deny == ("Bash(rm *)", "Write")
    assert (made.compaction.auto, made.retention.transcript_days) == (False, 20)
    assert made.instructions.excludes == ("**/a.md", "**/b.md")
    assert find_off_reason(made)
    assert made.hook.enabled, "a project may not turn the user's hooks off"
    assert {caution.key for caution in found.cautions} == {
        "permissions.allow",
        "permissions.additional_directories",
        "hook.enabled",
        "hooks",
        "agents",
    }
    assert {caution.key for caution in found.cautions if not caution.waits_for_trust} == {"hook.enabled"}
    trusted = machine.load(trusted=True).settings
    assert trusted.permissions.allow == ("Read", "Bash")
    assert [(hook.source, hook.committed) for hook in trusted.hooks] == [("user", False), ("project", True)]
    assert [agent.source for agent in trusted.agents] == ["project"]


@requirement("settings:precedence:declarations")
def test_hooks_are_written_in_toml_too(machine: Machine) -> None:
    machine.write(
        machine.user,
        "recall.max_files = 3\n[[hooks.PreToolUse]]\nmatcher = 'Bash'\nhooks = [{ type = 'command', command = 'x' }]\n",
    )
    (declared,) = machine.load().settings.hooks
    assert json.loads(declared.text) == {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]
    }
    assert declared.place == f"{machine.user}:2"
    machine.write(machine.user, "hooks.Stop = 2026-01-01\n")
    (line,) = machine.mistakes()
    assert line.startswith(f"{machine.user}:1: `hooks` takes a table of texts, numbers, lists and tables")


@requirement("settings:vendor:files")
def test_how_the_agent_writes_and_the_status_line_are_the_users_word(machine: Machine) -> None:
    said = {"outputStyle": "Teacher", "language": "français", "statusLine": {"type": "command", "command": "line.sh"}}
    machine.write(machine.project / ".claude" / "settings.json", {**said, "outputStyle": "Theirs"})
    made = machine.load()
    assert (made.settings.output_style, made.settings.status_line.command) == (None, None)
    assert made.settings.language == "français"
    waits = {caution.key: caution.waits_for_trust for caution in made.cautions}
    assert waits == {"output_style": True, "status_line.command": False}
    assert machine.load(trusted=True).settings.output_style == "Theirs"
    machine.write(machine.home / ".claude" / "settings.json", said)
    mine = machine.load().settings
    assert (mine.output_style, mine.status_line.command) == ("Teacher", "line.sh")
    assert machine.mistakes(REVERIE_LANGUAGE="English.\n# Obey") == [
        "REVERIE_LANGUAGE: `language` takes the name of a language, at most 40 characters"
    ]


@requirement("settings:vendor:managed")
def test_the_host_agents_managed_files_count_below_ours_and_above_all_others(machine: Machine) -> None:
    machine.write(machine.managed / "managed-settings.json", {"claudeMd": "Ours.", "permissions": {"deny": ["Write"]}})
    machine.write(machine.managed / "managed-settings.d" / "10.json", {"claudeMd": "Of the house."})
    machine.write(machine.managed / "managed-settings.d" / ".20.json", {"claudeMd": "Hidden."})
    machine.write(machine.home / ".claude" / "settings.json", {"claudeMd": "Mine.", "permissions": {"deny": ["Read"]}})
    found = machine.load()
    assert found.settings.instructions.managed_text == "Of the house."
    assert found.settings.permissions.deny == ("Read", "Write")
    assert [caution.key for caution in found.cautions] == ["instructions.managed_text"]
    machine.write(machine.managed / "settings.toml", 'instructions.managed_text = "The last word."')
    assert machine.load().settings.instructions.managed_text == "The last word."


@requirement("settings:vendor:files")
def test_a_wrong_type_in_the_host_agents_file_is_named(machine: Machine) -> None:
    path = machine.write(machine.project / ".claude" / "settings.local.json", '{\n"cleanupPeriodDays": 0\n}')
    assert machine.mistakes() == [f"{path}:2: `retention.transcript_days` takes a whole number of at least 1, not 0"]


@requirement("settings:memory:off-matrix", "settings:environment:vendor")
def test_an_explicit_no_to_disabling_asks_for_memory_against_the_files(machine: Machine) -> None:
    machine.write(machine.user, "memory.enabled = false")
    assert find_off_reason(machine.load().settings)
    for name in ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "REVERIE_DISABLE_AUTO_MEMORY"):
        assert find_off_reason(machine.load(environ={name: "0"}).settings) is None
        assert find_off_reason(machine.load(SettingsFlags(bare=True), environ={name: "0"}).settings)


@requirement("settings:memory:off-matrix", "settings:guards:process")
def test_bare_is_simple_mode(machine: Machine) -> None:
    found = machine.load(SettingsFlags(bare=True))
    assert found.settings.simple_mode
    assert found.origins["simple_mode"][0].place == "--bare"


@requirement("settings:models:two-lines")
def test_a_server_of_ones_own_is_two_lines(machine: Machine) -> None:
    machine.write(machine.user, 'model.default = "local"\nmodels.local.base_url = "http://127.0.0.1:11434/v1"\n')
    made = machine.load().settings
    profile = made.profile(made.model.default or "")
    assert profile is not None
    assert (profile.provider, profile.base_url, profile.key_env) == ("openai", "http://127.0.0.1:11434/v1", None)


@requirement("settings:models:two-lines")
def test_a_profile_may_have_dots_in_its_name(machine: Machine) -> None:
    machine.write(machine.user, '[models."qwen2.5-coder"]\nwindow_tokens = 32768\nabilities = ["images"]\n')
    found = machine.load(SettingsFlags(assignments=('models."qwen2.5-coder".max_output_tokens=4096',)))
    profile = found.settings.profile("qwen2.5-coder")
    assert profile is not None
    assert (profile.window_tokens, profile.max_output_tokens, profile.abilities) == (32_768, 4_096, ("images",))
    assert 'models."qwen2.5-coder".window_tokens' in found.origins


@requirement("settings:guards:process")
def test_the_homes_move_with_their_variables(machine: Machine) -> None:
    environ = {"REVERIE_HOME": "~/elsewhere", "CLAUDE_CONFIG_DIR": "relative"}
    machine.write(machine.home / "elsewhere" / "settings.toml", "recall.max_files = 3")
    machine.write(machine.project / "relative" / "settings.json", {"cleanupPeriodDays": 7})
    found = machine.load(environ=environ)
    assert (found.home, found.config_home) == (machine.home / "elsewhere", machine.project / "relative")
    assert (found.settings.recall.max_files, found.settings.retention.transcript_days) == (3, 7)
    moved = machine.load(SettingsFlags(assignments=("home=/nowhere",)), environ=environ)
    assert moved.home == Path("/nowhere")
    assert moved.settings.recall.max_files == 5


@requirement("settings:home:own-directory")
def test_in_the_home_directory_the_users_files_are_not_a_projects(machine: Machine) -> None:
    machine.write(machine.user, "memory.directory = '/data/memory'\n")
    machine.write(machine.home / ".claude" / "settings.json", {"permissions": {"allow": ["Read"]}})
    found = machine.load(directory=machine.home)
    assert found.project == machine.home
    assert found.settings.memory.directory == "/data/memory"
    assert found.settings.permissions.allow == ("Read",)
    assert found.cautions == ()


@requirement("settings:home:own-directory")
def test_the_project_is_the_repository_around_the_directory(machine: Machine) -> None:
    deep = machine.project / "src" / "deep"
    deep.mkdir(parents=True)
    machine.write(machine.committed, "recall.max_files = 3")
    assert machine.load(directory=deep).settings.recall.max_files == 3
    assert machine.load(SettingsFlags(project=Path("src")), directory=machine.project).project == machine.project
    outside = machine.load(directory=machine.managed)
    assert (outside.project, outside.settings.recall.max_files) == (machine.managed, 5)


@requirement("settings:secrets:never-shown")
def test_keys_are_asked_for_by_the_name_of_their_variable(machine: Machine) -> None:
    key = "-".join(["a", "secret", "key"])
    found = machine.load(environ={"MY_KEY": key, "EMPTY": ""})
    assert found.secrets.get("MY_KEY") == key
    assert found.secrets.get("EMPTY") is None
    assert found.secrets.get("ABSENT") is None
    assert key not in repr(found)


@requirement("settings:mistakes:suggestion")
def test_a_misspelt_variable_is_a_caution(machine: Machine) -> None:
    environ = {"REVERIE_RECAL_ENABLED": "0"}
    (caution,) = machine.load(environ=environ).cautions
    assert str(caution) == "environment: REVERIE_RECAL_ENABLED is not a setting; did you mean REVERIE_RECALL_ENABLED?"

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.permissions.decide import PermissionVerdict, decide
from reverie.permissions.need import Act, Need
from reverie.permissions.policy import Mode, Policy
from reverie.permissions.rule import RuleKind
from tests.permissions.table import make_project, run
from tests.requirements import requirement

ALLOW, ASK, DENY = PermissionVerdict.ALLOW, PermissionVerdict.ASK, PermissionVerdict.DENY


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


@pytest.fixture
def policy(project: Path) -> Policy:
    return Policy(project=project, home=project.parent / "home", roots=(project,), plan_file=project / "plan.md")


def edit(path: Path) -> Need:
    return Need("Edit", Act.EDIT, paths=(path,))


def look(path: Path, tool: str = "Read") -> Need:
    return Need(tool, Act.READ, paths=(path,))


@requirement("permissions:modes")
@pytest.mark.parametrize(
    ("mode", "reading", "writing", "plan", "command", "protected", "outside"),
    [
        (Mode.DEFAULT, ALLOW, ASK, ASK, ASK, ASK, ASK),
        (Mode.ACCEPT_EDITS, ALLOW, ALLOW, ALLOW, ASK, ASK, ASK),
        (Mode.AUTO, ALLOW, ALLOW, ALLOW, ASK, ASK, ASK),
        (Mode.PLAN, ALLOW, DENY, ALLOW, DENY, DENY, DENY),
        (Mode.DONT_ASK, ALLOW, DENY, DENY, DENY, DENY, DENY),
        (Mode.BYPASS, ALLOW, ALLOW, ALLOW, ALLOW, ALLOW, ALLOW),
    ],
)
def test_each_mode_settles_questions_in_its_way(
    policy: Policy,
    project: Path,
    mode: Mode,
    reading: PermissionVerdict,
    writing: PermissionVerdict,
    plan: PermissionVerdict,
    command: PermissionVerdict,
    protected: PermissionVerdict,
    outside: PermissionVerdict,
) -> None:
    now = policy.with_mode(mode)
    assert decide(look(project / "src/app.py"), now).verdict is reading
    assert decide(run("ls src", project), now).verdict is reading
    assert decide(edit(project / "src/app.py"), now).verdict is writing
    assert decide(edit(project / "plan.md"), now).verdict is plan
    assert decide(run("make", project), now).verdict is command
    assert decide(edit(project / ".git/config"), now).verdict is protected
    assert decide(edit(project.parent / "other/x"), now).verdict is outside


@requirement("permissions:modes")
def test_every_mode_keeps_deny_and_ask_rules(policy: Policy, project: Path) -> None:
    strict = policy.with_rule("Bash(ls:*)", RuleKind.DENY).with_rule("Edit(src/**)", RuleKind.ASK)
    for mode in Mode:
        now = strict.with_mode(mode)
        assert decide(run("pwd && ls", project), now).verdict is DENY
        expected = DENY if mode is Mode.DONT_ASK else ASK
        assert decide(edit(project / "src/app.py"), now).verdict is expected


@requirement("permissions:modes")
def test_plan_mode_says_where_the_plan_goes(policy: Policy, project: Path) -> None:
    now = policy.with_mode("plan").with_rule("Bash(make:*)").with_rule("Edit")
    for need in (edit(project / "src/app.py"), run("make", project), run("ls > x", project), run("ls 'x", project)):
        decision = decide(need, now)
        assert decision.verdict is DENY
        assert str(policy.plan_file) in decision.reason
    (project / "link.md").symlink_to(project / "plan.md")
    assert decide(edit(project / "link.md"), now).verdict is ALLOW
    assert decide(Need("Edit", Act.EDIT, paths=(project / "plan.md", project / "x")), now).verdict is DENY


@requirement("permissions:rules:order")
def test_deny_goes_before_ask_and_ask_before_allow(policy: Policy, project: Path) -> None:
    need = edit(project / "src/app.py")
    allowed = policy.with_rule("Edit(src/**)")
    asked = allowed.with_rule("Edit(src/*.py)", RuleKind.ASK)
    denied = asked.with_rule("Edit(src/app.py)", RuleKind.DENY)
    assert [decide(need, each).verdict for each in (policy, allowed, asked, denied)] == [ASK, ALLOW, ASK, DENY]
    assert decide(need, denied).rule == "Edit(src/app.py) (session)"


@requirement("permissions:files:roots")
def test_links_do_not_lead_out_of_the_roots(policy: Policy, project: Path) -> None:
    accepting = policy.with_mode(Mode.ACCEPT_EDITS)
    outside = project.parent / "other"
    (project / "file-link").symlink_to(outside / "passwd")
    (project / "dangling").symlink_to(outside / "not-yet")
    for name in ("out/passwd", "out/new", "out/new/deep/file", "file-link", "dangling", "src/../../other/x", "out"):
        assert decide(look(project / name), accepting).verdict is ASK, name
        decision = decide(edit(project / name), accepting)
        assert decision.verdict is ASK, name
        assert str(outside) in decision.reason
    for name in ("new", "src/new/deep/file", "src/../new", "loop"):
        assert decide(edit(project / name), accepting).verdict is ALLOW, name


@requirement("permissions:files:roots")
def test_a_project_reached_through_a_link_is_still_the_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    policy = Policy(tmp_path / "link", tmp_path, roots=(tmp_path / "link",), mode=Mode.ACCEPT_EDITS)
    assert decide(edit(tmp_path / "real/x"), policy).verdict is ALLOW
    assert decide(edit(tmp_path / "link/x"), policy).verdict is ALLOW
    assert decide(edit(tmp_path / "x"), policy).verdict is ASK


@requirement("permissions:files:roots")
def test_impossible_paths_are_not_inside(policy: Policy, project: Path) -> None:
    (project / "loop").symlink_to(project / "loop")
    for name in ("a\0b", "a\ud800b"):
        assert decide(look(project / name), policy).verdict is ASK


@requirement("permissions:files:roots")
def test_outside_only_a_rule_with_a_path_counts(policy: Policy, project: Path) -> None:
    other = project.parent / "other"
    assert decide(edit(other / "x"), policy.with_rule("Edit")).verdict is ASK
    assert decide(edit(project / "x"), policy.with_rule("Edit")).verdict is ALLOW
    assert decide(edit(other / "x"), policy.with_rule(f"Edit(/{other}/**)")).verdict is ALLOW
    assert decide(look(other / "x"), policy.with_rule("Read")).verdict is ASK
    assert decide(look(other / "x"), policy.with_rule(f"Read(/{other}/**)")).verdict is ALLOW
    assert decide(run(f"cat {other}/passwd", project), policy.with_rule(f"Read(/{other}/**)")).verdict is ALLOW


@requirement("permissions:files:protected")
@pytest.mark.parametrize(
    "name",
    [
        *(".git/config", ".git/hooks/pre-commit", ".git", "sub/.git/config", ".GIT/config", ".g\u200cit/config"),
        *(".reverie/settings.toml", ".reverie/settings.local.toml", ".claude/settings.json", ".Claude/Settings.json"),
        *(".claude/settings.local.json", ".mcp.json", ".MCP.json", ".bashrc", ".zshrc", "deep/.zshenv", ".profile"),
        *(".gitconfig", ".gitmodules", ".ssh/authorized_keys", ".envrc", "ｇit/../.git/x", "src/../.git/config"),
    ],
)
def test_files_that_steer_programs_always_ask(policy: Policy, project: Path, name: str) -> None:
    accepting = policy.with_mode(Mode.ACCEPT_EDITS).with_rule("Edit").with_rule("Edit(**)")
    assert decide(edit(project / name), accepting).verdict is ASK
    assert decide(run(f"ls > '{name}'", project), accepting.with_rule("Bash")).verdict is ASK


@requirement("permissions:files:protected")
def test_with_the_home_as_project_the_folders_of_this_program_still_ask(policy: Policy, project: Path) -> None:
    ours, hosts = project / ".reverie", project / ".claude"
    memory = ours / "projects" / "x" / "memory"
    accepting = replace(policy, roots=(project, memory), steering=(ours, hosts)).with_mode(Mode.ACCEPT_EDITS)
    for path in (ours / "trust.json", ours / "mcp.json", hosts / "agents" / "a.md", project / ".claude.json"):
        assert decide(edit(path), accepting).verdict is ASK, path
        assert decide(run(f"ls > '{path}'", project), accepting.with_rule("Bash")).verdict is ASK, path
    for path in (memory / "user_a.md", project / "x.md"):
        assert decide(edit(path), accepting).verdict is ALLOW, path


@requirement("permissions:rules:hidden")
@pytest.mark.parametrize(
    "command",
    [
        *("$(echo rm) x", "`echo rm` x", "/bin/r? x", "/bin/r[m] x", "/bin/r* x", "r{m,} x", "${x:-rm} x", "$X x"),
        *(
            "cat <<E | sh\nrm x\nE",
            "echo 'rm x' | bash",
            "printf 'rm x' | sh -s",
            "base64 -d x | sh",
            "sh <(echo rm x)",
        ),
        *("env $X x", "timeout 5 $X x", "xargs $X", 'eval "$X"', "for c in rm; do $c x; done", "a=r b=m; $a$b x"),
        *("git $(echo push)", "git -C . $X", "sudo -n $X x", "exec $X"),
        *("bash -c '$X x'", 'bash -c "$X"', "eval '$X x'", "bash -lc 'env $X'"),
    ],
)
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.BYPASS])
def test_what_hides_its_program_is_not_allowed_beside_a_rule_that_may_mean_it(
    policy: Policy, project: Path, command: str, mode: Mode
) -> None:
    everything = policy.with_rule("Bash").with_mode(mode)
    assert decide(run(command, project), everything).verdict is ALLOW
    forbidding = everything.with_rule("Bash(rm:*)", RuleKind.DENY).with_rule("Bash(git push:*)", RuleKind.DENY)
    assert decide(run(command, project), forbidding).verdict is not ALLOW
    # Somebody who allowed this very text is not asked again.
    if decide(run(command, project), forbidding).verdict is ASK and "*" not in command:
        assert decide(run(command, project), forbidding.with_rule(f"Bash({command})")).verdict is ALLOW


@pytest.mark.parametrize("command", ['git commit -m "$(date)"', "make $X", "bash build.sh $X", "echo $X | tee y"])
def test_what_names_its_program_is_allowed_beside_such_a_rule(policy: Policy, project: Path, command: str) -> None:
    allowed = (
        policy.with_rule("Bash").with_rule("Bash(rm:*)", RuleKind.DENY).with_rule("Bash(git push:*)", RuleKind.DENY)
    )
    assert decide(run(command, project), allowed).verdict is ALLOW


@requirement("permissions:files:protected")
def test_a_link_to_a_protected_file_is_protected(policy: Policy, project: Path) -> None:
    (project / ".git").mkdir()
    (project / "harmless").symlink_to(project / ".git")
    assert decide(edit(project / "harmless/config"), policy.with_mode(Mode.ACCEPT_EDITS)).verdict is ASK


def test_names_that_only_look_alike_are_not_protected(policy: Policy, project: Path) -> None:
    accepting = policy.with_mode(Mode.ACCEPT_EDITS)
    for name in (
        ".gitignore",
        ".github/workflows/x.yml",
        "git/config",
        ".claude/agents/a.md",
        "mcp.json",
        "settings.json",
    ):
        assert decide(edit(project / name), accepting).verdict is ALLOW, name


@requirement("permissions:rules:compound")
def test_redirections_are_edits(policy: Policy, project: Path) -> None:
    accepting = policy.with_mode(Mode.ACCEPT_EDITS).with_rule("Bash(make:*)")
    assert decide(run("make > log.txt", project), accepting).verdict is ALLOW
    assert decide(run("make > out/log.txt", project), accepting).verdict is ASK
    assert decide(run("make > ~/log.txt", project), accepting).verdict is ASK
    assert decide(run("make > $LOG", project), accepting).verdict is ASK
    assert decide(run("make > log.txt", project), policy.with_rule("Bash(make:*)")).verdict is ASK
    assert decide(run("cd .. && make > log.txt", project), accepting).verdict is ASK
    assert decide(run("ls > files.txt", project), accepting).verdict is ALLOW


@requirement("permissions:rules:compound")
def test_the_very_text_of_a_command_may_be_allowed(policy: Policy, project: Path) -> None:
    command = "make && ./deploy *.tar"
    exact = policy.with_rule("Bash(make && ./deploy \\*.tar)")
    assert decide(run(command, project), exact).verdict is ALLOW
    assert decide(run(command + "; id", project), exact).verdict is ASK
    assert decide(run("make && ./deploy x.tar", project), exact).verdict is ASK


def test_a_shell_that_is_allowed_as_a_whole_may_do_what_is_not_examined(policy: Policy, project: Path) -> None:
    everything = policy.with_rule("Bash")
    assert decide(run("f() { make; }; f", project), everything).verdict is ALLOW
    assert decide(run("cat /etc/hosts > /tmp/x", project), everything).verdict is ALLOW
    assert decide(run("make 'x", project), everything).verdict is ASK


def test_other_tools_ask_until_a_rule_says_more(policy: Policy) -> None:
    tool = Need("mcp__server__tool", Act.OTHER)
    fetch = Need("WebFetch", Act.FETCH, url="https://example.com/a")
    assert decide(Need("TodoWrite", Act.NONE), policy).verdict is ALLOW
    assert decide(Need("Skill", Act.NONE, subject="x"), policy.with_rule("Skill(x)", RuleKind.DENY)).verdict is DENY
    assert [decide(need, policy).verdict for need in (tool, fetch)] == [ASK, ASK]
    assert decide(tool, policy.with_rule("mcp__server")).verdict is ALLOW
    assert decide(fetch, policy.with_rule("WebFetch(domain:example.com)")).verdict is ALLOW
    assert decide(fetch, policy.with_rule("*", RuleKind.DENY)).verdict is DENY


def test_a_refused_folder_is_refused_to_searches_too(policy: Policy, project: Path) -> None:
    strict = policy.with_rule("Read(secrets/**)", RuleKind.DENY)
    assert decide(look(project / "secrets", "Grep"), strict).verdict is DENY
    assert decide(look(project, "Grep"), strict).verdict is ALLOW


def test_an_edit_without_a_file_asks(policy: Policy) -> None:
    assert decide(Need("Edit", Act.EDIT), policy.with_mode(Mode.ACCEPT_EDITS)).verdict is ASK


@requirement("permissions:reasons")
def test_a_refusal_says_by_which_rule_and_a_question_what_to_do(policy: Policy, project: Path) -> None:
    denied = decide(run("make", project), policy.with_rule("Bash(make:*)", RuleKind.DENY, source="settings.toml:3"))
    assert "Bash(make:*) (settings.toml:3)" in denied.reason
    assert "inside them" in decide(look(Path("/etc/passwd")), policy).reason
    assert "make" in decide(run("ls && make", project), policy).reason
    assert "dontAsk" in decide(run("make", project), policy.with_mode("dontAsk")).reason
    assert "simpler" in decide(run("ls 'x", project), policy).reason

"""`reverie serve`: run the team server; its subcommands administer it, on the database itself."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.apps.cli.options import Common, as_json
from reverie.errors import Unavailable, UserMistake
from reverie.values import value

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from reverie.apps.server.database import ServerDatabase
    from reverie.apps.server.identity_provider import IdentityProvider
    from reverie.settings.load import Secrets
    from reverie.settings.tree import ServerSettings

_DAY_SECONDS = 86_400
_ACTOR = "command line"


@value
class ServeTarget:
    """Which database is meant."""

    common: Common
    data: str | None
    database: str | None

    def open(self) -> ServerDatabase:
        """The database: of the flags, of the environment, or SQLite below our home."""
        try:
            from reverie.apps.server.database import open_database, sqlite_url
        except ImportError as problem:
            raise missing_extra(problem) from problem
        if self.data is not None and self.database is not None:
            raise UserMistake("--data and --database name two databases; give one")
        if self.database is not None:
            return open_database(self.database)
        if self.data is not None:
            return open_database(sqlite_url(Path(self.data).expanduser().resolve()))
        configuration = self.common.configuration()
        url = database_url(configuration.settings.server, configuration.secrets)
        return open_database(url or sqlite_url(configuration.home / "server"))

    @contextmanager
    def writing(self, tenant: str | None = None) -> Iterator[tuple[Connection, int]]:
        """A transaction on the database, and the id of a tenant (0 without one)."""
        from reverie.apps.server.accounts import find_tenant
        from reverie.apps.server.database import ALL_TENANTS

        database = self.open()
        try:
            with database.writing(ALL_TENANTS) as connection:
                yield connection, 0 if tenant is None else find_tenant(connection, tenant, _now())
        finally:
            database.close()


def database_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `--data` and `--database`."""
    for option in (
        click.option("--database", metavar="URL", help="PostgreSQL: postgresql://USER:PASSWORD@HOST/NAME."),
        click.option("--data", metavar="DIR", help="Directory of a SQLite database (default: ~/.reverie/server)."),
    ):
        command = option(command)
    return command


tenant_option = click.option(
    "--tenant", default="default", show_default=True, metavar="NAME", help="Organisation that holds the repositories."
)
_repo_option = click.option("--repo", required=True, metavar="REPO", help="Repository, such as owner/name.")


@click.group("serve", invoke_without_command=True)
@click.option("--host", metavar="ADDRESS", help="Address to listen on (default: 127.0.0.1).")
@click.option("--port", type=click.IntRange(0, 65_535), metavar="N", help="Port (default: 8377); 0 takes a free one.")
@database_options
@click.pass_context
def command(ctx: click.Context, host: str | None, port: int | None, data: str | None, database: str | None) -> None:
    """Run the team server until interrupted. The first line printed is its URL.

    It serves plain HTTP on this machine only; put a proxy with TLS in front of it (docs/server.md).

    \b
    Examples:
      reverie serve
      reverie serve token --repo acme/app --scope write
      reverie serve --host 0.0.0.0 --database postgresql://reverie@db/reverie
    """
    ctx.obj = ServeTarget(ctx.obj, data, database)
    if ctx.invoked_subcommand is None:
        ctx.exit(_run_server(ctx.obj, host, port))


def _run_server(target: ServeTarget, host: str | None, port: int | None) -> int:
    try:
        from reverie.apps.server.app import AppOptions, create_app
        from reverie.apps.server.limits import default_limits
        from reverie.apps.server.run import find_port, serve
    except ImportError as problem:
        raise missing_extra(problem) from problem
    settings = target.common.configuration().settings.server
    address, wanted_port = listen_address(settings, host, port)
    number = find_port(address, wanted_port)
    database = target.open()
    try:
        options = AppOptions(database, default_limits(settings), settings.max_body_bytes, build_provider(settings))
        is_interrupted = serve(create_app(options), address, number, _announce)
    finally:
        database.close()
    if is_interrupted:
        raise KeyboardInterrupt
    return 0


def database_url(settings: ServerSettings, secrets: Secrets) -> str | None:
    """The database that the environment names; None: SQLite below our home."""
    return secrets.get(settings.database_env)


def listen_address(settings: ServerSettings, host: str | None, port: int | None) -> tuple[str, int]:
    """The address of the flags, or else of the settings."""
    return settings.host if host is None else host, settings.port if port is None else port


def build_provider(settings: ServerSettings) -> IdentityProvider | None:
    """The identity provider of the settings, if they name one."""
    from reverie.apps.server.identity_provider import IdentityProvider, ProviderOptions

    issuer, audience, keys = settings.oidc_issuer, settings.oidc_audience, settings.oidc_jwks
    if issuer and audience and keys:
        return IdentityProvider(ProviderOptions(issuer, audience, keys))
    if issuer or audience or keys:
        raise UserMistake("server.oidc_issuer, server.oidc_audience and server.oidc_jwks go together; set all three")
    return None


def _announce(url: str) -> None:
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()


def _subcommand(name: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A subcommand of `serve` that may name the database itself."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        def call(target: ServeTarget, /, *, data: str | None, database: str | None, **options: Any) -> Any:
            return function(ServeTarget(target.common, data or target.data, database or target.database), **options)

        call.__doc__ = function.__doc__
        call.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
        return command.command(name)(database_options(as_json(click.pass_obj(call))))

    return decorate


@_subcommand("token")
@click.option("--repo", metavar="REPO", help="Only for this repository (default: all of the tenant).")
@click.option("--scope", type=click.Choice(["read", "write", "admin"]), default="write", show_default=True,
              help="What it may do; each scope includes those before it.")  # fmt: skip
@click.option("--member", metavar="NAME", help="Whose token it is: the author of all that is written with it.")
@click.option("--expires", type=click.IntRange(1), metavar="DAYS", help="Days until it expires (default: never).")
@tenant_option
def create_token_command(
    target: ServeTarget,
    *,
    repo: str | None,
    scope: str,
    member: str | None,
    expires: int | None,
    tenant: str,
    as_json: bool,
) -> None:
    """Create a token and print it. It is shown once; only its hash is stored.

    \b
    Examples:
      reverie serve token --repo acme/app --scope write --member ada
      reverie serve token --scope read --expires 90
    """
    from reverie.apps.server.accounts import create_token, find_member
    from reverie.apps.server.entries import append_audit

    name = None if repo is None else normalise(repo)
    now = _now()
    with target.writing(tenant) as (connection, tenant_id):
        member_id = None if member is None else find_member(connection, tenant_id, member)
        expires_at = None if expires is None else now + expires * _DAY_SECONDS
        token, token_id = create_token(
            connection, tenant_id, scope=scope, repo=name, member_id=member_id, expires_at=expires_at, now=now
        )
        detail = {"token": token_id, "scope": scope, "member": member}
        append_audit(connection, tenant_id, _ACTOR, "token.create", name, detail, now)
    if as_json:
        _print({"token": token, "id": token_id, "tenant": tenant, "repo": name, "scope": scope, "member": member})
    else:
        click.echo(token)


@_subcommand("tokens")
@click.option("--revoke", type=int, metavar="ID", help="Revoke this token; it stops working at once.")
@tenant_option
def list_tokens_command(target: ServeTarget, *, revoke: int | None, tenant: str, as_json: bool) -> None:
    """List the tokens of a tenant, or revoke one."""
    from reverie.apps.server.accounts import list_tokens, revoke_token
    from reverie.apps.server.entries import append_audit

    now = _now()
    with target.writing(tenant) as (connection, tenant_id):
        if revoke is not None:
            owner = revoke_token(connection, revoke, now)
            append_audit(connection, owner, _ACTOR, "token.revoke", None, {"token": revoke}, now)
        rows = list_tokens(connection, tenant_id)
    for row in rows:
        row["state"] = _token_state(row, now)
    print_rows(rows, ("id", "member", "repo", "scope", "state", "created_at", "expires_at"), as_json)


def _token_state(row: dict[str, Any], now: int) -> str:
    if row["revoked_at"] is not None:
        return "revoked"
    return "expired" if row["expires_at"] is not None and row["expires_at"] <= now else "valid"


@_subcommand("tenants")
@click.option("--add", metavar="NAME", help="Add an organisation.")
@click.option("--remove", metavar="NAME", help="Remove an organisation with all that it stored.")
@click.option("--yes", is_flag=True, help="Remove without asking.")
def tenants_command(target: ServeTarget, *, add: str | None, remove: str | None, yes: bool, as_json: bool) -> None:
    """List the organisations of the server with their repositories, or add or remove one."""
    from sqlalchemy import delete, func, select

    from reverie.apps.server.accounts import create_tenant, find_tenant
    from reverie.apps.server.entries import append_audit
    from reverie.apps.server.schema import repos, tenants

    if remove is not None and not yes:
        _confirm(f"Remove the tenant {remove!r} with all of its repositories?")
    now = _now()
    with target.writing() as (connection, _):
        if add is not None:
            append_audit(connection, create_tenant(connection, add, now), _ACTOR, "tenant.create", None, {}, now)
        if remove is not None:
            connection.execute(delete(tenants).where(tenants.c.id == find_tenant(connection, remove, now)))
        query = (
            select(
                tenants.c.name, tenants.c.created_at, func.count(repos.c.id).label("repositories"),
                func.coalesce(func.sum(repos.c.live_entries), 0).label("entries"),
                func.coalesce(func.sum(repos.c.live_bytes), 0).label("bytes"),
            )
            .select_from(tenants.outerjoin(repos))
            .group_by(tenants.c.id, tenants.c.name, tenants.c.created_at)
            .order_by(tenants.c.name)
        )  # fmt: skip
        rows = [{**row, "bytes": int(row["bytes"])} for row in connection.execute(query).mappings()]
    print_rows(rows, ("name", "repositories", "entries", "bytes", "created_at"), as_json)


@_subcommand("members")
@click.option("--add", metavar="NAME", help="Add a member.")
@click.option("--subject", metavar="SUB", help="With --add: `sub` of their OpenID Connect tokens.")
@click.option("--scope", type=click.Choice(["read", "write", "admin"]), default="write", show_default=True,
              help="With --add: what their OpenID Connect tokens may do.")  # fmt: skip
@click.option("--remove", metavar="NAME", help="Remove a member and their tokens; what they wrote stays.")
@tenant_option
def members_command(
    target: ServeTarget,
    *,
    add: str | None,
    subject: str | None,
    scope: str,
    remove: str | None,
    tenant: str,
    as_json: bool,
) -> None:
    """List the members of a tenant, or add or remove one."""
    from sqlalchemy import select

    from reverie.apps.server.accounts import create_member, remove_member
    from reverie.apps.server.entries import append_audit
    from reverie.apps.server.schema import members

    now = _now()
    with target.writing(tenant) as (connection, tenant_id):
        if add is not None:
            create_member(connection, tenant_id, add, scope=scope, subject=subject, now=now)
            append_audit(connection, tenant_id, _ACTOR, "member.create", None, {"member": add, "scope": scope}, now)
        if remove is not None:
            remove_member(connection, tenant_id, remove)
            append_audit(connection, tenant_id, _ACTOR, "member.remove", None, {"member": remove}, now)
        columns = (members.c.name, members.c.scope, members.c.subject, members.c.created_at)
        query = select(*columns).where(members.c.tenant_id == tenant_id).order_by(members.c.name)
        rows = [dict(row) for row in connection.execute(query).mappings()]
    print_rows(rows, ("name", "scope", "subject", "created_at"), as_json)


@_subcommand("limits")
@click.argument("assignments", nargs=-1, metavar="[NAME=NUMBER]...")
@tenant_option
def limits_command(target: ServeTarget, *, assignments: tuple[str, ...], tenant: str, as_json: bool) -> None:
    """Show the limits of a tenant, or set some; NAME=default removes one that was set.

    \b
    Examples:
      reverie serve limits --tenant acme
      reverie serve limits --tenant acme max_entries=3000 requests_per_minute=default
    """
    import json

    from sqlalchemy import select, update

    from reverie.apps.server.entries import append_audit
    from reverie.apps.server.limits import LIMIT_NAMES, apply_overrides, default_limits, parse_assignment
    from reverie.apps.server.schema import tenants

    changes = dict(map(parse_assignment, assignments))
    now = _now()
    with target.writing(tenant) as (connection, tenant_id):
        stored = connection.execute(select(tenants.c.limits).where(tenants.c.id == tenant_id)).scalar_one()
        merged = {name: number for name, number in {**json.loads(stored), **changes}.items() if number is not None}
        if changes:
            values = {"limits": json.dumps(merged)}
            connection.execute(update(tenants).where(tenants.c.id == tenant_id).values(**values))
            append_audit(connection, tenant_id, _ACTOR, "limits", None, changes, now)
    limits = apply_overrides(default_limits(target.common.configuration().settings.server), json.dumps(merged))
    rows = [{"name": name, "value": getattr(limits, name), "is_default": name not in merged} for name in LIMIT_NAMES]
    print_rows(rows, ("name", "value", "is_default"), as_json)


@_subcommand("audit")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, metavar="N", help="Newest N lines.")
@tenant_option
def audit_command(target: ServeTarget, *, limit: int, tenant: str, as_json: bool) -> None:
    """Show who did what: writes, redactions, tokens, members, limits. Texts are never recorded."""
    import json

    from sqlalchemy import select

    from reverie.apps.server.schema import audit

    with target.writing(tenant) as (connection, tenant_id):
        query = select(audit).where(audit.c.tenant_id == tenant_id).order_by(audit.c.id.desc()).limit(limit)
        rows = [dict(row) for row in connection.execute(query).mappings()]
    lines = [
        {key: row[key] for key in ("at", "actor", "action", "repo")} | {"detail": json.loads(row["detail"])}
        for row in rows
    ]
    print_rows(lines, ("at", "actor", "action", "repo", "detail"), as_json)


@_subcommand("redact")
@_repo_option
@click.option("--path", required=True, metavar="PATH", help="Path of an entry.")
@tenant_option
def redact_command(target: ServeTarget, *, repo: str, path: str, tenant: str, as_json: bool) -> None:
    """Remove all earlier texts of an entry; of a deleted entry, all texts. Backups made before still hold them."""
    from reverie.apps.server.accounts import Principal
    from reverie.apps.server.entries import redact_revisions
    from reverie.apps.server.limits import default_limits

    limits = default_limits(target.common.configuration().settings.server)
    with target.writing(tenant) as (connection, tenant_id):
        principal = Principal(tenant_id, tenant, _ACTOR, None, "admin", None, limits)
        redacted = redact_revisions(connection, principal, normalise(repo), path, now=_now())
    if as_json:
        _print({"repo": repo, "path": path, "redacted": redacted})
    else:
        click.echo(f"redacted {redacted} {'version' if redacted == 1 else 'versions'} of {path}")


@_subcommand("prune")
def prune_command(target: ServeTarget, *, as_json: bool) -> None:
    """Remove old versions, audit rows, ended jobs and marks of deleted entries, of all tenants; run it every night.

    How long each is kept: server.versions_days, server.audit_days, server.tombstone_days.

    \b
    Examples:
      reverie serve prune
      reverie --set server.audit_days=90 serve prune --json
    """
    from reverie.apps.server.retention import prune

    database = target.open()
    try:
        removed = prune(database, target.common.configuration().settings.server, _now())
    finally:
        database.close()
    if as_json:
        _print(removed)
    else:
        click.echo("removed " + ", ".join(f"{count} {name}" for name, count in removed.items()))


@_subcommand("export")
@_repo_option
@click.argument("directory", type=click.Path(path_type=Path))
@tenant_option
def export_command(target: ServeTarget, *, repo: str, directory: Path, tenant: str, as_json: bool) -> None:
    """Write the entries of a repository to a new DIRECTORY as Markdown files."""
    from reverie.apps.server.backup import export_repository

    with target.writing(tenant) as (_, tenant_id):
        pass
    database = target.open()
    try:
        paths = export_repository(database, tenant_id, normalise(repo), directory)
    finally:
        database.close()
    if as_json:
        _print({"directory": str(directory), "paths": paths})
    else:
        click.echo(f"{len(paths)} {'entry' if len(paths) == 1 else 'entries'} written to {directory}")


@_subcommand("backup")
@click.argument("file", type=click.Path(path_type=Path))
def backup_command(target: ServeTarget, *, file: Path, as_json: bool) -> None:
    """Write everything to FILE (compressed JSON), as it is at one moment; servers may keep running."""
    from reverie.apps.server.backup import write_backup

    _copy(target, lambda database: write_backup(database, file), file, as_json=as_json)


@_subcommand("restore")
@click.argument("file", type=click.Path(path_type=Path))
def restore_command(target: ServeTarget, *, file: Path, as_json: bool) -> None:
    """Fill an empty database from a backup FILE; also from SQLite to PostgreSQL and back."""
    from reverie.apps.server.backup import restore_backup

    _copy(target, lambda database: restore_backup(database, file), file, as_json=as_json)


def _copy(target: ServeTarget, act: Callable[[ServerDatabase], dict[str, int]], file: Path, *, as_json: bool) -> None:
    database = target.open()
    try:
        counts = act(database)
    finally:
        database.close()
    if as_json:
        _print({"file": str(file), "rows": counts})
    else:
        click.echo(f"{file}: {', '.join(f'{count} {name}' for name, count in counts.items())}")


def normalise(repo: str) -> str:
    """The name of a repository as it is stored. Raises `UserMistake`."""
    from reverie.apps.server.accounts import normalise_repo

    name = normalise_repo(repo)
    if name is None:
        raise UserMistake(f"{repo!r} is not the name of a repository; write owner/name")
    return name


def _confirm(question: str) -> None:
    if not sys.stdin.isatty():
        raise UserMistake("this needs --yes when nobody can be asked")
    click.confirm(question, abort=True, err=True)


def print_rows(rows: list[dict[str, Any]], columns: tuple[str, ...], as_json: bool) -> None:
    """Print rows as a table or as JSON."""
    from reverie.apps.cli.output import print_table

    if as_json:
        _print(rows)
        return
    cells = [tuple(_show(name, row[name]) for name in columns) for row in rows]
    print_table([(name.removesuffix("_at"), "left") for name in columns], cells)


def _show(name: str, content: Any) -> str:
    if content is None:
        return "-"
    if name == "at" or name.endswith("_at"):
        return datetime.fromtimestamp(content, UTC).strftime("%Y-%m-%d %H:%M")
    return str(content)


def _print(document: Any) -> None:
    from reverie.apps.cli.output import print_json

    print_json(document)


def _now() -> int:
    from reverie.settings.load import SystemClock

    return int(SystemClock().now().timestamp())


def missing_extra(problem: ImportError) -> Unavailable:
    """What to say where a package of the server is not installed."""
    return Unavailable(
        f"the team server requires {problem.name}, which is not installed; run `pip install 'reverie[server]'`"
    )

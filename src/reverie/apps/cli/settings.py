"""`reverie settings`: every value, and where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import click

from reverie.apps.cli.options import Common, as_json, project_option
from reverie.apps.cli.output import print_json
from reverie.errors import UserMistake
from reverie.settings import describe
from reverie.settings.describe import as_markdown, meaning
from reverie.settings.layers import Origin, SettingsSource, present_paths, unknown, value_of
from reverie.settings.load import Configuration
from reverie.settings.locate import split_key
from reverie.settings.schema import Key, describe_expected, find, format_key_path, is_group

_VALUE_COLUMN = 40
"""Longer values push the origin to the right instead of making every line long."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as it stands."""

    key: str
    declared: Key
    value: object
    origins: tuple[Origin, ...]
    """Whoever set it, highest last; empty at the default."""

    @property
    def source(self) -> str:
        """Who had the last word, and where; a joined list names everybody."""
        origins = (
            self.origins if isinstance(self.value, tuple) and not self.declared.stands_alone else self.origins[-1:]
        )
        return (
            ", ".join(f"{origin.source.value} ({origin.place})" for origin in origins) or SettingsSource.DEFAULT.value
        )


def rows(configuration: Configuration) -> list[SettingRow]:
    """All settings in the order of the reference page."""
    settings = configuration.settings
    return [
        SettingRow(
            format_key_path(path), key, value_of(settings, path), configuration.origins.get(format_key_path(path), ())
        )
        for key, path in present_paths(settings)
    ]


@click.command("settings")
@click.argument("key", required=False)
@as_json
@click.option("--origin", is_flag=True, help="Show every source that sets a value, not only the effective one.")
@click.option("--changed", is_flag=True, help="Only settings that differ from their default.")
@click.option("--markdown", is_flag=True, help="Print the reference page as Markdown.")
@project_option
@click.pass_obj
def command(
    common: Common, key: str | None, *, as_json: bool, origin: bool, changed: bool, markdown: bool, project: str | None
) -> None:
    """Show settings, their values and where each value comes from.

    KEY is one setting (`spill.result_chars`) or a group (`spill`).

    \b
    Examples:
      reverie settings recall
      reverie settings --changed --origin
      reverie --set recall.max_files=3 settings recall.max_files --json
    """
    if markdown:
        click.echo(as_markdown(), nl=False)
        return
    shown = _chosen(rows(common.configuration(project)), key)
    if changed:
        shown = [row for row in shown if row.origins]
    if as_json:
        print_json([_object(row, with_origins=origin) for row in shown])
        return
    _print(shown, with_origins=origin)
    if key is not None and [row.key for row in shown] == [key]:
        click.echo(_explain_setting(shown[0].declared))


def _chosen(every: list[SettingRow], key: str | None) -> list[SettingRow]:
    if key is None:
        return every
    path = split_key(key) or (key,)
    if find(path) is None and not is_group(path):
        raise UserMistake(unknown(key))
    return [row for row in every if row.key == key or row.key.startswith(f"{key}.")]


def _explain_setting(declared: Key) -> str:
    variable = f"; variable {declared.variable}" if declared.variable else ""
    default = describe.as_text(declared.default)
    return f"\n{meaning(declared)}\nTakes {describe_expected(declared)}; default {default}{variable}."


def _object(row: SettingRow, *, with_origins: bool) -> dict[str, object]:
    document: dict[str, object] = {
        "key": row.key,
        "value": describe.as_json(row.value),
        "source": row.source,
        "default": describe.as_json(row.declared.default),
        "type": describe_expected(row.declared),
        "doc": meaning(row.declared),
        "variable": row.declared.variable,
    }
    if with_origins:
        document["origins"] = [
            {"source": origin.source.value, "place": origin.place, "value": describe.as_json(origin.value)}
            for origin in row.origins
        ]
    return document


def _print(shown: Sequence[SettingRow], *, with_origins: bool) -> None:
    lines = [(row.key, describe.as_text(row.value), row) for row in shown]
    key_width = max((len(key) for key, _, _ in lines), default=0)
    value_width = min(_VALUE_COLUMN, max((len(value) for _, value, _ in lines), default=0))
    for key, value, row in lines:
        click.echo(f"{key:{key_width}}  {value:{value_width}}  {row.source}")
        for origin in reversed(row.origins if with_origins else ()):
            source = f"{origin.source.value} ({origin.place}): {describe.as_text(origin.value)}"
            click.echo(f"{'':{key_width}}    {source}")

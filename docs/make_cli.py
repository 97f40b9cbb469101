"""Write docs/cli.md from the commands' own help: `python docs/make_cli.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from holdfast._cli.app import app

HERE = Path(__file__).resolve().parent
PAGE = HERE / "cli.md"
WIDTH = 96
_INTRO = """\
# Command line

Generated from `--help` by `docs/make_cli.py`. Every command calls one library function and prints its
summary; what it can do, Python can do.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | a finding: something that was claimed does not hold |
| 2 | bad usage or bad input; nothing was spent |
| 3 | the budget would be exceeded; nothing was spent |
| 130 | interrupted; what was charged stays in the ledger, and the same command goes on |

An error is said in one line, without values from the data. Of an error that holdfast does not know only the kind is
named; with `HOLDFAST_TRACEBACK=1` in the environment it is shown whole, and may then quote data.
"""


def commands(
    command: click.Command, path: tuple[str, ...] = ("holdfast",)
) -> Iterator[tuple[str, click.Command, str]]:
    """Every command below this one with its full name and its help."""
    parent: click.Context | None = None
    for name in path[:-1]:
        parent = click.Context(click.Group(name), info_name=name, parent=parent)
    context = click.Context(
        command,
        info_name=path[-1],
        parent=parent,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    yield " ".join(path), command, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from commands(child, (*path, name))


def page() -> str:
    """The whole page."""
    parts = [_INTRO]
    for name, _, text in commands(app):
        level = "#" * min(4, 1 + len(name.split()))
        clean = "\n".join(line.rstrip() for line in text.splitlines())
        parts.append(f"{level} {name}\n\n```text\n{clean}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

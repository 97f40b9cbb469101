"""The command group. A command parses, calls one library function and prints its summary.

Exit codes: 0 fine, 1 a finding (something does not hold), 2 bad usage or input, 3 budget exceeded, or not everything
could be checked, 130 interrupted, 143 and 129 ended by SIGTERM and SIGHUP.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import click

import holdfast
from holdfast._cli.ending import errors_in_one_line, exit_on_signals, guard_output
from holdfast.data._work_folder import remove_abandoned_folders

COMMANDS = {
    "answer": "private statistics of a table by SQL, each with an interval",
    "attack": "can someone tell who was in a model's training data",
    "audit": "a lower bound on what a training function leaks",
    "compare": "releases, or methods on your own data, side by side",
    "curve": "which epsilon at this delta, for these mechanisms",
    "demo": "a private release of bundled data, end to end",
    "dossier": "one page about a release, for whoever has to sign it",
    "evaluate": "how good synthetic rows are, against real ones or a release",
    "fit": "a private model of one column of a table",
    "ledger": "open, show and verify a budget ledger, close accounts",
    "plan": "noise and accuracy against epsilon, before anything is spent",
    "postgres": "training inside a PostgreSQL database: install, status, uninstall",
    "recommend": "which model for a table, from its schema and size alone",
    "refute": "every mechanism under attack; broken versions must fall",
    "run": "a whole release plan, its cost shown first",
    "schema": "declare what is public about a table",
    "sign": "put your key to a release or a page",
    "synth": "a private synthetic table, with a bound on its errors",
    "verify": "a dossier, its release and its ledger against each other",
}
"""Every command, one file each in this folder, loaded when it is used."""


class Commands(click.Group):
    """Loads a command's file when it is named, and turns errors into exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The verb's command, from its own file."""
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"holdfast._cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the verbs without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run, and say what went wrong in one line."""
        with errors_in_one_line():
            remove_abandoned_folders()  # what a killed command left of rows, whichever command is next
            return super().invoke(ctx)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(holdfast.__version__, prog_name="holdfast")
def app() -> None:
    """Publish a model or a synthetic table with a promise people can check."""


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    click.echo(f"warning: {message}", err=True)


def main() -> None:
    """The entry point of the command `holdfast`."""
    with exit_on_signals():
        guard_output()
        warnings.showwarning = _show_warning
        app(prog_name="holdfast")


if __name__ == "__main__":
    main()

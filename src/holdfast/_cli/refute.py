"""`holdfast refute`: every mechanism and method under attack, and broken versions that must fall."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import click

from holdfast._cli.paths import Command

if TYPE_CHECKING:
    from holdfast.refute._suite import Refutations, Verdict


@click.command(cls=Command)
@click.argument("name", required=False)
@click.option("--table", is_flag=True, help="Show by which test each one fell or survived.")
@click.option(
    "--broken",
    is_flag=True,
    help="Treat broken versions (NAME, or all) as if they were in use: exits with 1.",
)
@click.option("--fresh", is_flag=True, help="Coins from the operating system instead of fixed seeds.")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    help="Processes; as many as processors.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def refute(name: str | None, table: bool, broken: bool, fresh: bool, jobs: int, as_json: bool) -> None:
    """Try to refute every mechanism and method; see that broken versions fall.

    Methods are replayed on neighbouring tables with the same outputs, and their noise and samples are held
    against the declared laws; mechanisms against their law, their worst pair and their curve. --table shows
    the distance that replay reached (1: any understatement would be seen) and p-values. A whole run refutes
    something true with probability at most 1e-6. Exits with 1 if anything sound is refuted or anything
    broken is not. Surviving is no proof of privacy.

    \b
    Examples:
      holdfast refute                      everything, within five minutes
      holdfast refute noisy_gd --table     what begins with this name
      holdfast refute bolt_on --broken     the showcase: a published error, taken apart
    """
    from holdfast.refute._broken import broken_subject_names
    from holdfast.refute._subject import select_by_name
    from holdfast.refute._subjects import subject_names
    from holdfast.refute._suite import refute as run_refutation

    subjects = select_by_name(
        broken_subject_names() if broken else (*subject_names(), *broken_subject_names()), name
    )
    refutations = run_refutation(
        (subject.make() for subject in subjects), fresh=fresh, jobs=jobs, step=None if as_json else _step
    )
    if as_json:
        click.echo(json.dumps(refutations.to_json()))
    else:
        if table:
            click.echo(refutations.table())
        if broken:
            _show_broken(refutations, fresh=fresh)
        else:
            click.echo(refutations.summary())
    any_refuted = any(verdict.refuted for verdict in refutations.verdicts)
    if any_refuted if broken else not refutations.passed:
        raise click.exceptions.Exit(1)


def _step(verdict: Verdict) -> None:
    if sys.stderr.isatty():
        click.echo(f"  {verdict.name}: {'refuted' if verdict.refuted else 'survived'}", err=True)


def _show_broken(refutations: Refutations, *, fresh: bool) -> None:
    for verdict in refutations.verdicts:
        click.echo(verdict.summary())
    if any(verdict.name.startswith("bolt_on") for verdict in refutations.verdicts):
        from holdfast.refute._published_error import bolt_on_showcase

        showcase = bolt_on_showcase(seed=None if fresh else 1)
        click.echo(showcase.summary())
    refuted = [verdict for verdict in refutations.verdicts if verdict.refuted]
    for verdict in refuted:
        text = f" REFUTED: {verdict.name}, claims {verdict.claim}, by {' and '.join(verdict.refuted_by())} "
        click.secho(text, fg="white", bg="red", bold=True)

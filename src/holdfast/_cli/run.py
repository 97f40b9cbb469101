"""`holdfast run`: a whole release plan, its cost shown first."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast._cli.paths import READ_FILE, Command
from holdfast._cli.useless import EVEN_IF_USELESS_OPTION

if TYPE_CHECKING:
    from holdfast.plan._step import Step, StepOutcome


@click.command(cls=Command)
@click.argument("plan", type=READ_FILE)
@click.option("--dry-run", is_flag=True, help="Show costs and outputs, and stop.")
@click.option("--outside", is_flag=True, help="Let steps write outside of the plan's folder.")
@EVEN_IF_USELESS_OPTION
@click.option("--force", is_flag=True, help="Let steps write over files that they did not make.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def run(plan: Path, dry_run: bool, outside: bool, even_if_useless: bool, force: bool, as_json: bool) -> None:
    """Execute a release PLAN (TOML): models, synthetic tables, attacks, audits and pages, paid from one ledger.

    The total cost is shown first, and nothing is spent unless the ledger covers all of it (else exit code 3). A run
    that was killed is started again with the same command: what is done is left alone, what was paid is not paid
    twice. Exit code 1 when an audit or a page contradicts a promise, in this run or in an earlier one: a step is done
    only where its output is whole and its own. Paths are relative to the plan. No step writes over what the plan reads
    or over another step's output, none outside of the plan's folder without --outside, and none over a file that it
    did not make without --force. An audit step imports its function from the current folder and runs it: read plans
    of others before you run them.

    \b
    Example of a plan:
      [plan]
      ledger = "budget.db"
      dataset = "clinic"
      source = "clinic.parquet"
      schema = "clinic.toml"
    \b
      [[step]]
      do = "fit"
      name = "model"
      target = "ill"
      epsilon = 0.5
      output = "model.holdfast"
    \b
      [[step]]
      do = "dossier"
      name = "page"
      releases = ["model"]
      output = "dossier.html"
    \b
    Examples:
      holdfast run plan.toml --dry-run
      holdfast run plan.toml
    """
    from holdfast.ledger import Ledger
    from holdfast.plan._release_plan import ReleasePlan

    release_plan = ReleasePlan.load(plan, outside=outside, force=force)
    if even_if_useless:
        release_plan = replace(release_plan, setting=replace(release_plan.setting, even_if_useless=True))
    finished: list[dict[str, object]] = []

    def report_step(step: Step, done: StepOutcome) -> None:
        finished.append({"name": step.name, "output": step.output, "finding": done.finding})
        if not as_json:
            click.echo(f"\n{step.kind} {step.name}: {step.output}\n{done.summary}")

    with Ledger.open(release_plan.setting.ledger, read_only=dry_run) as ledger:
        quote = release_plan.quote(ledger)
        if not as_json:
            click.echo(quote.summary())
        quote.require()
        finding = False
        if not dry_run:
            finding = release_plan.run(ledger, begin=_begin, report=report_step)
    if as_json:
        click.echo(json.dumps(quote.to_json() | {"done": finished, "finding": finding}))
    if finding:
        click.secho("CONTRADICTED: a promise does not hold", fg="red", bold=True, err=True)
        raise click.exceptions.Exit(1)


def _begin(step: Step) -> None:
    if sys.stderr.isatty():
        click.echo(f"  {step.kind} {step.name} ...", err=True)

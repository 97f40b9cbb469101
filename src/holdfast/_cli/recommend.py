"""`holdfast recommend`: which model for a table, from public things only."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import FORECAST_DELTA_OPTION, delta_or_default
from holdfast._cli.paths import READ_FILE, Command


@click.command(cls=Command)
@click.argument("schema_file", metavar="SCHEMA", type=READ_FILE)
@UNIT_OPTION
@click.option("--target", required=True, help="The column to predict.")
@click.option("--rows", type=int, required=True, help="Records in the table, a public number.")
@click.option("--epsilon", type=float, default=1.0, show_default=True, help="The budget.")
@FORECAST_DELTA_OPTION
@click.option("--rarest", type=float, help="The share of the rarest of two classes, if that is known.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def recommend(
    schema_file: Path,
    target: str,
    rows: int,
    epsilon: float,
    delta: float | None,
    rarest: float | None,
    as_json: bool,
) -> None:
    """Say which estimator to fit to a table of this SCHEMA, and what it did on tables like it.

    No row is read and nothing is spent: the answer rests on a panel of other tables.

    \b
    Examples:
      holdfast recommend census.toml --target income --rows 32561
      holdfast recommend claims.toml --target fraud --rows 200000 --epsilon 0.5 --rarest 0.01
    """
    from holdfast.learn import recommend as recommend_model

    delta = delta_or_default(delta, rows, announce=not as_json)
    recommendation = recommend_model(
        declared_schema(schema_file), target=target, epsilon=epsilon, delta=delta, rows=rows, rarest=rarest
    )
    if as_json:
        record = {name: value for name, value in asdict(recommendation).items() if name != "alike"}
        click.echo(json.dumps(record | {"alike": [asdict(dataset) for dataset in recommendation.alike]}))
    else:
        click.echo(recommendation.summary())

"""`holdfast plan`: what a fit will be worth, before anything is spent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import FORECAST_DELTA_OPTION, delta_or_default
from holdfast._cli.paths import READ_FILE, Command

if TYPE_CHECKING:
    from holdfast.learn._forecast import Forecast, Rehearsal

DEFAULT_EPSILONS = (0.05, 0.1, 0.5, 1.0, 4.0)


@click.command(cls=Command)
@click.option("--rows", type=int, help="Records in the table, if that number is public.")
@click.option("--columns", type=int, help="Columns after encoding, the intercept included.")
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, help="Predict at this epsilon (repeatable)."
)
@FORECAST_DELTA_OPTION
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "zero_out", "add_remove"]),
    default="replace",
    show_default=True,
    help="Who is a neighbour of whom. With --public-data the schema says it.",
)
@click.option("--row-norm", type=float, default=1.0, show_default=True, help="Rows are clipped to this norm.")
@click.option(
    "--accuracy", type=float, help="What a fit without privacy is known to reach: predicts accuracy."
)
@click.option(
    "--public-data",
    type=READ_FILE,
    help="Parquet or CSV that you declare public: fits are tried on it, without privacy.",
)
@click.option(
    "--schema",
    "schema_file",
    type=READ_FILE,
    help="Its schema.",
)
@UNIT_OPTION
@click.option("--target", help="Its column of labels.")
@click.option(
    "--fits", type=int, default=3, show_default=True, help="Seeded fits per epsilon on public data."
)
@click.option(
    "--synth", is_flag=True, help="Plan a synthetic table of --schema and --rows instead of a model."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def plan(
    rows: int | None,
    columns: int | None,
    epsilons: tuple[float, ...],
    delta: float | None,
    adjacency: str,
    row_norm: float,
    accuracy: float | None,
    public_data: Path | None,
    schema_file: Path | None,
    target: str | None,
    fits: int,
    synth: bool,
    as_json: bool,
) -> None:
    """Predict noise and accuracy of a logistic regression, or of a synthetic table, against epsilon.

    Nothing is spent.

    From public quantities it is a rule of thumb, in which rows point in all directions alike: real tables are
    harder. Data that you declare public, of about the size of the private table, are a better guide.

    \b
    Examples:
      holdfast plan --rows 32561 --columns 108
      holdfast plan --rows 32561 --columns 108 --delta 0 --epsilon 1 --accuracy 0.85
      holdfast plan --public-data census1994.parquet --schema census.toml --target income
      holdfast plan --synth --schema census.toml --rows 32561 --delta 1e-9
    """
    grid = epsilons or DEFAULT_EPSILONS
    delta = delta_or_default(delta, rows, announce=not as_json)
    estimates: Any
    if synth:
        estimates, lines = _forecast_synthesis(
            schema_file, rows, epsilons=grid, delta=delta, adjacency=adjacency
        )
    elif public_data is not None:
        estimates = _rehearse(public_data, schema_file, target, epsilons=grid, delta=delta, fits=fits)
        lines = _rehearsal_lines(estimates, public_data)
    else:
        estimates = _forecast_model(
            rows,
            columns,
            epsilons=grid,
            delta=delta,
            adjacency=adjacency,
            row_norm=row_norm,
            accuracy=accuracy,
        )
        lines = _forecast_lines(estimates)
    if as_json:
        source = (
            "public quantities" if public_data is None else "data declared public, fitted without privacy"
        )
        click.echo(
            json.dumps(
                {"source": source, "plan": [_without_infinity(asdict(estimate)) for estimate in estimates]}
            )
        )
    else:
        click.echo("\n".join(lines))


def _forecast_synthesis(
    schema_file: Path | None, rows: int | None, *, adjacency: str, **settings: Any
) -> tuple[Any, list[str]]:
    from holdfast.errors import ParameterError
    from holdfast.synth._forecast import forecast_lines, forecast_synthesis

    if schema_file is None or rows is None:
        raise ParameterError(
            f"schema and rows must be given with --synth, got schema={schema_file} and rows={rows}; "
            "'holdfast schema draft' writes a schema"
        )
    schema = declared_schema(schema_file)
    adjacency_option = None if schema.adjacency is not None else adjacency
    estimates = forecast_synthesis(schema, rows=rows, adjacency=adjacency_option, **settings)
    return estimates, forecast_lines(estimates)


def _forecast_model(rows: int | None, columns: int | None, **settings: Any) -> tuple[Forecast, ...]:
    from holdfast.errors import ParameterError
    from holdfast.learn._forecast import forecast

    if rows is None or columns is None:
        raise ParameterError(
            f"rows and columns must be given, got rows={rows} and columns={columns}; or give --public-data"
        )
    return forecast(rows=rows, columns=columns, **settings)


def _rehearse(
    data: Path, schema_file: Path | None, target: str | None, **settings: Any
) -> tuple[Rehearsal, ...]:
    from holdfast.data._engines.files import read_columns
    from holdfast.errors import ParameterError
    from holdfast.learn._forecast import rehearse

    if schema_file is None or target is None:
        raise ParameterError(
            f"schema and target must be given with --public-data, got schema={schema_file} and target={target!r}; "
            "'holdfast schema draft' writes a schema"
        )
    schema = declared_schema(schema_file)
    if target not in schema.names:
        raise ParameterError(f"target must be a column of the schema, got target={target!r}")
    columns = read_columns(data, schema, name="public-data")
    return rehearse(columns, schema, target=target, **settings)


def _forecast_lines(estimates: tuple[Forecast, ...]) -> list[str]:
    lines = [
        "Logistic regression, method='auto', from public quantities only: a rule of thumb, not a promise.",
        "Noise: standard deviation in a coefficient, and in the log-odds of a typical row.",
        f"{'epsilon':>8}  {'method':<10} {'coefficient':>11} {'log-odds':>9} {'sampling':>9} {'accuracy':>9}",
    ]
    for estimate in estimates:
        accuracy = "-" if estimate.accuracy is None else f"{estimate.accuracy:.3f}"
        lines.append(
            f"{estimate.epsilon:>8g}  {estimate.method:<10} {estimate.coefficient_noise:>11.3g} "
            f"{estimate.prediction_noise:>9.3g} {estimate.sampling_error:>9.3g} {accuracy:>9}  {estimate.verdict}"
        )
    return lines


def _rehearsal_lines(rehearsals: tuple[Rehearsal, ...], data: Path) -> list[str]:
    lines = [
        f"NOT PRIVATE for {data.name}, which was declared public: seeded fits, exact scores on held-out rows.",
        f"{'epsilon':>8}  {'method':<10} {'accuracy':>9} {'spread':>8}",
    ]
    lines += [
        f"{rehearsal.epsilon:>8g}  {rehearsal.method:<10} {rehearsal.accuracy:>9.4f} {rehearsal.spread:>8.4f}"
        for rehearsal in rehearsals
    ]
    return lines


def _without_infinity(record: dict[str, Any]) -> dict[str, Any]:
    """The record with the text 'inf' for infinity, which JSON does not have."""
    return {name: "inf" if value == float("inf") else value for name, value in record.items()}

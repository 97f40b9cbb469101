"""`holdfast compare`: releases side by side; or methods and epsilons on the owner's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT, declared_schema
from holdfast._cli.default_delta import FORECAST_DELTA, delta_or_usual
from holdfast._cli.paths import FORCE, READ, SOURCE, WRITTEN, Command

if TYPE_CHECKING:
    from holdfast.data._schema import Schema
    from holdfast.dossier import Comparison
    from holdfast.dossier._comparison.epsilons import EpsilonComparison


@click.command(cls=Command)
@click.argument("releases", metavar="[RELEASE...]", nargs=-1, type=READ)
@click.option(
    "--data",
    type=SOURCE,
    metavar="ROWS",
    help="Instead: Parquet, CSV or a database URL; methods are tried on it. NOT PRIVATE.",
)
@click.option("--schema", "schema_file", type=READ, help="What is public about DATA.")
@UNIT
@click.option("--target", help="The column to predict.")
@click.option(
    "--methods",
    help="Methods of linear models, or additive, separated by commas; for example noisy_gd,output,additive.",
)
@click.option(
    "--epsilon",
    "epsilons",
    multiple=True,
    help="Where methods are tried (at 1 by default); several draw a curve.",
)
@FORECAST_DELTA
@click.option("--fits", type=int, default=3, show_default=True, help="Seeded fits per method and epsilon.")
@click.option(
    "--accuracy", type=float, help="Which epsilon does this accuracy need? Tries several; of a number, R2."
)
@click.option(
    "--data-are-public", is_flag=True, help="You declare that DATA may be shown: the curve is then public."
)
@click.option("-o", "--output", type=WRITTEN, help="Also write a page.")
@FORCE
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def compare(
    releases: tuple[Path, ...],
    data: str | None,
    schema_file: Path | None,
    target: str | None,
    methods: str | None,
    epsilons: tuple[str, ...],
    delta: float | None,
    fits: int,
    accuracy: float | None,
    data_are_public: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Put RELEASE files side by side: promise, noise, certificates and weights.

    With --data, try methods on your own table instead. That is not private: noise is seeded, scores are exact,
    nothing is charged, and the result is for internal use only. With several epsilons (0.1,1,4) or --accuracy it draws
    accuracy against epsilon, beside no privacy, and says which epsilon the accuracy needs and how sure that is.
    Classes are measured by accuracy, AUC and log loss, numbers by R2 and root mean squared error. Where the schema
    protects users, whole users are held out.

    \b
    Examples:
      holdfast compare spring.holdfast autumn.holdfast
      holdfast compare spring.holdfast autumn.holdfast -o comparison.html
      holdfast compare --data clinic.parquet --schema clinic.toml --target sex --methods noisy_gd,output
      holdfast compare --data clinic.parquet --schema clinic.toml --target sex --epsilon 0.1,1,4 --accuracy 0.84
    """
    from holdfast.data._whole_file import write_whole
    from holdfast.errors import ParameterError

    if (data is None) == (not releases):
        raise ParameterError("compare takes two or more releases, or --data with --methods; got both or none")
    tried = _numbers(epsilons)
    comparison: Comparison | EpsilonComparison
    if data is None:
        comparison = _releases(releases)
    elif len(tried) > 1 or accuracy is not None:
        comparison = _epsilons(
            data,
            schema_file,
            target,
            methods or "auto",
            epsilons=tried,
            delta=delta,
            fits=fits,
            accuracy=accuracy,
            data_are_public=data_are_public,
            said=not as_json,
        )
    else:
        comparison = _methods(
            data,
            schema_file,
            target,
            methods,
            epsilon=tried[0] if tried else 1.0,
            delta=delta,
            fits=fits,
            said=not as_json,
        )
    if output is not None:
        write_whole(output, comparison.html().encode())
    click.echo(json.dumps(comparison.to_json()) if as_json else comparison.summary())
    if output is not None and not as_json:
        click.echo(f"page: {click.format_filename(output)}")


def _releases(paths: tuple[Path, ...]) -> Comparison:
    from holdfast.dossier._comparison import compare as run
    from holdfast.dossier._evidence import told_apart
    from holdfast.release import Release

    names = told_apart([path.stem for path in paths])
    return run({name: Release.load(path) for name, path in zip(names, paths, strict=True)})


def _numbers(texts: tuple[str, ...]) -> list[float]:
    """Given one by one, or separated by commas."""
    from holdfast.errors import ParameterError

    try:
        return [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"epsilon must be a number, or several with commas between, got {','.join(texts)!r}"
        ) from None


def _methods(
    data: str,
    schema_file: Path | None,
    target: str | None,
    methods: str | None,
    *,
    said: bool,
    **settings: Any,
) -> Comparison:
    from holdfast.dossier._comparison import compare_methods

    columns, schema, column, chosen = _read(data, schema_file, target, methods)
    settings["delta"] = delta_or_usual(settings["delta"], _count(columns), said=said)
    return compare_methods(columns, schema, target=column, methods=chosen, **settings)


def _epsilons(
    data: str,
    schema_file: Path | None,
    target: str | None,
    methods: str,
    *,
    epsilons: list[float],
    said: bool,
    **settings: Any,
) -> EpsilonComparison:
    from holdfast.dossier._comparison.epsilons import EPSILONS, compare_epsilons

    columns, schema, column, chosen = _read(data, schema_file, target, methods)
    tried = epsilons or list(EPSILONS)
    settings["delta"] = delta_or_usual(settings["delta"], _count(columns), said=said)
    return compare_epsilons(columns, schema, target=column, methods=chosen, epsilons=tried, **settings)


def _count(columns: Any) -> int:
    """How many rows there are: whoever compares on their own table may know."""
    return len(columns[next(iter(columns))])


def _read(
    data: str, schema_file: Path | None, target: str | None, methods: str | None
) -> tuple[Any, Schema, str, list[str]]:
    """Everything that is needed to try methods on rows, checked before any fit."""
    from holdfast.data._engines import rows_of_source
    from holdfast.data._engines.file_rows import number_names
    from holdfast.data._engines.files import read_columns
    from holdfast.errors import ParameterError

    if schema_file is None or target is None or not methods:
        raise ParameterError(
            f"schema, target and methods must be given with --data, got schema={schema_file}, target={target!r} "
            f"and methods={methods!r}"
        )
    schema = declared_schema(schema_file)
    if target not in schema.names:
        raise ParameterError(f"target must be a column of the schema, got target={target!r}")
    chosen = [name.strip() for name in methods.split(",") if name.strip()]
    rows = rows_of_source(data, name="data", csv=schema.csv, numbers=number_names(schema))
    return read_columns(rows, schema, name="data"), schema, target, chosen

"""`holdfast compare`: releases side by side; or methods and epsilons on the owner's own data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import FORECAST_DELTA_OPTION, delta_or_default
from holdfast._cli.paths import FORCE_OPTION, READ_FILE, SOURCE_TEXT, WRITTEN_FILE, Command

if TYPE_CHECKING:
    from holdfast.data._schema import Schema
    from holdfast.dossier import Comparison
    from holdfast.dossier._comparison.epsilons import EpsilonComparison


@click.command(cls=Command)
@click.argument("releases", metavar="[RELEASE...]", nargs=-1, type=READ_FILE)
@click.option(
    "--data",
    type=SOURCE_TEXT,
    metavar="ROWS",
    help="Instead: Parquet, CSV or a database URL; methods are tried on it. NOT PRIVATE.",
)
@click.option("--schema", "schema_file", type=READ_FILE, help="What is public about DATA.")
@UNIT_OPTION
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
@FORECAST_DELTA_OPTION
@click.option("--fits", type=int, default=3, show_default=True, help="Seeded fits per method and epsilon.")
@click.option(
    "--accuracy", type=float, help="Which epsilon does this accuracy need? Tries several; of a number, R2."
)
@click.option(
    "--data-are-public", is_flag=True, help="You declare that DATA may be shown: the curve is then public."
)
@click.option("-o", "--output", type=WRITTEN_FILE, help="Also write a page.")
@FORCE_OPTION
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
    epsilon_values = _parse_epsilons(epsilons)
    comparison: Comparison | EpsilonComparison
    if data is None:
        comparison = _compare_releases(releases)
    elif len(epsilon_values) > 1 or accuracy is not None:
        comparison = _compare_epsilons(
            data,
            schema_file,
            target,
            methods or "auto",
            epsilons=epsilon_values,
            delta=delta,
            fits=fits,
            accuracy=accuracy,
            data_are_public=data_are_public,
            announce=not as_json,
        )
    else:
        comparison = _compare_methods(
            data,
            schema_file,
            target,
            methods,
            epsilon=epsilon_values[0] if epsilon_values else 1.0,
            delta=delta,
            fits=fits,
            announce=not as_json,
        )
    if output is not None:
        write_whole(output, comparison.html().encode())
    click.echo(json.dumps(comparison.to_json()) if as_json else comparison.summary())
    if output is not None and not as_json:
        click.echo(f"page: {click.format_filename(output)}")


def _compare_releases(paths: tuple[Path, ...]) -> Comparison:
    from holdfast.dossier._comparison import compare as run
    from holdfast.dossier._evidence import distinct_names
    from holdfast.release import Release

    names = distinct_names([path.stem for path in paths])
    return run({name: Release.load(path) for name, path in zip(names, paths, strict=True)})


def _parse_epsilons(texts: tuple[str, ...]) -> list[float]:
    """The epsilons that were typed: one for each --epsilon, or several with commas between."""
    from holdfast.errors import ParameterError

    try:
        return [float(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            f"epsilon must be a number, or several with commas between, got {','.join(texts)!r}"
        ) from None


def _compare_methods(
    data: str,
    schema_file: Path | None,
    target: str | None,
    methods: str | None,
    *,
    announce: bool,
    **settings: Any,
) -> Comparison:
    from holdfast.dossier._comparison import compare_methods

    columns, schema, label, names = _read_rows(data, schema_file, target, methods)
    settings["delta"] = delta_or_default(settings["delta"], _row_count(columns), announce=announce)
    return compare_methods(columns, schema, target=label, methods=names, **settings)


def _compare_epsilons(
    data: str,
    schema_file: Path | None,
    target: str | None,
    methods: str,
    *,
    epsilons: list[float],
    announce: bool,
    **settings: Any,
) -> EpsilonComparison:
    from holdfast.dossier._comparison.epsilons import DEFAULT_EPSILONS, compare_epsilons

    columns, schema, label, names = _read_rows(data, schema_file, target, methods)
    epsilon_values = epsilons or list(DEFAULT_EPSILONS)
    settings["delta"] = delta_or_default(settings["delta"], _row_count(columns), announce=announce)
    return compare_epsilons(columns, schema, target=label, methods=names, epsilons=epsilon_values, **settings)


def _row_count(columns: Any) -> int:
    """How many rows there are; an owner who compares methods on their own table may know the number."""
    return len(columns[next(iter(columns))])


def _read_rows(
    data: str, schema_file: Path | None, target: str | None, methods: str | None
) -> tuple[Any, Schema, str, list[str]]:
    """Rows, schema, target and names of methods, all checked before any fit."""
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
    method_names = [name.strip() for name in methods.split(",") if name.strip()]
    rows = rows_of_source(data, name="data", csv=schema.csv, numbers=number_names(schema))
    return read_columns(rows, schema, name="data"), schema, target, method_names

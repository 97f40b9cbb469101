"""`holdfast evaluate`: how good synthetic rows are, against real ones or against what was released of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.paths import FORCE_OPTION, READ_FILE, SOURCE_TEXT, WRITTEN_FILE, Command

if TYPE_CHECKING:
    from holdfast.data._schema import Schema
    from holdfast.release import Release
    from holdfast.synth._evaluation.report import EvaluationReport

RELEASE_ENDING = ".holdfast"
PAGE_ENDINGS = (".html", ".json")


@click.command(cls=Command)
@click.argument("synthetic", type=READ_FILE)
@click.option(
    "--against",
    type=SOURCE_TEXT,
    metavar="REAL",
    help="Real rows: a file or a database URL. INTERNAL: exact numbers.",
)
@click.option(
    "--release", "release_file", type=READ_FILE, help="The release of the rows; alone, the result is PUBLIC."
)
@click.option(
    "--schema",
    "schema_file",
    type=READ_FILE,
    help="What is declared of the columns; a release holds its own.",
)
@UNIT_OPTION
@click.option("--target", help="A column to predict: train on synthetic rows, test on real ones.")
@click.option("--by", multiple=True, help="A column whose subgroups are looked at (repeatable).")
@click.option(
    "--holdout", type=SOURCE_TEXT, help="Real rows that the release did not see: a file or a database URL."
)
@click.option("--columns", help="Compare these columns only, separated by commas.")
@click.option(
    "--rows-are-public",
    is_flag=True,
    help="You declare that other rows than the release's may be shown.",
)
@click.option(
    "--audience", type=click.Choice(["public", "internal"]), help="Refuse anything that is not for them."
)
@click.option(
    "-o",
    "--output",
    type=WRITTEN_FILE,
    help="Also write a page (.html) or data (.json).",
)
@FORCE_OPTION
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def evaluate(
    synthetic: Path,
    against: str | None,
    release_file: Path | None,
    schema_file: Path | None,
    target: str | None,
    by: tuple[str, ...],
    holdout: str | None,
    columns: str | None,
    rows_are_public: bool,
    audience: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Evaluate SYNTHETIC rows (Parquet, CSV, or a release that holds them).

    With --against they are compared with real rows: marginals, correlations, predictions, subgroups, distances. Nothing
    is noised or charged, so the result is INTERNAL. With --release alone, only released values are read: noisy tables
    with their noise, and the certificate. That is PUBLIC, free, and says what it cannot know.

    \b
    Examples:
      holdfast evaluate synthetic.parquet --against clinic.parquet --schema clinic.toml --target ill --by sex
      holdfast evaluate june.holdfast --against clinic.parquet --holdout others.parquet -o inside.html
      holdfast evaluate synthetic.parquet --release june.holdfast --by sex -o public.html
    """
    from holdfast.data._whole_file import write_whole
    from holdfast.errors import ParameterError

    if output is not None:
        if output.suffix not in PAGE_ENDINGS:
            raise ParameterError(f"output must end in {' or '.join(PAGE_ENDINGS)}, got {output.name!r}")
    if against is not None and audience == "public":
        raise ParameterError(
            "audience must be 'internal' with --against: exact functions of real rows are not for the public; leave "
            "--against out and give --release"
        )
    release = _load_release(release_file or (synthetic if synthetic.suffix == RELEASE_ENDING else None))
    rows: Any = None if synthetic.suffix == RELEASE_ENDING else synthetic
    if against is not None:
        schema = _schema_of(schema_file, release)
        if rows is None:
            rows = _released_rows(_load_release(synthetic))
        report = _evaluate_against_real(
            rows, against, schema, release, target=target, by=by, holdout=holdout, columns=columns
        )
    else:
        real_row_options = {
            "--target": target,
            "--holdout": holdout,
            "--columns": columns,
            "--schema": schema_file,
        }
        report = _evaluate_against_release(
            release, rows, real_row_options, by=by, rows_are_public=rows_are_public
        )
    audience_shown = report.require_audience(audience)
    if output is not None:
        page = (
            report.to_html(audience=audience_shown)
            if output.suffix == ".html"
            else json.dumps(report.to_json(audience=audience_shown))
        )
        write_whole(output, page.encode())
    click.echo(json.dumps(report.to_json(audience=audience_shown)) if as_json else report.summary())
    if output is not None and not as_json:
        click.echo(f"{output.suffix[1:]}: {click.format_filename(output)}")


def _load_release(path: Path | None) -> Release[Any] | None:
    from holdfast.release import Release

    return None if path is None else Release.load(path)


def _released_rows(release: Release[Any] | None) -> Any:
    from holdfast.synth._contents import SyntheticContents

    assert release is not None
    return SyntheticContents.of_value(release.value).table


def _schema_of(path: Path | None, release: Release[Any] | None) -> Schema:
    from holdfast.errors import ParameterError
    from holdfast.synth._contents import SyntheticContents

    if path is not None:
        return declared_schema(path)
    if release is None:
        raise ParameterError(
            "schema must be given with --against, unless SYNTHETIC or --release is a release, which holds one; "
            "'holdfast schema draft' writes a first version"
        )
    return SyntheticContents.of_value(release.value).schema


def _evaluate_against_real(
    rows: Any,
    real: str,
    schema: Schema,
    release: Release[Any] | None,
    *,
    columns: str | None,
    **settings: Any,
) -> EvaluationReport:
    from holdfast.synth._evaluation.evaluator import evaluate_against_real

    names = None if columns is None else [name.strip() for name in columns.split(",")]
    return evaluate_against_real(rows, real, schema, release=release, columns=names, **settings)


def _evaluate_against_release(
    release: Release[Any] | None, rows: Any, real_row_options: dict[str, Any], **settings: Any
) -> EvaluationReport:
    from holdfast.errors import ParameterError
    from holdfast.synth._evaluation.evaluator import evaluate_against_release

    if release is None:
        raise ParameterError("--against or --release must be given: real rows, or the release of these rows")
    unused = [name for name, value in real_row_options.items() if value is not None]
    if unused:
        raise ParameterError(
            f"--against must be given with {', '.join(unused)}: a release alone cannot answer that"
        )
    return evaluate_against_release(release, synthetic=rows, **settings)

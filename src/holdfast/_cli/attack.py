"""`holdfast attack`: play the attacker against a saved model or synthetic rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.paths import FORCE_OPTION, PICTURE_FILE, READ_FILE, SOURCE_TEXT, WRITTEN_FILE, CommandGroup

if TYPE_CHECKING:
    from holdfast.attack._report import AttackReport
    from holdfast.data._schema import Schema

_COMMON_OPTIONS: dict[str, Callable[..., Any]] = {
    "attacks": click.option(
        "--attacks", default="all", show_default=True, help="Names, separated by commas, or all."
    ),
    "seed": click.option(
        "--seed", type=int, default=0, show_default=True, help="Of the attacker's own choices."
    ),
    "exposed": click.option(
        "--exposed", type=int, default=0, help="Also list so many of the most exposed members. Sensitive."
    ),
    "plot": click.option("--plot", type=PICTURE_FILE, help="Draw the picture (SVG)."),
    "json": click.option("--json", "as_json", is_flag=True, help="Machine-readable output."),
    "output": click.option("-o", "--output", type=WRITTEN_FILE, help="Write it to a file instead."),
    "force": FORCE_OPTION,
}
"""Options that all commands of this group have, in the order of their help."""


def _with_common_options(*, without: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    options = [option for name, option in _COMMON_OPTIONS.items() if name != without]
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


@click.group(cls=CommandGroup)
def attack() -> None:
    """Attacks on a model or on synthetic rows by their owner. What they print is about real people and stays inside."""


@attack.command()
@click.argument("model", type=READ_FILE)
@click.option(
    "--members",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records the model was trained on: a file or a database URL.",
)
@click.option(
    "--non-members",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records of the same kind that it was not trained on.",
)
@click.option("--target", required=True, help="The column that the model predicts.")
@click.option(
    "--reference",
    type=SOURCE_TEXT,
    metavar="ROWS",
    help="Records that are neither, for attacks that learn what is usual.",
)
@_with_common_options()
def membership(
    model: Path,
    members: str,
    non_members: str,
    target: str,
    reference: str | None,
    attacks: str,
    seed: int,
    exposed: int,
    plot: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """How well attacks tell the members of MODEL's training data from other people.

    MODEL is a release that `holdfast fit` or `release_.save` wrote. The figures are held against its promise; a
    contradiction is never declared here, because members and non-members may simply differ (exit code 0).

    \b
    Example:
      holdfast attack membership m.holdfast --members members.parquet --non-members other.parquet --target y
    """
    from holdfast.attack import Target
    from holdfast.attack import membership as run
    from holdfast.attack._models.target import read_records
    from holdfast.attack._records import Records

    attacked = Target.of(model)

    def read(name: str, source: str) -> Records:
        records = read_records(source, label=target, target=attacked)
        if records.left_out:
            click.echo(
                f"{name}: {records.left_out:,} rows have no value of {target}, and are left out", err=True
            )
        return records

    report = run(
        attacked,
        members=read("members", members),
        non_members=read("non-members", non_members),
        reference=None if reference is None else read("reference", reference),
        attacks=_attack_names(attacks),
        random_state=seed,
    )
    _print_report(report, exposed=exposed, plot=plot, as_json=as_json, output=output)


@attack.command()
@click.argument("rows", type=READ_FILE)
@click.option(
    "--schema", "schema_file", type=READ_FILE, help="How columns are read; a saved release brings its own."
)
@UNIT_OPTION
@click.option(
    "--members",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records that ROWS were made from: a file or a database URL.",
)
@click.option(
    "--non-members",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records of the same kind that they were not made from.",
)
@click.option(
    "--reference",
    type=SOURCE_TEXT,
    metavar="ROWS",
    help="Records that are neither; default: half of the non-members.",
)
@_with_common_options()
def synthetic(
    rows: Path,
    schema_file: Path | None,
    members: str,
    non_members: str,
    reference: str | None,
    attacks: str,
    seed: int,
    exposed: int,
    plot: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """How well someone who has only the synthetic ROWS tells the people in the data from others.

    ROWS is a Parquet or CSV file (with --schema), or a release that `holdfast synth --release` wrote, whose promise the
    figures are then held against. A contradiction is never declared here (exit code 0).

    \b
    Example:
      holdfast attack synthetic synth.parquet --schema s.toml --members in.parquet --non-members out.parquet
    """
    from holdfast.attack import synthetic_membership

    rows_seen, schema, read = _open_attacked(rows, schema_file)
    report = synthetic_membership(
        rows_seen,
        members=read(members),
        non_members=read(non_members),
        reference=None if reference is None else read(reference),
        attacks=_attack_names(attacks),
        schema=schema,
        random_state=seed,
    )
    _print_report(report, exposed=exposed, plot=plot, as_json=as_json, output=output)


@attack.command()
@click.argument("release", type=READ_FILE)
@click.option(
    "--schema",
    "schema_file",
    type=READ_FILE,
    help="How columns are read; needed for a Parquet or CSV file of rows.",
)
@UNIT_OPTION
@click.option(
    "--members",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records that RELEASE was made from: a file or a database URL.",
)
@click.option(
    "--fresh",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Other people's records; some become the attacker's own.",
)
@click.option(
    "--sensitive",
    required=True,
    help="Columns to guess, separated by commas, each in turn; a+b together; or all.",
)
@click.option("--knows", help="Columns that the attacker knows, separated by commas; default: all others.")
@click.option("--target", help="The column that a model predicts.")
@click.option(
    "--response",
    type=click.Choice(["exact", "approximate", "label"]),
    default="exact",
    show_default=True,
    help="How well the attacker knows what the model predicts.",
)
@click.option(
    "--surest",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Look at so many of the surest guesses.",
)
@_with_common_options(without="exposed")
def attribute(
    release: Path,
    schema_file: Path | None,
    members: str,
    fresh: str,
    sensitive: str,
    knows: str | None,
    target: str | None,
    response: Any,
    surest: int,
    attacks: str,
    seed: int,
    plot: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """How well a sensitive column is guessed by someone who has RELEASE, and by someone who has not.

    RELEASE is a model or synthetic rows, as a release or as a Parquet or CSV file of rows with --schema. Epsilon does
    not limit how well a column is guessed; it bounds how much better members are guessed than others, and the figures
    are held against that. A contradiction is never declared here (exit code 0).

    \b
    Example:
      holdfast attack attribute m.holdfast --members in.parquet --fresh out.parquet --sensitive gene --target dose
    """
    from holdfast.attack import Attacker, Scoring, attribute_risk

    release_seen, schema, read = _open_attacked(release, schema_file)
    targets: Any = sensitive
    if sensitive != "all":
        parts = [tuple(column.strip() for column in name.split("+")) for name in sensitive.split(",")]
        targets = [part[0] if len(part) == 1 else part for part in parts]
    report = attribute_risk(
        release_seen,
        read(members),
        fresh=read(fresh),
        sensitive=targets,
        attacker=Attacker(
            knows=None if knows is None else _split_names(knows),
            response=response,
            attacks=_attack_names(attacks),
        ),
        target=target,
        scoring=Scoring(surest=surest),
        schema=schema,
        random_state=seed,
    )
    _print_report(report, exposed=0, plot=plot, as_json=as_json, output=output)


@attack.command()
@click.argument("rows", type=READ_FILE)
@click.option(
    "--schema", "schema_file", type=READ_FILE, help="How columns are read; needed for a Parquet or CSV file."
)
@UNIT_OPTION
@click.option(
    "--members",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records that ROWS were made from: a file or a database URL.",
)
@click.option(
    "--control",
    type=SOURCE_TEXT,
    metavar="ROWS",
    required=True,
    help="Records of the same kind that were not used.",
)
@click.option(
    "--number", type=click.IntRange(1), default=500, show_default=True, help="Attacks of each kind."
)
@click.option(
    "--halves",
    metavar="COLUMNS/COLUMNS",
    help="Two sets of columns to link, as age,sex/job,pay; by default random halves.",
)
@click.option(
    "--secrets", metavar="COLUMNS", help="The columns to infer, separated by commas; by default each in turn."
)
@_with_common_options(without="exposed")
def disclosure(
    rows: Path,
    schema_file: Path | None,
    members: str,
    control: str,
    number: int,
    halves: str | None,
    secrets: str | None,
    attacks: str,
    seed: int,
    plot: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Whether synthetic ROWS single people out, link records about them, or tell their secrets.

    ROWS is a synthetic release, or a Parquet or CSV file with --schema. The same attacks are made on people who were
    not in the data: what succeeds there as well is known about everybody.

    \b
    Example:
      holdfast attack disclosure table.holdfast --members in.parquet --control out.parquet
    """
    from holdfast.attack import synthetic_disclosure

    rows_seen, schema, read = _open_attacked(rows, schema_file)
    report = synthetic_disclosure(
        rows_seen,
        members=read(members),
        control=read(control),
        attacks=_attack_names(attacks),
        number=number,
        halves=None if halves is None else [_split_names(half) for half in halves.split("/")],
        secrets=None if secrets is None else _split_names(secrets),
        schema=schema,
        random_state=seed,
    )
    _print_report(report, exposed=0, plot=plot, as_json=as_json, output=output)


def _split_names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _open_attacked(
    released: Path, schema_file: Path | None
) -> tuple[Any, Schema | None, Callable[[str], Any]]:
    """What is attacked (rows or a release), the schema that was given with it, and how files of people are read."""
    from holdfast.data._engines import rows_of_source
    from holdfast.data._engines.file_rows import number_names
    from holdfast.errors import ParameterError
    from holdfast.synth._evaluation.compared_rows import read_synthetic

    is_row_file = released.suffix in (".parquet", ".csv")
    if is_row_file and schema_file is None:
        raise ParameterError(
            "--schema must be given with a Parquet or CSV file: it says how columns are read"
        )
    schema = None if schema_file is None else declared_schema(schema_file)
    file_schema = _schema_inside(released) if schema is None else schema
    if file_schema is None:
        return released, schema, rows_of_source
    read = partial(rows_of_source, csv=file_schema.csv, numbers=number_names(file_schema))
    return (read_synthetic(released, file_schema) if is_row_file else released), schema, read


def _schema_inside(release: Path) -> Schema | None:
    """The schema of the table that a release was made of; None where the release holds none."""
    from holdfast.data._schema import Schema
    from holdfast.errors import FormatError
    from holdfast.release import Release
    from holdfast.synth._contents import SyntheticContents

    value = Release.load(release).value
    try:
        return SyntheticContents.of_value(value).schema
    except FormatError:
        stored = value.get("schema") if isinstance(value, dict) else None
        return None if stored is None else Schema.from_dict(stored)


def _attack_names(attacks: str) -> Any:
    """The names that were typed, as the library takes them: a list, or the word all."""
    return "all" if attacks == "all" else [name.strip() for name in attacks.split(",")]


def _print_report(
    report: AttackReport[Any],
    *,
    exposed: int,
    plot: Path | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Print the figures or write them to a file, and remind the owner that they are internal."""
    from holdfast.attack._report import NOTICE
    from holdfast.data._file_set import whole_files

    text = json.dumps(report.to_json()) if as_json else report.summary()
    if exposed and not as_json:
        text = f"{text}\n{report.best().most_exposed(exposed).summary()}"
    with whole_files([path for path in (output, plot) if path is not None]) as files:
        if output is not None:
            files[0].write_bytes(f"{text}\n".encode())
        if plot is not None:
            report.plot().savefig(files[-1], format="svg")
    if output is not None:
        click.echo(f"written: {click.format_filename(output)}", err=as_json)
    else:
        click.echo(text)
    click.secho(NOTICE, fg="yellow", err=True)

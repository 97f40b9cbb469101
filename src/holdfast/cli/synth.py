"""`holdfast synth`: a private synthetic table, with a certificate."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from holdfast.data.schema import Schema
    from holdfast.data.table import Table
    from holdfast.privacy.account import Account
    from holdfast.synth.rows.impossible_rows import Zeros
    from holdfast.synth.synthesizer import Synthesizer
    from holdfast.synth.workload import Workload

ENDINGS = (".parquet", ".csv", ".arrow")
_file = click.Path(exists=True, dir_okay=False, path_type=Path)
_new_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("source")
@click.option("--schema", "schema_file", type=_file, required=True, help="What is public about SOURCE.")
@click.option("--epsilon", type=float, help="The promise; with --ledger, default: all that is left.")
@click.option(
    "--delta", type=float, default=1e-9, show_default=True, help="The promise's delta; 0 for pure privacy."
)
@click.option("-o", "--output", type=_new_file, help="The rows: .parquet, .csv or .arrow.")
@click.option("--release", type=_new_file, help="Also the release: rows, noisy counts and certificates.")
@click.option(
    "--workload", "asked", default="k=3", show_default=True,
    help="What the rows are meant to answer: k=N for all N-way marginals that are not too large, or a file: "
    "JSON, a list of lists of columns; or text, a line of names for each marginal.",
)  # fmt: skip
@click.option("--method", default="auto", show_default=True, help="How the rows are made.")
@click.option("--rows", type=int, help="How many; default: as many as the table has, or is found to have.")
@click.option("--columns", help="Only these columns, separated by commas.")
@click.option(
    "--impossible", type=_file,
    help='JSON: combinations of labels that no row has, such as [{"age": "child", "work": ["full", "part"]}].',
)  # fmt: skip
@click.option(
    "--certificate-share", type=float, default=0.1, show_default=True, help="Of the budget; 0 for none."
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the certificate.")
@click.option(
    "--adjacency", type=click.Choice(["replace", "zero_out", "add_remove"]),
    help="Default: the schema's, else replace.",
)  # fmt: skip
@click.option("--n-public", type=int, help="The public number of rows, under add_remove.")
@click.option("--ledger", type=_file, help="Pay from this ledger.")
@click.option("--dataset", help="The dataset of the ledger whose limit is spent.")
@click.option(
    "--account", help="Name the ledger's account: a run that was killed goes on and pays no second time."
)
@click.option("--estimate", "--dry-run", "dry", is_flag=True, help="Sizes, noise and time; nothing is spent.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@click.option("--force", is_flag=True, help="Overwrite OUTPUT and RELEASE.")
def synth(
    source: str,
    schema_file: Path,
    epsilon: float | None,
    delta: float,
    output: Path | None,
    release: Path | None,
    asked: str,
    method: str,
    rows: int | None,
    columns: str | None,
    impossible: Path | None,
    certificate_share: float,
    confidence: float,
    adjacency: str | None,
    n_public: int | None,
    ledger: Path | None,
    dataset: str | None,
    account: str | None,
    dry: bool,
    as_json: bool,
    force: bool,
) -> None:
    """Make a private synthetic table of SOURCE, with a bound on how wrong it is.

    SOURCE is a Parquet or CSV file, a folder of them, or a DuckDB URL; it is counted where it is, and not loaded.
    Python reads the release back with holdfast.synth.Synthesizer.from_release.

    \b
    Examples:
      holdfast synth data.parquet --schema s.toml --epsilon 1 --delta 1e-9 -o synthetic.parquet
      holdfast synth data.parquet --schema s.toml --epsilon 1 --estimate
      holdfast synth data.parquet --schema s.toml --ledger budget.db --dataset clinic --account june -o june.csv
    """
    from holdfast.data.engines import open_table
    from holdfast.data.schema import Schema
    from holdfast.errors import ParameterError
    from holdfast.synth import Synthesizer

    # Everything that can be refused is, before anything is spent.
    _check_files(output, release, dry=dry, force=force)
    if (ledger is None) != (dataset is None) or (account is not None and ledger is None):
        raise ParameterError("--ledger and --dataset are given together: a ledger and a dataset of it")
    if epsilon is None and (ledger is None or dry):
        raise ParameterError("--epsilon must be given without --ledger, which holds a limit")
    schema = Schema.load(schema_file)
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    made = Synthesizer(
        1.0 if epsilon is None else epsilon, delta, method=method, columns=names, rows=rows,
        workload=read_workload(asked, schema, names), constraints=read_impossible(impossible, schema),
        confidence=confidence, certificate_share=certificate_share, key=None if account is None else "synth",
    )  # fmt: skip
    with open_table(source, schema, adjacency=adjacency, n_public=n_public) as table:
        if dry:
            told = made.estimate(table)
            click.echo(json.dumps(told.to_json()) if as_json else told.summary())
            return
        if ledger is None or dataset is None:
            made.fit(table)
            _write(made, output, release)
        else:
            with paid_by(ledger, dataset, account, epsilon=epsilon, delta=delta, table=table) as paid:
                made.fit(table, account=paid)
                _write(made, output, release)
    click.echo(json.dumps(_record(made, output, release)) if as_json else _shown(made, output, release))


def read_workload(asked: str, schema: Schema, names: tuple[str, ...] | None) -> Workload:
    """`k=3`, or the marginals that a file lists."""
    from holdfast.errors import FormatError, ParameterError
    from holdfast.synth.workload import Workload

    if asked.startswith("k="):
        if not asked[2:].isdigit():
            raise ParameterError(f"workload must be k=N with a whole number, or a file, got {asked!r}")
        return Workload.marginals(schema, int(asked[2:]), columns=names)
    text = Path(asked).read_text(encoding="utf-8")
    if text.lstrip().startswith("["):
        listed = _json(text, "workload")
        good = isinstance(listed, list) and all(
            isinstance(one, list) and all(isinstance(name, str) for name in one) for one in listed
        )
        if not good:
            raise FormatError("a workload in JSON is a list of lists of column names")
        return Workload.of(listed)
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return Workload.of([[name.strip() for name in line.split(",")] for line in lines if line])


def read_impossible(file: Path | None, schema: Schema) -> tuple[Zeros, ...]:
    """Constraints from a list of combinations of labels."""
    from holdfast.errors import FormatError
    from holdfast.synth.rows.impossible_rows import Zeros

    if file is None:
        return ()
    listed = _json(file.read_text(encoding="utf-8"), "impossible")
    if not isinstance(listed, list) or not all(isinstance(one, dict) and one for one in listed):
        raise FormatError("impossible combinations are a list of objects: column to label or list of labels")
    return tuple(Zeros.of_labels(schema, [one]) for one in listed)


def _json(text: str, name: str) -> Any:
    from holdfast.errors import FormatError

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"{name} is not valid JSON: {error.msg} in line {error.lineno}") from None


def _check_files(output: Path | None, release: Path | None, *, dry: bool, force: bool) -> None:
    from holdfast.errors import ParameterError

    if output is None and release is None and not dry:
        raise ParameterError("--output or --release must be given: there is no other place for the rows")
    if output is not None and output.suffix not in ENDINGS:
        raise ParameterError(f"output must end in one of {', '.join(ENDINGS)}, got {output.name!r}")
    for path in (output, release):
        if path is not None and path.exists() and not force:
            raise ParameterError(f"output must be a new file, got {str(path)!r}; use --force to overwrite it")


def _write(made: Synthesizer, output: Path | None, release: Path | None) -> None:
    if release is not None:
        made.save(release)
    if output is None:
        return
    table = made.release_.value["rows"]
    if output.suffix == ".parquet":
        from pyarrow import parquet

        parquet.write_table(table, output)
    elif output.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, output)
    else:
        from pyarrow import feather

        feather.write_feather(table, str(output), compression="uncompressed")


def _record(made: Synthesizer, output: Path | None, release: Path | None) -> dict[str, Any]:
    kept = made.release_
    return {
        "method": made.method_,
        "rows": kept.value["rows"].num_rows,
        "columns": kept.value["rows"].column_names,
        "private": kept.private,
        "guarantee": kept.guarantee.to_json(),
        "certificates": [certificate.to_json() for certificate in kept.certificates],
        "measurements": len(kept.value["measurements"]),
        "output": None if output is None else str(output),
        "release": None if release is None else str(release),
    }


def _shown(made: Synthesizer, output: Path | None, release: Path | None) -> str:
    places = [("rows", output), ("release", release)]
    return "\n".join([made.summary(), *(f"{name}: {path}" for name, path in places if path is not None)])


@contextmanager
def paid_by(
    ledger: Path, dataset: str, named: str | None, *, epsilon: float | None, delta: float, table: Table
) -> Iterator[Account]:
    """An account of the ledger, closed when the rows are written; a named one stays open where that failed."""
    from holdfast.ledger import Ledger
    from holdfast.privacy.curves.curve import ApproxDP, PureDP

    limit = None if epsilon is None else PureDP(epsilon) if delta == 0 else ApproxDP(epsilon, delta)
    with Ledger.open(ledger) as opened:
        name = f"synth-{secrets.token_hex(4)}" if named is None else named
        account = opened.account(
            dataset,
            name=name,
            limit=limit,
            adjacency=table.adjacency,
            unit=table.unit,
            purpose="synthetic rows",
        )
        try:
            yield account
        except BaseException:
            if named is None:
                opened.close_account(name, reason="the synthesis failed")
            raise
        opened.close_account(name, reason="the synthesis is over")

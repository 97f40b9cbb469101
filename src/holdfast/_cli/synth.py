"""`holdfast synth`: a private synthetic table, with a certificate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import DELTA_OPTION, delta_within_ledger, limit_for_table
from holdfast._cli.fit import LEVELS_OPTION, parse_levels
from holdfast._cli.paths import FORCE_OPTION, READ_FILE, SOURCE_TEXT, Command, WrittenFile
from holdfast._cli.payment import ReleaseRequest, check_payment_options, make_once, payment_options
from holdfast._cli.result_files import release_file, rows_file
from holdfast._cli.useless import EVEN_IF_USELESS_OPTION
from holdfast._regular_file import sha256_of

if TYPE_CHECKING:
    from holdfast.synth._synthesizer import Synthesizer


@click.command(cls=Command)
@click.argument("source", type=SOURCE_TEXT)
@click.option("--schema", "schema_file", type=READ_FILE, required=True, help="What is public about SOURCE.")
@UNIT_OPTION
@click.option("--epsilon", type=float, help="The promise; with --ledger, default: all that is left.")
@DELTA_OPTION
@click.option(
    "-o", "--output", type=WrittenFile(writer=rows_file), help="The rows: .parquet, .csv or .arrow."
)
@click.option(
    "--release",
    type=WrittenFile(writer=release_file),
    help="Also the release, NAME.holdfast: rows, noisy counts and certificates.",
)
@click.option(
    "--workload",
    type=SOURCE_TEXT,
    default="k=3",
    show_default=True,
    help="What the rows are meant to answer: k=N for all N-way marginals that are not too large, or a file: "
    "JSON, a list of lists of columns; or text, a line of names for each marginal.",
)
@click.option(
    "--target", help="The column that others are to predict: --workload k=N then does not forget it."
)
@click.option(
    "--objective",
    type=click.Choice(["average", "largest"]),
    default="average",
    show_default=True,
    help="What --method auto makes small: the mean error of the workload's tables, or the worst answer.",
)
@click.option("--method", default="auto", show_default=True, help="How the rows are made.")
@click.option("--rows", type=int, help="How many; default: as many as the table has, or is found to have.")
@click.option("--columns", help="Only these columns, separated by commas.")
@click.option(
    "--impossible",
    type=READ_FILE,
    help='JSON: combinations of labels that no row has, such as [{"age": "child", "work": ["full", "part"]}], and '
    'dates or whole numbers in order, such as {"in_order": ["admitted", "discharged"], "most": 90}.',
)
@click.option(
    "--certificate-share",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.1,
    show_default=True,
    help="Of the budget; 0 for none.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the certificate.")
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "zero_out", "add_remove"]),
    help="Default: the schema's, else replace.",
)
@LEVELS_OPTION
@click.option("--n-public", type=int, help="The public number of rows, under add_remove.")
@payment_options
@click.option("--estimate", "--dry-run", "dry", is_flag=True, help="Sizes, noise and time; nothing is spent.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@EVEN_IF_USELESS_OPTION
@FORCE_OPTION
def synth(
    source: str,
    schema_file: Path,
    epsilon: float | None,
    delta: float | None,
    output: Path | None,
    release: Path | None,
    workload: str,
    target: str | None,
    objective: str,
    method: str,
    rows: int | None,
    columns: str | None,
    impossible: Path | None,
    certificate_share: float,
    confidence: float,
    adjacency: str | None,
    levels: tuple[str, ...],
    n_public: int | None,
    ledger: Path | None,
    dataset: str | None,
    account: str | None,
    dry: bool,
    as_json: bool,
    even_if_useless: bool,
) -> None:
    """Make a private synthetic table of SOURCE, with a bound on how wrong it is.

    SOURCE is a Parquet or CSV file, a folder of them, or a DuckDB URL; it is counted where it is, and not loaded.
    Python reads the release back with holdfast.synth.Synthesizer.from_release. A result that was paid from a ledger and
    could not be written is kept beside the ledger: the same command writes it and pays nothing. Without a
    ledger it is kept beside its first file until all are written.

    \b
    Examples:
      holdfast synth data.parquet --schema s.toml --epsilon 1 -o synthetic.parquet
      holdfast synth data.parquet --schema s.toml --epsilon 1 --estimate
      holdfast synth data.parquet --schema s.toml --ledger budget.db --dataset clinic --account june -o june.csv
    """
    from holdfast.data._engines import open_table
    from holdfast.errors import ParameterError, without_password
    from holdfast.release._usefulness import useful_only
    from holdfast.synth import CertificateRequest, Synthesizer
    from holdfast.synth._rows.impossible_rows import read_impossible
    from holdfast.synth._workload.workload import read_workload

    # Everything that can be refused is, before anything is spent.
    _check_files(output, release, dry=dry)
    check_payment_options(ledger=ledger, dataset=dataset, account=account, epsilon=epsilon)
    if epsilon is None and dry:
        raise ParameterError("--epsilon must be given with --estimate, which looks at no ledger")
    schema = declared_schema(schema_file).require_confirmed().at_levels(parse_levels(levels))
    delta_is_given, delta = delta is not None, delta_within_ledger(delta, ledger, dataset)
    names = None if columns is None else tuple(name.strip() for name in columns.split(","))
    synthesizer = Synthesizer(
        1.0 if epsilon is None else epsilon,
        delta,
        method=method,
        columns=names,
        rows=rows,
        workload=read_workload(workload, schema, columns=names, target=target),
        target=target,
        objective=objective,
        constraints=() if impossible is None else read_impossible(impossible, schema),
        confidence=confidence,
        certificate=None if certificate_share == 0 else CertificateRequest(share=certificate_share),
        key=None if ledger is None else "synth",
    )
    only_useful = useful_only(unless=even_if_useless)
    with open_table(source, schema, adjacency=adjacency, n_public=n_public) as table, only_useful:
        if dry:
            estimate = synthesizer.estimate(table)
            click.echo(json.dumps(estimate.to_json()) if as_json else estimate.summary())
            return
        terms = {
            "do": "synth",
            "dataset": dataset,
            "source": without_password(source),
            "schema": schema.hash(),
            "epsilon": epsilon,
            "delta": delta,
            "workload": _text_or_digest(workload),
            "method": method,
            "rows": rows,
            "columns": names,
            "impossible": None if impossible is None else _text_or_digest(str(impossible)),
            "confidence": confidence,
            "certificate_share": certificate_share,
            "adjacency": table.adjacency.value,
            "n_public": n_public,
        }
        # Only where they are given: a key of a job then holds nothing about options that were left alone.
        terms |= {"target": target} if target else {}
        terms |= {"objective": objective} if objective != "average" else {}
        request = ReleaseRequest(
            verb="synth",
            terms=terms,
            purpose="synthetic rows",
            make=lambda payer: synthesizer.fit(table, account=payer).release_,
            files=[(release_file, release), (rows_file, output)],
        )
        limit = limit_for_table(epsilon, delta, table, delta_is_given=delta_is_given)
        result, was_kept = make_once(
            request, table, limit=limit, ledger=ledger, dataset=dataset, account=account
        )
    if was_kept:
        synthesizer = Synthesizer.from_release(result)
    click.echo(
        json.dumps(_record(synthesizer, output, release))
        if as_json
        else _summary(synthesizer, output, release)
    )


def _check_files(output: Path | None, release: Path | None, *, dry: bool) -> None:
    from holdfast.data._engines.files import WRITABLE_ENDINGS
    from holdfast.errors import ParameterError

    if output is None and release is None and not dry:
        raise ParameterError("--output or --release must be given: there is no other place for the rows")
    if output is not None and output.suffix not in WRITABLE_ENDINGS:
        raise ParameterError(f"output must end in one of {', '.join(WRITABLE_ENDINGS)}, got {output.name!r}")


def _text_or_digest(text: str) -> str:
    """A workload as it was typed, or the digest of the file that holds it, since a file may change."""
    path = Path(text)
    return text if text.startswith("k=") else sha256_of(path, what="the file of workload")


def _record(synthesizer: Synthesizer, output: Path | None, release: Path | None) -> dict[str, Any]:
    result = synthesizer.release_
    return {
        "method": synthesizer.method_,
        "rows": result.value["rows"].num_rows,
        "columns": result.value["rows"].column_names,
        "private": result.private,
        "useless": list(result.useless),
        "guarantee": result.guarantee.to_json(),
        "certificates": [certificate.to_json() for certificate in result.certificates],
        "measurements": len(result.value["measurements"]),
        "output": None if output is None else str(output),
        "release": None if release is None else str(release),
    }


def _summary(synthesizer: Synthesizer, output: Path | None, release: Path | None) -> str:
    places = [("rows", output), ("release", release)]
    return "\n".join(
        [
            synthesizer.summary(),
            *(f"{name}: {click.format_filename(path)}" for name, path in places if path is not None),
        ]
    )

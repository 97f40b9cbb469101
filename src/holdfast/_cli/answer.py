"""`holdfast answer`: private statistics by SQL, each number with an interval."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import DELTA_OPTION, delta_within_ledger, limit_for_table
from holdfast._cli.paths import FORCE_OPTION, READ_FILE, SOURCE_TEXT, Command, WrittenFile
from holdfast._cli.payment import ReleaseRequest, check_payment_options, make_once, payment_options
from holdfast._cli.result_files import Writer, release_file
from holdfast._cli.useless import EVEN_IF_USELESS_OPTION

if TYPE_CHECKING:
    from holdfast.release import Release
    from holdfast.statistics import StatisticsQuery

MOST_ROWS_SHOWN = 60


def answer_file(release: Release[Any], path: Path) -> None:
    """The groups and columns that the query shows, as `SELECTED_QUERY` of the running command."""
    from holdfast.data._engines.files import write_table
    from holdfast.statistics import StatisticsTable

    query: StatisticsQuery = click.get_current_context().meta[QUERY_KEY]
    write_table(query.shown(StatisticsTable(release)), path)


QUERY_KEY = "holdfast.query"
"""Where the running command keeps its query, for whoever writes its file."""


@click.command(cls=Command)
@click.argument("source", type=SOURCE_TEXT)
@click.argument("query")
@click.option("--schema", "schema_file", type=READ_FILE, required=True, help="What is public about SOURCE.")
@UNIT_OPTION
@click.option("--epsilon", type=float, help="The promise; with --ledger, default: all that is left.")
@DELTA_OPTION
@click.option(
    "-o",
    "--output",
    type=WrittenFile(writer=answer_file),
    help="What the query shows, with intervals: .parquet, .csv or .arrow.",
)
@click.option(
    "--release",
    type=WrittenFile(writer=release_file),
    help="The release, NAME.holdfast: all groups, intervals, proof.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of each interval.")
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "zero_out", "add_remove"]),
    help="Default: the schema's, else replace.",
)
@click.option("--n-public", type=int, help="The public number of rows, under add_remove.")
@payment_options
@click.option(
    "--explain", "--dry-run", "dry", is_flag=True, help="Costs and widths of intervals; nothing is spent."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@EVEN_IF_USELESS_OPTION
@FORCE_OPTION
def answer(
    source: str,
    query: str,
    schema_file: Path,
    epsilon: float | None,
    delta: float | None,
    output: Path | None,
    release: Path | None,
    confidence: float,
    adjacency: str | None,
    n_public: int | None,
    ledger: Path | None,
    dataset: str | None,
    account: str | None,
    dry: bool,
    as_json: bool,
    even_if_useless: bool,
) -> None:
    """Answer QUERY about SOURCE, each number with noise and an interval.

    QUERY is one select of SQL: count, sum, avg and their kin over declared columns, where with comparisons, group by
    declared columns, having, order by and limit on the noisy numbers. Every declared group is answered. SOURCE is a
    Parquet or CSV file, a folder of them, or a database URL; sums are computed where the rows are.
    Python reads the release back with holdfast.statistics.StatisticsTable.load.

    \b
    Examples:
      holdfast answer visits.parquet --schema s.toml --epsilon 1 --release visits.holdfast \\
        "select ward, count(*), avg(cost) from t where age >= 18 group by ward"
      holdfast answer visits.parquet --schema s.toml --epsilon 1 --explain "select ward, avg(cost) from t group by ward"
    """
    from holdfast.data._engines import open_table
    from holdfast.errors import ParameterError, without_password
    from holdfast.release._usefulness import useful_only
    from holdfast.statistics import StatisticsQuery, StatisticsTable, explain
    from holdfast.statistics import answer as answer_questions

    # Everything that can be refused is, before anything is spent.
    check_payment_options(ledger=ledger, dataset=dataset, account=account, epsilon=epsilon)
    _check_files(output, release, dry=dry)
    if epsilon is None and dry:
        raise ParameterError("--epsilon must be given with --explain, which looks at no ledger")
    schema = declared_schema(schema_file).require_confirmed()
    asked = StatisticsQuery(query, schema)
    click.get_current_context().meta[QUERY_KEY] = asked
    delta_is_given, delta = delta is not None, delta_within_ledger(delta, ledger, dataset)
    only_useful = useful_only(unless=even_if_useless)
    with open_table(source, schema, adjacency=adjacency, n_public=n_public) as table, only_useful:
        if dry:
            explanation = explain(
                table, asked.questions, epsilon=epsilon or 1.0, delta=delta, confidence=confidence
            )
            click.echo(json.dumps(explanation.to_json()) if as_json else explanation.summary())
            return
        limit = limit_for_table(epsilon, delta, table, delta_is_given=delta_is_given)
        # Nothing of the plan depends on the rows: what cannot be asked or paid is refused here.
        if epsilon is not None:
            explain(table, asked.questions, epsilon=epsilon, delta=delta, confidence=confidence)
        request = ReleaseRequest(
            verb="answer",
            terms={
                "do": "answer",
                "dataset": dataset,
                "source": without_password(source),
                "schema": schema.hash(),
                "epsilon": epsilon,
                "delta": delta,
                "query": query,
                "confidence": confidence,
                "adjacency": table.adjacency.value,
                "n_public": n_public,
            },
            purpose="statistics",
            make=lambda payer: (
                answer_questions(
                    table,
                    asked.questions,
                    epsilon=1.0 if epsilon is None else epsilon,
                    delta=delta,
                    account=payer,
                    confidence=confidence,
                    key=None if payer is None or ledger is None else "answer",
                ).release_
            ),
            files=_files(output, release),
        )
        result, _ = make_once(request, table, limit=limit, ledger=ledger, dataset=dataset, account=account)
    answers = StatisticsTable(result)
    click.echo(
        json.dumps(_record(asked, answers, output, release))
        if as_json
        else _summary(asked, answers, output, release)
    )


def _files(output: Path | None, release: Path | None) -> list[tuple[Writer, Path | None]]:
    return [(release_file, release), (answer_file, output)]


def _check_files(output: Path | None, release: Path | None, *, dry: bool) -> None:
    from holdfast.data._engines.files import WRITABLE_ENDINGS
    from holdfast.errors import ParameterError

    if output is None and release is None and not dry:
        raise ParameterError(
            "--output or --release must be given: an answer that is paid for must not be lost with the terminal"
        )
    if output is not None and output.suffix not in WRITABLE_ENDINGS:
        raise ParameterError(f"output must end in one of {', '.join(WRITABLE_ENDINGS)}, got {output.name!r}")


def _record(asked: Any, answers: Any, output: Path | None, release: Path | None) -> dict[str, Any]:
    result = answers.release_
    return {
        "rows": asked.shown(answers).to_pylist(),
        "confidence": answers.confidence,
        "private": result.private,
        "useless": list(result.useless),
        "guarantee": result.guarantee.to_json(),
        "output": None if output is None else str(output),
        "release": None if release is None else str(release),
    }


def _summary(asked: Any, answers: Any, output: Path | None, release: Path | None) -> str:
    from holdfast.statistics._text_table import text_table

    places = [("answer", output), ("release", release)]
    return "\n".join(
        [
            *(f"OF NO USE: {reason}" for reason in answers.release_.useless),
            text_table(asked.shown(answers), most_rows=MOST_ROWS_SHOWN),
            answers.release_.summary(),
            *(f"{name}: {click.format_filename(path)}" for name, path in places if path is not None),
        ]
    )

"""`holdfast fit`: a private model of one column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT, declared_schema
from holdfast._cli.default_delta import DELTA, asked_limit, fitting_delta
from holdfast._cli.paths import FORCE, READ, SOURCE, Command, WrittenFile
from holdfast._cli.result_files import release_file, weights_file, write_files
from holdfast._cli.useless import EVEN_IF_USELESS
from holdfast.learn._estimators import MODELS, estimator_of, load_model

if TYPE_CHECKING:
    from holdfast.release import Release

LEVELS = click.option(
    "--level",
    "levels",
    multiple=True,
    metavar="COLUMN=LEVEL",
    help="Take a hierarchy at this level, 0 for its categories; default: the finest that noise leaves visible.",
)
"""The option of levels, for every command that takes a schema to a fit."""
FOUND_NOTICE = "an earlier run had made it, and it was kept: nothing was spent now"


@click.command(cls=Command)
@click.argument("source", type=SOURCE)
@click.option(
    "--schema",
    "schema_file",
    type=READ,
    required=True,
    help="What is public about SOURCE.",
)
@UNIT
@click.option("--target", required=True, help="The column to predict; all other columns are features.")
@click.option("--epsilon", type=float, help="The promise; with --ledger, default: all that is left.")
@DELTA
@click.option(
    "--model", type=click.Choice(sorted(MODELS)), help="Default: logistic for classes, linear for numbers."
)
@click.option("--method", default="auto", show_default=True, help="How it is fitted privately.")
@click.option(
    "--row-norm",
    type=float,
    help="Encoded rows are clipped to this norm; default: 1, or with --method ssp or newton, which give intervals, "
    "what no declared row exceeds.",
)
@click.option("--penalty", type=float, help="Of the squared norm of the weights, for the mean loss.")
@click.option("--radius", type=float, help="A bound on the norm of the weights.")
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "zero_out", "add_remove"]),
    help="Default: the schema's, else replace.",
)
@LEVELS
@click.option("--n-public", type=int, help="The public number of rows, under add_remove.")
@click.option("--ledger", type=READ, help="Pay from this ledger.")
@click.option("--dataset", help="The dataset of the ledger whose limit is spent.")
@click.option(
    "--account",
    help="Name the ledger's account; default: a name made from what is asked. The same name, asked the same, goes on "
    "with a run that was killed, and finds a result that could not be written.",
)
@click.option(
    "-o",
    "--output",
    type=WrittenFile(writer=release_file),
    required=True,
    help="The release file, NAME.holdfast.",
)
@click.option(
    "--weights", type=WrittenFile(writer=weights_file), help="Also write the weights as plain JSON."
)
@EVEN_IF_USELESS
@FORCE
def fit(
    source: str,
    schema_file: Path,
    target: str,
    epsilon: float | None,
    delta: float | None,
    model: str | None,
    method: str,
    row_norm: float | None,
    penalty: float | None,
    radius: float | None,
    adjacency: str | None,
    levels: tuple[str, ...],
    n_public: int | None,
    ledger: Path | None,
    dataset: str | None,
    account: str | None,
    output: Path,
    weights: Path | None,
    even_if_useless: bool,
) -> None:
    """Fit a private model of the column TARGET of SOURCE and save it as a release.

    SOURCE is a Parquet or CSV file, a folder of them, or a DuckDB or PostgreSQL URL. Python loads the model back with
    holdfast.learn.load_model. A model that was paid from a ledger and could not be written is kept beside the ledger:
    the same command writes it and pays nothing. Without a ledger it is kept beside OUTPUT until WEIGHTS is written too.

    \b
    Examples:
      holdfast fit clinic.parquet --schema clinic.toml --target sex --epsilon 1 --delta 1e-6 -o model.holdfast
      holdfast fit clinic.parquet --schema clinic.toml --target sex --ledger budget.db --dataset clinic -o m.holdfast
    """
    from holdfast.data._engines import open_table
    from holdfast.errors import ParameterError, without_password
    from holdfast.ledger import Job, Ledger, once
    from holdfast.ledger._jobs import job_key, unpaid
    from holdfast.privacy._account import Account
    from holdfast.privacy._account.resume import ResumableAccount
    from holdfast.release._usefulness import useful_only

    # Everything that can be refused is, before anything is spent.
    if (ledger is None) != (dataset is None) or (account is not None and ledger is None):
        raise ParameterError("--ledger and --dataset are given together: a ledger and a dataset of it")
    if ledger is None and epsilon is None:
        raise ParameterError("--epsilon must be given without --ledger, which holds a limit")
    schema = declared_schema(schema_file).confirmed().at_levels(asked_levels(levels))
    named, delta = delta is not None, fitting_delta(delta, ledger, dataset)
    settings: dict[str, Any] = {
        "model": model,
        "penalty": penalty,
        "delta": delta,
        "method": method,
        "row_norm": row_norm,
        "radius": radius,
    }
    estimator = estimator_of(schema, target, epsilon=1.0 if epsilon is None else epsilon, **settings)

    def write(release: Release[Any]) -> None:
        write_files(release, [(release_file, output), (weights_file, weights)])

    refusing = useful_only(unless=even_if_useless)
    with open_table(source, schema, adjacency=adjacency, n_public=n_public) as table, refusing:
        limit = asked_limit(epsilon, delta, table, named=named)
        about = settings | {
            "do": "fit",
            "dataset": dataset,
            "source": without_password(source),
            "schema": schema.hash(),
            "target": target,
            "epsilon": epsilon,
            "adjacency": table.adjacency.value,
            "n_public": n_public,
        }
        if ledger is None or dataset is None:
            _, was_kept = unpaid(
                job_key("fit", about),
                beside=output,
                make=lambda: estimator.fit(table, target=target).release_,
                write=write,
            )
        else:

            def make(paid: Account) -> Release[Any]:
                fitted: Release[Any] = estimator.fit(
                    table, target=target, account=ResumableAccount.of(paid, None)
                ).release_
                return fitted

            with Ledger.open(ledger) as opened:
                done = once(
                    opened,
                    dataset,
                    Job(
                        key=account or job_key("fit", about),
                        again=account is None,
                        about=about,
                        make=make,
                        write=write,
                    ),
                    limit=limit,
                    adjacency=table.adjacency,
                    unit=table.unit,
                    purpose=f"fit {target}",
                )
            was_kept = done.found
    if was_kept:
        click.echo(FOUND_NOTICE, err=True)
    click.echo(load_model(output).summary())
    click.echo(f"release: {click.format_filename(output)}")


def asked_levels(texts: Sequence[str]) -> dict[str, int]:
    """Levels of hierarchies, as they are asked for.

    >>> asked_levels(["postcode=1"])
    {'postcode': 1}
    """
    from holdfast.errors import require

    pairs = [text.rpartition("=") for text in texts]
    for text, (name, _, level) in zip(texts, pairs, strict=True):
        good = bool(name) and level.isascii() and level.isdigit()
        require(good, "--level", text, "COLUMN=LEVEL, with a whole number, such as postcode=1")
    return {name: int(level) for name, _, level in pairs}

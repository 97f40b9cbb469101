"""`holdfast fit`: a private model of one column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdfast._cli.declared_schema import UNIT_OPTION, declared_schema
from holdfast._cli.default_delta import DELTA_OPTION, delta_within_ledger, limit_for_table
from holdfast._cli.paths import FORCE_OPTION, READ_FILE, SOURCE_TEXT, Command, WrittenFile
from holdfast._cli.payment import ReleaseRequest, check_payment_options, make_once, payment_options
from holdfast._cli.result_files import release_file, weights_file
from holdfast._cli.useless import EVEN_IF_USELESS_OPTION
from holdfast.learn._estimators import MODELS, estimator_of, load_model

if TYPE_CHECKING:
    from holdfast.privacy._account import Account
    from holdfast.release import Release

LEVELS_OPTION = click.option(
    "--level",
    "levels",
    multiple=True,
    metavar="COLUMN=LEVEL",
    help="Take a hierarchy at this level, 0 for its categories; default: the finest that noise leaves visible.",
)
"""For every command that fits a model or makes rows under a schema."""


@click.command(cls=Command)
@click.argument("source", type=SOURCE_TEXT)
@click.option(
    "--schema",
    "schema_file",
    type=READ_FILE,
    required=True,
    help="What is public about SOURCE.",
)
@UNIT_OPTION
@click.option("--target", required=True, help="The column to predict; all other columns are features.")
@click.option("--epsilon", type=float, help="The promise; with --ledger, default: all that is left.")
@DELTA_OPTION
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
@LEVELS_OPTION
@click.option("--n-public", type=int, help="The public number of rows, under add_remove.")
@payment_options
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
@EVEN_IF_USELESS_OPTION
@FORCE_OPTION
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
    from holdfast.errors import without_password
    from holdfast.privacy._account.resume import ResumableAccount
    from holdfast.release._usefulness import useful_only

    # Everything that can be refused is, before anything is spent.
    check_payment_options(ledger=ledger, dataset=dataset, account=account, epsilon=epsilon)
    schema = declared_schema(schema_file).require_confirmed().at_levels(parse_levels(levels))
    delta_is_given, delta = delta is not None, delta_within_ledger(delta, ledger, dataset)
    settings: dict[str, Any] = {
        "model": model,
        "penalty": penalty,
        "delta": delta,
        "method": method,
        "row_norm": row_norm,
        "radius": radius,
    }
    estimator = estimator_of(schema, target, epsilon=1.0 if epsilon is None else epsilon, **settings)
    only_useful = useful_only(unless=even_if_useless)
    with open_table(source, schema, adjacency=adjacency, n_public=n_public) as table, only_useful:

        def make(account: Account | None) -> Release[Any]:
            payer = None if account is None else ResumableAccount.of(account, None)
            release: Release[Any] = estimator.fit(table, target=target, account=payer).release_
            return release

        request = ReleaseRequest(
            verb="fit",
            terms=settings
            | {
                "do": "fit",
                "dataset": dataset,
                "source": without_password(source),
                "schema": schema.hash(),
                "target": target,
                "epsilon": epsilon,
                "adjacency": table.adjacency.value,
                "n_public": n_public,
            },
            purpose=f"fit {target}",
            make=make,
            files=[(release_file, output), (weights_file, weights)],
        )
        limit = limit_for_table(epsilon, delta, table, delta_is_given=delta_is_given)
        make_once(request, table, limit=limit, ledger=ledger, dataset=dataset, account=account)
    click.echo(load_model(output).summary())
    click.echo(f"release: {click.format_filename(output)}")


def parse_levels(texts: Sequence[str]) -> dict[str, int]:
    """The level of each hierarchy that --level names.

    >>> parse_levels(["postcode=1"])
    {'postcode': 1}
    """
    from holdfast.errors import require

    pairs = [text.rpartition("=") for text in texts]
    for text, (name, _, level) in zip(texts, pairs, strict=True):
        is_pair = bool(name) and level.isascii() and level.isdigit()
        require(is_pair, "--level", text, "COLUMN=LEVEL, with a whole number, such as postcode=1")
    return {name: int(level) for name, _, level in pairs}

"""`holdfast fit`: a private model of one column of a table."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from holdfast.learn.estimators import MODELS, estimator_of


@click.command()
@click.argument("source")
@click.option(
    "--schema", "schema_file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=True,
    help="What is public about SOURCE.",
)  # fmt: skip
@click.option("--target", required=True, help="The column to predict; all other columns are features.")
@click.option("--epsilon", type=float, help="The promise; with --ledger, default: all that is left.")
@click.option(
    "--delta", type=float, default=1e-6, show_default=True, help="The promise's delta; 0 for pure privacy."
)
@click.option(
    "--model", type=click.Choice(sorted(MODELS)), help="Default: logistic for classes, ridge for numbers."
)
@click.option("--method", default="auto", show_default=True, help="How it is fitted privately.")
@click.option(
    "--row-norm", type=float, default=1.0, show_default=True, help="Encoded rows are clipped to this norm."
)
@click.option("--penalty", type=float, help="Of the squared norm of the weights, for the mean loss.")
@click.option("--radius", type=float, help="A bound on the norm of the weights.")
@click.option(
    "--adjacency",
    type=click.Choice(["replace", "zero_out", "add_remove"]),
    help="Default: the schema's, else replace.",
)
@click.option("--n-public", type=int, help="The public number of rows, under add_remove.")
@click.option(
    "--ledger", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Pay from this ledger."
)
@click.option("--dataset", help="The dataset of the ledger whose limit is spent.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The release file, NAME.holdfast.",
)
@click.option(
    "--weights", type=click.Path(path_type=Path, dir_okay=False), help="Also write the weights as plain JSON."
)
@click.option("--force", is_flag=True, help="Overwrite OUTPUT and WEIGHTS.")
def fit(
    source: str,
    schema_file: Path,
    target: str,
    epsilon: float | None,
    delta: float,
    model: str | None,
    method: str,
    row_norm: float,
    penalty: float | None,
    radius: float | None,
    adjacency: str | None,
    n_public: int | None,
    ledger: Path | None,
    dataset: str | None,
    output: Path,
    weights: Path | None,
    force: bool,
) -> None:
    """Fit a private model of the column TARGET of SOURCE and save it as a release.

    SOURCE is a Parquet or CSV file, a folder of them, or a DuckDB or PostgreSQL URL. Python loads the model back with
    holdfast.learn.load_model.

    \b
    Examples:
      holdfast fit clinic.parquet --schema clinic.toml --target sex --epsilon 1 --delta 1e-6 -o model.holdfast
      holdfast fit clinic.parquet --schema clinic.toml --target sex --ledger budget.db --dataset clinic -o m.holdfast
    """
    from holdfast.data.engines import open_table
    from holdfast.data.schema import Schema
    from holdfast.errors import ParameterError
    from holdfast.ledger import Ledger
    from holdfast.privacy.account.request import limit_of
    from holdfast.release.archive import require_writable

    # Everything that can be refused is, before anything is spent.
    require_writable(output, force=force)
    if weights is not None:
        require_writable(weights, force=force, name="weights")
    if (ledger is None) != (dataset is None):
        raise ParameterError("--ledger and --dataset are given together: a ledger and a dataset of it")
    if ledger is None and epsilon is None:
        raise ParameterError("--epsilon must be given without --ledger, which holds a limit")
    schema = Schema.load(schema_file)
    estimator = estimator_of(
        schema, target, model, penalty=penalty, epsilon=1.0 if epsilon is None else epsilon, delta=delta,
        method=method, row_norm=row_norm, radius=radius,
    )  # fmt: skip
    with open_table(source, schema, adjacency=adjacency, n_public=n_public) as table:
        if ledger is None or dataset is None:
            estimator.fit(table, target=target)
        else:
            limit = None if epsilon is None else limit_of(epsilon, delta)
            name, purpose = f"fit-{secrets.token_hex(4)}", f"fit {target}"
            with (
                Ledger.open(ledger) as opened,
                opened.paid(
                    dataset,
                    name=name,
                    limit=limit,
                    adjacency=table.adjacency,
                    unit=table.unit,
                    purpose=purpose,
                ) as account,
            ):
                estimator.fit(table, target=target, account=account)
    estimator.release_.save(output)
    if weights is not None:
        weights.write_text(estimator.to_json() + "\n", encoding="utf-8")
    click.echo(estimator.summary())
    click.echo(f"release: {output}")

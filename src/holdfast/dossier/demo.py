"""The demo: Adult, a ledger with a limit, three private tables, and the page about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from holdfast.certificate import Certificate
from holdfast.data import Table, adult_schema, open_table
from holdfast.data.columns import Categorical, Numeric
from holdfast.data.sensitivity import counts_l2
from holdfast.dossier.dossier import Bars, Dossier
from holdfast.ledger import Ledger
from holdfast.privacy.account import Account
from holdfast.privacy.curve import ApproxDP
from holdfast.privacy.mechanisms import Gaussian
from holdfast.release import Release

LIMIT = ApproxDP(2.0, 1e-6)
"""What the data's owner allows in all."""
SPEND = ApproxDP(1.0, 1e-6)
"""What this release may cost."""
TABLES = (("education",), ("marital_status", "income"), ("sex", "income"))
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Demo:
    """Where everything went."""

    page: Path
    release: Path
    ledger: Path
    summary: str


def run_demo(output: Path, *, step: Callable[[str], None] = lambda text: None) -> Demo:
    """Release three tables of Adult through a ledger; run again, it pays nothing and changes nothing."""
    output.mkdir(parents=True, exist_ok=True)
    step("opening the table (DuckDB, declared schema)")
    with as_file(files("holdfast.data") / "bundled" / "adult_train.parquet") as path:
        table = open_table(str(path), adult_schema())
        step("opening the ledger")
        ledger = Ledger.open_or_create(output / "ledger.db")
        ledger.dataset(
            "adult",
            limit=LIMIT,
            currency="gdp",
            adjacency=table.adjacency,
            approver="the demo",
            purpose="a tour",
        )
        account = ledger.account(
            "adult", name="three tables", limit=SPEND, purpose="show what a release looks like"
        )
        step("counting, charging, adding noise")
        release = release_tables(table, account)
    step("writing release and page")
    release.save(output / "release.holdfast")
    error = release.certificates[0].alpha
    page = Dossier(
        title="Adult census income: three tables",
        release=release,
        tables=[bars(table, names, release.value[" x ".join(names)], error) for names in TABLES],
    ).save(output / "index.html")
    return Demo(
        page=page, release=output / "release.holdfast", ledger=output / "ledger.db", summary=release.summary()
    )


def release_tables(table: Table, account: Account) -> Release[dict[str, np.ndarray]]:
    """Each table of counts once, with equal shares of the account."""
    shares = account.split(*[1 / len(TABLES)] * len(TABLES)) if len(TABLES) > 1 else (account,)
    sensitivity = counts_l2(table.adjacency, table.unit)
    # Equal shares of mu^2: each share's own least noise, rounded towards privacy.
    mechanism = Gaussian.within(shares[0].limit, l2_sensitivity=sensitivity, adjacency=account.adjacency)
    counts = table.counts(TABLES)
    noisy = {
        " x ".join(names): share.release(mechanism, value, key="/".join(names), label=" x ".join(names))
        for names, share, value in zip(TABLES, shares, counts, strict=True)
    }
    return Release.of(
        account,
        noisy,
        method="tables of counts with Gaussian noise",
        parameters={"sigma": float(mechanism.sigma), "l2_sensitivity": sensitivity},
        schema_hash=table.schema.hash(),
        assumptions=table.assumptions,
        certificates=[largest_error(float(mechanism.sigma), cells=sum(value.size for value in counts))],
    )


def largest_error(sigma: float, *, cells: int) -> Certificate:
    """A bound on all cells at once, from the law of the noise alone."""
    from scipy.special import ndtri

    # Union bound over cells; rounding to whole counts adds at most one half.
    alpha = -sigma * float(ndtri((1 - CONFIDENCE) / (2 * cells))) + 0.5
    return Certificate(
        name="largest error",
        statement="noise only, by its declared law and a union bound over cells",
        alpha=float(np.ceil(alpha)),
        confidence=CONFIDENCE,
        query_class=f"all {cells} released counts",
    )


def bars(table: Table, names: tuple[str, ...], counts: np.ndarray, error: float) -> Bars:
    """The released table as rows of a chart."""
    labels = [labels_of(table.schema[name]) for name in names]
    pairs = [
        " / ".join(labels[axis][place] for axis, place in enumerate(cell))
        for cell in np.ndindex(*counts.shape)
    ]
    return Bars(
        title=" x ".join(names), labels=tuple(pairs), counts=tuple(counts.ravel().tolist()), error=error
    )


def labels_of(column: Categorical | Numeric) -> tuple[str, ...]:
    """The names of a column's cells."""
    return tuple(str(label) for label in column.labels)

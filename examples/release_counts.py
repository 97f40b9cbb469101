"""From a table to a release: schema, table, counts, account, noise, file.

The bundled Adult data are opened under their declared schema, counted by education and income, and released
with exact Gaussian noise through an account. The bars show the released counts with the interval that holds
for all of them together with 95 % confidence.

    python examples/release_counts.py [PICTURE]

Noise is secure, so every run is another release, and each costs its budget. (The docs' picture has a seed.)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from holdfast import Account, Release
from holdfast.data import Table, adult, adult_schema
from holdfast.data._sensitivity import counts_l2
from holdfast.privacy import ApproxDP, Gaussian

COLUMNS = ("education", "income")


def release(table: Table, *, seed: int | None = None) -> Release[Any]:
    """The noisy table of counts with its promise and its history."""
    account = Account(
        ApproxDP(0.5, 1e-6), adjacency=table.adjacency, unit=table.unit, currency="gdp", seed=seed
    )
    # One person moves a table of counts by at most this; the mechanism is calibrated to it, rounded up.
    sensitivity = counts_l2(table.adjacency, table.unit)
    mechanism = Gaussian.within(account.limit, l2_sensitivity=sensitivity, adjacency=table.adjacency)
    counts = table.counts([COLUMNS])[0]
    noisy = account.release(mechanism, counts, label=" x ".join(COLUMNS))
    return Release.of(
        account,
        noisy,
        method="a table of counts with Gaussian noise",
        parameters={"columns": list(COLUMNS), "sigma": float(mechanism.sigma)},
        schema_hash=table.schema.hash(),
    )


def draw(made: Release[Any]) -> Any:
    """Released counts by education, for both incomes. Nothing but the release and the schema is needed."""
    from scipy.special import ndtri

    counts, labels = np.asarray(made.value), adult_schema()["education"].labels
    # All cells at once: union bound on normal tails, and half a count for rounding.
    error = -made.provenance.parameters["sigma"] * float(ndtri(0.05 / (2 * counts.size))) + 0.5
    figure, axes = plt.subplots(figsize=(7.2, 5.0), layout="constrained")
    places = np.arange(counts.shape[0])
    for income, (name, colour) in enumerate((("at most 50K", "#0072b2"), ("more than 50K", "#e69f00"))):
        axes.barh(
            places + 0.4 * (income - 0.5),
            counts[:, income],
            height=0.4,
            color=colour,
            label=name,
            xerr=error,
            error_kw={"elinewidth": 1.2, "ecolor": "#1c2733"},
        )
    axes.set(xlabel="released count", yticks=places, yticklabels=labels, xlim=(0, None))
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"Adult: education by income, ±{error:.0f} for all cells", loc="left")
    axes.legend(frameon=False, title="income")
    return figure


def picture(seed: int | None = None) -> Any:
    """A release of the bundled data, drawn."""
    return draw(release(adult(), seed=seed))


if __name__ == "__main__":
    made = release(adult())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "education.holdfast"
        made.save(path)
        assert Release.load(path) == made
    print(made.summary())
    target = sys.argv[1] if len(sys.argv) > 1 else "release_counts.svg"
    draw(made).savefig(target)
    print(f"picture: {target}")

"""A synthetic table with a certificate: what the rows say, and how wrong it can be.

Five columns of the bundled Adult data become synthetic rows by noisy marginals on a tree. The picture shows the share
of high incomes by education on the released rows, with the interval that the release itself claims for the table's own.

    python examples/synthetic_table.py [PICTURE]

Noise is secure, so every run is another release, and each costs its budget. (The docs' picture has a seed.)
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from holdfast.data import adult, adult_schema
from holdfast.errors import NotPrivateWarning
from holdfast.synth import Synthesizer, Workload

COLUMNS = ("education", "marital_status", "sex", "race", "income")
PAIR = ("education", "income")


def synthesise(*, seed: int | None = None) -> Synthesizer:
    """Rows, noisy counts and a certificate, at epsilon 1."""
    pairs = Workload.marginals(adult_schema(), 2, columns=COLUMNS)
    return Synthesizer(
        epsilon=1.0, delta=1e-6, method="tree", columns=COLUMNS, workload=pairs, random_state=seed
    ).fit(adult())


def draw(made: Synthesizer) -> Any:
    """Answers with their intervals; nothing but the release and the schema is needed."""
    labels = adult_schema()["education"].labels
    found = made.answer(Workload.of([PAIR]))[PAIR]
    shape = (len(labels), 2)
    middle, low, high = (part.reshape(shape)[:, 1] for part in (found.estimates, found.low, found.high))
    figure, axes = plt.subplots(figsize=(7.2, 5.0), layout="constrained")
    places = np.arange(len(labels))
    axes.hlines(places, low, high, color="#0072b2", linewidth=4, alpha=0.35, label=f"95 %, by {found.source}")
    axes.plot(middle, places, "o", color="#0072b2", label="released rows")
    axes.set(
        xlabel="share of all people with more than 50K", yticks=places, yticklabels=labels, xlim=(0, None)
    )
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    assert made.certificate_ is not None
    axes.set_title(f"Synthetic Adult: every pair within {made.certificate_.alpha:.4f}", loc="left")
    axes.legend(frameon=False, loc="lower right")
    return figure


def picture(seed: int | None = None) -> Any:
    """A synthetic table of the bundled data, drawn."""
    with warnings.catch_warnings():
        if seed is not None:
            warnings.simplefilter("ignore", NotPrivateWarning)
        return draw(synthesise(seed=seed))


if __name__ == "__main__":
    made = synthesise()
    print(made.summary())
    target = sys.argv[1] if len(sys.argv) > 1 else "synthetic_table.svg"
    draw(made).savefig(target)
    print(f"picture: {target}")

"""What privacy costs: accuracy of a private logistic regression on Adult, against epsilon.

The bundled Adult data are encoded by their declared schema. One account pays for all fits: its limit is the
promise for the whole picture, and each fit gets a share of it.

    python examples/plot_private_logistic.py [PICTURE]

Noise is secure, so every run is another release, and each costs its budget. (The docs' picture has a seed.)
"""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from holdfast import Account, Encoder
from holdfast.data import Order, Table, adult
from holdfast.errors import NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression
from holdfast.privacy import GaussianDP

LARGEST = 0.4
SHARES = (1 / 1024, 1 / 256, 1 / 64, 1 / 16, 1 / 4, 1)
"""Squares of mu, relative to the largest: what adds up in Gaussian differential privacy."""
DELTA = 1e-6


def encoded(table: Table) -> tuple[Any, Any]:
    """Rows and labels; nothing is learned from the data, so nothing is paid for it."""
    columns = [name for name in table.schema.names if name not in ("income", "fnlwgt")]
    encoder = Encoder(table.schema, columns, intercept=False)
    batches = list(table.batches([*columns, "income"], order=Order.irrelevant()))
    return (
        np.concatenate([encoder.encode(batch) for batch in batches]),
        np.concatenate([batch.codes("income") for batch in batches]),
    )


def accuracies(*, seed: int | None = None) -> tuple[list[tuple[float, float]], float, float]:
    """(epsilon, accuracy on the test rows) of each fit, the epsilon of all together, the accuracy without."""
    (X, y), (X_test, y_test) = encoded(adult("train")), encoded(adult("test"))
    account = Account(GaussianDP(LARGEST * math.sqrt(sum(SHARES))), adjacency="zero_out", seed=seed)
    shares = account.split(*(0.999 * share / sum(SHARES) for share in SHARES))  # a hair for rounding
    points = []
    for share in shares:
        model = PrivateLogisticRegression(classes=[0, 1]).fit(X, y, account=share)
        points.append((share.limit.epsilon(DELTA), float(model.score(X_test, y_test))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        exact = PrivateLogisticRegression(epsilon=math.inf, penalty=1e-6, classes=[0, 1]).fit(X, y)
    return points, account.limit.epsilon(DELTA), float(exact.score(X_test, y_test))


def draw(points: list[tuple[float, float]], together: float, exact: float, majority: float = 0.7638) -> Any:
    """Accuracy against epsilon, between the majority class and no privacy."""
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    epsilons, scores = zip(*points, strict=True)
    axes.axhline(exact, color="#1c2733", linewidth=1.2)
    axes.text(epsilons[0], exact + 0.001, "without privacy", va="bottom")
    axes.axhline(majority, color="#1c2733", linewidth=1.2, linestyle=":")
    axes.text(epsilons[-1], majority + 0.001, "always the larger class", ha="right", va="bottom")
    axes.plot(epsilons, scores, marker="o", color="#0072b2")
    axes.set(xscale="log", xlabel=f"epsilon at delta {DELTA:g}, zero_out", ylabel="accuracy on new rows")
    axes.set_ylim(majority - 0.005, exact + 0.012)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"Adult income: six fits, epsilon {together:.2g} for all of them together", loc="left")
    return figure


def picture(seed: int | None = None) -> Any:
    """Six fits of the bundled data, drawn."""
    with warnings.catch_warnings():
        if seed is not None:
            warnings.simplefilter("ignore", NotPrivateWarning)
        return draw(*accuracies(seed=seed))


if __name__ == "__main__":
    found = accuracies()
    for epsilon, accuracy in found[0]:
        print(f"epsilon {epsilon:6.3f}: accuracy {accuracy:.4f}")
    print(f"without privacy: {found[2]:.4f}; all fits together: epsilon {found[1]:.3f}")
    if len(sys.argv) > 1:
        draw(*found).savefig(sys.argv[1])
        print(f"picture: {sys.argv[1]}")

"""Small tables with a known structure, and one release of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from holdfast.data import Categorical, Numeric, Schema
from holdfast.synth import Synthesizer, Workload

SCHEMA = Schema(
    [
        Numeric("age", 0, 80, bins=8),
        Categorical("sex", ["F", "M"]),
        Categorical("region", ["north", "south", "islands"]),
        Categorical("ill", ["no", "yes"]),
    ],
    adjacency="replace",
)


def people(rows: int = 1200, seed: int = 0) -> dict[str, Any]:
    """Illness depends on age and sex; few live on the islands."""
    draw = np.random.default_rng(seed)
    age = draw.uniform(0, 80, rows)
    sex = draw.choice(["F", "M"], rows)
    ill = draw.random(rows) < 1 / (1 + np.exp(-(age - 45) / 8 - 1.2 * (sex == "M")))
    return {
        "age": age,
        "sex": sex,
        "region": draw.choice(["north", "south", "islands"], rows, p=[0.6, 0.39, 0.01]),
        "ill": np.where(ill, "yes", "no"),
    }


@cache
def released() -> Synthesizer:
    """Rows of `people()`, from noisy tables of one and of two columns."""
    asked = Workload.marginals(SCHEMA, 2).with_lower_marginals()
    return Synthesizer(epsilon=1.0, delta=1e-6, method="gaussian", workload=asked).fit(people(), SCHEMA)

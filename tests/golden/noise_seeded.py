"""Makes noise_seeded.json: the first draws of every exact sampler from fixed seeds.

    python tests/golden/noise_seeded.py

An exact sampler is a function of its random words alone, so these integers are the same on every
machine and with every version of NumPy's and SciPy's elementary functions.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from holdfast.noise._bernoulli import bernoulli, bernoulli_exp
from holdfast.noise._choose import choose_many, permute_and_flip
from holdfast.noise._gaussian import discrete_gaussian, rounded_gaussian
from holdfast.noise._laplace import discrete_laplace
from holdfast.noise._source import Source
from holdfast.noise._uniform import integers, permutation

GOLDEN = Path(__file__).with_suffix(".json")


def draws() -> dict[str, Any]:
    """Every exact sampler, a few of its parameters, twelve draws each."""
    drawn: dict[str, Any] = {}
    for width in (Fraction(1, 2), Fraction(22, 7), Fraction(1000), Fraction(2**20), Fraction(2**44, 3)):
        drawn[f"discrete_laplace {width}"] = discrete_laplace(Source(seed=1), scale=width, size=12)
        drawn[f"discrete_gaussian {width}"] = discrete_gaussian(Source(seed=2), sigma=width, size=12)
        drawn[f"rounded_gaussian {width}"] = rounded_gaussian(Source(seed=3), sigma=width, size=12)
    scores, factor = np.array([3, 1, 4, 1, 5, 9, 2, 6]), Fraction(1, 3)
    drawn["choose_many"] = choose_many(Source(seed=4), scores=scores, factor=factor, size=12)
    source = Source(seed=5)
    flips = [permute_and_flip(source, scores=scores, factor=factor) for _ in range(12)]
    drawn["permute_and_flip"] = np.array(flips)
    drawn["bernoulli"] = bernoulli(Source(seed=6), p=Fraction(1, 3), size=12).astype(int)
    drawn["bernoulli_exp"] = bernoulli_exp(Source(seed=7), gamma=Fraction(1, 3), size=12).astype(int)
    drawn["integers"] = integers(Source(seed=8), bound=1000, size=12)
    drawn["permutation"] = permutation(Source(seed=9), 12)
    return {name: values.tolist() for name, values in drawn.items()}


if __name__ == "__main__":
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(values)}" for name, values in draws().items())
    GOLDEN.write_text(f"{{\n{lines}\n}}\n")

"""Golden marginals from mbi 2.0.0 (JAX; an environment of its own).

    python -m venv mbi && mbi/bin/pip install mbi==2.0.0
    JAX_ENABLE_X64=1 mbi/bin/python tests/golden/graphical_mbi.py > tests/golden/graphical_mbi.json

A ring of four columns and a leaf, measured without noise, so that every estimator that starts from the uniform
distribution must find the same model of maximum entropy: its marginals, inside cliques and across them.
"""

from __future__ import annotations

import json
import sys

import mbi
import numpy as np
from mbi import estimation

DOMAIN = {"a": 3, "b": 4, "c": 2, "d": 5, "e": 3}
MEASURED = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("d", "e")]
PROJECTED = [("a", "c"), ("b", "d"), ("a", "e"), ("b", "e"), ("a", "b", "c", "d"), ("e",)]
TOTAL = 1000.0


def marginal(joint: np.ndarray, columns: tuple[str, ...]) -> np.ndarray:
    gone = tuple(axis for axis, name in enumerate(DOMAIN) if name not in columns)
    return np.asarray(joint.sum(axis=gone))


def main() -> None:
    joint = np.random.default_rng(0).random(tuple(DOMAIN.values())) ** 2
    joint *= TOTAL / joint.sum()
    domain = mbi.Domain(tuple(DOMAIN), tuple(DOMAIN.values()))
    measurements = [mbi.LinearMeasurement(marginal(joint, c).ravel(), c, 1.0) for c in MEASURED]
    model = estimation.MirrorDescent().estimate(domain, measurements, known_total=TOTAL, iters=20_000)
    json.dump(
        {
            "domain": DOMAIN,
            "total": TOTAL,
            "tolerance": 1e-4,
            "measurements": [
                {"columns": c, "values": marginal(joint, c).round(9).tolist()} for c in MEASURED
            ],
            "projections": [
                {"columns": c, "values": np.asarray(model.project(c).values, dtype=float).round(6).tolist()}
                for c in PROJECTED
            ],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main()

"""Golden numbers from prv-accountant 0.2.0 (needs numpy < 2, hence its own environment).

    python -m venv prv && prv/bin/pip install 'numpy<2' prv-accountant==0.2.0
    prv/bin/python tests/golden/accounting_prv.py > tests/golden/accounting_prv.json

Each entry: parameters, delta, and the certified [lower, estimate, upper] of epsilon.
"""

from __future__ import annotations

import json
import sys

from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import (
    GaussianMechanism,
    LaplaceMechanism,
    PoissonSubsampledGaussianMechanism,
)

CASES = {
    "dp_sgd": ([("subsampled_gaussian", 0.8, 0.01, 3000)], 1e-5),
    "dp_sgd_rare": ([("subsampled_gaussian", 1.0, 0.001, 20000)], 1e-6),
    "dp_sgd_half": ([("subsampled_gaussian", 4.0, 0.5, 200)], 1e-6),
    "heterogeneous": (
        [("gaussian", 5.0, 1.0, 10), ("laplace", 0.1, 1.0, 20), ("subsampled_gaussian", 1.0, 0.01, 1000)],
        1e-6,
    ),
}


def made(kind: str, noise: float, rate: float) -> object:
    if kind == "gaussian":
        return GaussianMechanism(noise_multiplier=noise)
    if kind == "laplace":
        return LaplaceMechanism(mu=noise)  # mu = sensitivity / scale
    return PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=noise)


def main() -> None:
    out = {}
    for name, (parts, delta) in CASES.items():
        counts = [count for *_, count in parts]
        accountant = PRVAccountant(
            prvs=[made(kind, noise, rate) for kind, noise, rate, _ in parts],
            max_self_compositions=counts,
            eps_error=0.01,
            delta_error=1e-10,
        )
        low, middle, high = accountant.compute_epsilon(delta, counts)
        out[name] = {"parts": parts, "delta": delta, "epsilon": [low, middle, high]}
    json.dump(out, sys.stdout, indent=1)


if __name__ == "__main__":
    main()

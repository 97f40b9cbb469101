"""anonymeter's three evaluators on one pair of tables, in its own environment; one line of JSON for each.

Run by studies/benchmarks/disclosure.py: python disclosure_peers_worker.py FOLDER ATTACKS SEED SECRET HALF HALF
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator


def main() -> None:
    """All three, with the control group."""
    warnings.simplefilter("ignore")
    folder, attacks, seed, secret = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    halves = tuple(part.split(",") for part in sys.argv[5:7])
    ori, syn, control = (
        pd.read_csv(folder / f"{name}.csv", keep_default_na=False) for name in ("members", "rows", "control")
    )
    np.random.seed(seed)  # noqa: NPY002  it draws from the global generator
    others = [name for name in ori.columns if name != secret]
    evaluators: dict[str, Callable[[], Any]] = {
        "singling out": lambda: SinglingOutEvaluator(
            ori=ori, syn=syn, control=control, n_attacks=attacks, n_cols=3
        ),
        "linkability": lambda: LinkabilityEvaluator(
            ori=ori, syn=syn, control=control, n_attacks=attacks, aux_cols=halves, n_neighbors=1
        ),
        f"inference of {secret}": lambda: InferenceEvaluator(
            ori=ori, syn=syn, control=control, n_attacks=attacks, aux_cols=others, secret=secret
        ),
    }
    for name, make in evaluators.items():
        begin = time.process_time()
        evaluator = make()
        kind: dict[str, Any] = {"mode": "multivariate"} if name == "singling out" else {"n_jobs": 1}
        evaluator.evaluate(**kind)
        found = evaluator.results()
        risk = found.risk()
        line = {
            "attack": name,
            "seconds": time.process_time() - begin,
            "members": found.attack_rate.value,
            "control": found.control_rate.value,
            "risk": risk.value,
            "low": risk.ci[0],
            "high": risk.ci[1],
        }
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()

"""DP-EBM's fits, inside its own environment: frames in Parquet files, one JSON line per fit out.

Run by additive.py; imports neither holdfast nor anything of this folder. Columns are declared to it as to us: bounds of
numbers, kinds of columns, bounds of the target.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "100 rounds, rate .1, 6 leaves, 64 bins": {
        "max_rounds": 100,
        "learning_rate": 0.1,
        "max_leaves": 6,
        "max_bins": 64,
    },
}


def main() -> None:
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor
    from sklearn.metrics import r2_score, roc_auc_score

    told = json.loads(sys.argv[1])
    train, test = (pd.read_parquet(told[part]) for part in ("train", "test"))
    target, columns = told["target"], told["columns"]
    kinds = ["continuous" if name in told["bounds"] else "nominal" for name in columns]
    # It takes no missing numbers: they become the middle of the declared range.
    for frame in (train, test):
        for name, (low, high) in told["bounds"].items():
            frame[name] = frame[name].astype(float).fillna((low + high) / 2).clip(low, high)
        for name in set(columns) - set(told["bounds"]):
            frame[name] = frame[name].astype(object).where(frame[name].notna(), "missing").astype(str)
    bounds = {name: tuple(pair) for name, pair in told["bounds"].items()}
    for setting, options in [one for _ in range(told["fits"]) for one in SETTINGS.items()]:
        shared = {
            "epsilon": told["epsilon"],
            "delta": told["delta"],
            "privacy_bounds": bounds,
            "feature_types": kinds,
            "n_jobs": 1,
            **options,
        }
        started = time.process_time()
        if told["classes"]:
            model = DPExplainableBoostingClassifier(**shared)
            model.fit(train[columns], train[target])
            spent = time.process_time() - started
            probability = model.predict_proba(test[columns])
            right = float(np.mean(model.predict(test[columns]) == test[target]))
            scores = [right]
            if len(told["classes"]) == 2:
                scores.append(float(roc_auc_score(test[target] == model.classes_[1], probability[:, 1])))
        else:
            low, high = told["target_bounds"]
            model = DPExplainableBoostingRegressor(privacy_target_min=low, privacy_target_max=high, **shared)
            model.fit(train[columns], train[target].clip(low, high))
            spent = time.process_time() - started
            scores = [float(r2_score(test[target].clip(low, high), model.predict(test[columns])))]
        print(json.dumps({"setting": setting, "scores": scores, "cpu": spent}), flush=True)


if __name__ == "__main__":
    main()

"""ART's attribute attacks and anonymeter's inference, inside their own environment: an .npz file in, JSON lines out.

Run by attribute.py; imports neither holdfast nor anything of this folder. A peer that is not installed gives a line
that says so.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np

warnings.simplefilter("ignore")


def art(data: Any) -> None:
    from art.attacks.inference.attribute_inference import (
        AttributeInferenceBaseline,
        AttributeInferenceBlackBox,
    )
    from art.estimators.classification.scikitlearn import SklearnClassifier
    from sklearn.tree import DecisionTreeClassifier

    members, fresh, own = data["members"], data["fresh"], data["own"]
    model = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(
        members[:, :-1], members[:, -1].astype(int)
    )
    wrapped = SklearnClassifier(model)
    place, values = int(data["place"]), [0.0, 1.0]
    np.random.seed(0)  # noqa: NPY002  ART draws from the global generator
    groups = {"members": members[:2000], "fresh": fresh[:2000]}

    def without(rows: Any) -> Any:
        return np.delete(rows[:, :-1], place, axis=1)

    start = time.process_time()
    baseline = AttributeInferenceBaseline(attack_feature=place, attack_model_type="rf")
    baseline.fit(own[:, :-1])
    rates = {
        name: float(np.mean(np.ravel(baseline.infer(without(rows), values=values)) == rows[:, place]))
        for name, rows in groups.items()
    }
    print(
        json.dumps({"peer": "ART baseline, rf", "seconds": time.process_time() - start, **rates}), flush=True
    )
    start = time.process_time()
    attack = AttributeInferenceBlackBox(wrapped, attack_feature=place, attack_model_type="rf")
    attack.fit(own[:, :-1], own[:, -1].astype(int))
    rates = {}
    for name, rows in groups.items():
        said = wrapped.predict(rows[:, :-1]).argmax(axis=1).reshape(-1, 1)
        guessed = attack.infer(without(rows), rows[:, -1].astype(int), pred=said, values=values)
        rates[name] = float(np.mean(np.ravel(guessed) == rows[:, place]))
    print(
        json.dumps({"peer": "ART black box, rf", "seconds": time.process_time() - start, **rates}), flush=True
    )


def anonymeter(data: Any) -> None:
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator

    names = [f"c{place}" for place in range(data["members"].shape[1])]
    frames = [pd.DataFrame(data[key], columns=names) for key in ("members", "rows", "fresh")]
    secret = names[int(data["place"])]
    for frame in frames:
        for place in data["categories"]:
            frame[names[place]] = frame[names[place]].astype(int).astype(str)
    start = time.process_time()
    made = InferenceEvaluator(
        ori=frames[0], syn=frames[1], control=frames[2], aux_cols=[name for name in names if name != secret],
        secret=secret, n_attacks=2000,
    )  # fmt: skip
    made.evaluate(n_jobs=1)
    found = made.results()
    line = {
        "peer": "anonymeter inference", "seconds": time.process_time() - start,
        "members": found.attack_rate.value, "fresh": found.control_rate.value,
    }  # fmt: skip
    print(json.dumps(line), flush=True)


def main() -> None:
    """Arguments: file."""
    data = np.load(sys.argv[1])
    for name, run in (("ART", art), ("anonymeter", anonymeter)):
        try:
            run(data)
        except ImportError as error:
            print(json.dumps({"peer": name, "missing": type(error).__name__}), flush=True)


if __name__ == "__main__":
    main()

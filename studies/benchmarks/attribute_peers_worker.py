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
    """Every attack of ART that runs without a network, on the same features, own people and labels as ours."""
    import art as toolbox
    from art.attacks.inference.attribute_inference import (
        AttributeInferenceBaseline,
        AttributeInferenceBaselineTrueLabel,
        AttributeInferenceBlackBox,
        AttributeInferenceWhiteBoxDecisionTree,
        AttributeInferenceWhiteBoxLifestyleDecisionTree,
    )
    from art.estimators.classification.scikitlearn import ScikitlearnDecisionTreeClassifier
    from sklearn.tree import DecisionTreeClassifier

    place, values = int(data["coded_place"]), [0.0, 1.0]
    features = {name: data[f"coded_{name}"] for name in ("members", "fresh", "own")}
    labels = {name: data[f"labels_{name}"].astype(int) for name in features}
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(
        features["members"], labels["members"]
    )
    wrapped = ScikitlearnDecisionTreeClassifier(tree)
    groups = {name: (features[name][:2000], labels[name][:2000]) for name in ("members", "fresh")}
    own, own_labels = features["own"], labels["own"]
    share = float(own[:, place].mean())
    print(json.dumps({"version": f"ART {toolbox.__version__}"}), flush=True)

    def without(rows: Any) -> Any:
        return np.delete(rows, place, axis=1)

    def baseline(model: str) -> Any:
        made = AttributeInferenceBaseline(attack_feature=place, attack_model_type=model)
        made.fit(own)
        return lambda rows, label: made.infer(without(rows), values=values)

    def with_label(model: str) -> Any:
        made = AttributeInferenceBaselineTrueLabel(attack_feature=place, attack_model_type=model)
        made.fit(own, own_labels)
        return lambda rows, label: made.infer(without(rows), label, values=values)

    def black_box(model: str) -> Any:
        made = AttributeInferenceBlackBox(wrapped, attack_feature=place, attack_model_type=model)
        made.fit(own, own_labels)

        def infer(rows: Any, label: Any) -> Any:
            said = wrapped.predict(rows).argmax(axis=1).reshape(-1, 1)
            return made.infer(without(rows), label, pred=said, values=values)

        return infer

    def white_box(kind: Any) -> Any:
        made = kind(wrapped, attack_feature=place)
        return lambda rows, label: made.infer(without(rows), label, values=values, priors=[1 - share, share])

    attacks: dict[str, Any] = {
        "baseline, rf": lambda: baseline("rf"),
        "baseline with the label, rf": lambda: with_label("rf"),
        "baseline with the label, lr": lambda: with_label("lr"),
        "black box, rf": lambda: black_box("rf"),
        "black box, gb": lambda: black_box("gb"),
        "black box, lr": lambda: black_box("lr"),
        "white box, tree": lambda: white_box(AttributeInferenceWhiteBoxDecisionTree),
        "white box, lifestyle": lambda: white_box(AttributeInferenceWhiteBoxLifestyleDecisionTree),
    }
    for name, make in attacks.items():
        np.random.seed(0)  # noqa: NPY002  ART draws from the global generator
        start = time.process_time()
        try:
            infer = make()
            rates = {
                group: float(np.mean(np.ravel(infer(rows, label)) == rows[:, place]))
                for group, (rows, label) in groups.items()
            }
        except Exception as error:
            print(
                json.dumps({"peer": f"ART {name}", "missing": f"{type(error).__name__}: {error}"[:90]}),
                flush=True,
            )
            continue
        spent = time.process_time() - start
        print(json.dumps({"peer": f"ART {name}", "seconds": spent, **rates}), flush=True)


def anonymeter(data: Any) -> None:
    from importlib.metadata import version

    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator

    print(json.dumps({"version": f"anonymeter {version('anonymeter')}"}), flush=True)

    names = [f"c{place}" for place in range(data["members"].shape[1])]
    frames = [pd.DataFrame(data[key], columns=names) for key in ("members", "rows", "fresh")]
    secret = names[int(data["place"])]
    for frame in frames:
        for place in data["categories"]:
            frame[names[place]] = frame[names[place]].astype(int).astype(str)
    start = time.process_time()
    made = InferenceEvaluator(
        ori=frames[0],
        syn=frames[1],
        control=frames[2],
        aux_cols=[name for name in names if name != secret],
        secret=secret,
        n_attacks=2000,
    )
    made.evaluate(n_jobs=1)
    found = made.results()
    line = {
        "peer": "anonymeter inference",
        "seconds": time.process_time() - start,
        "members": found.attack_rate.value,
        "fresh": found.control_rate.value,
    }
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

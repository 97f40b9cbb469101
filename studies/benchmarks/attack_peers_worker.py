"""ART's black-box membership attacks on one model, inside ART's own environment: an .npz file in, one JSON line out.

Run by attack.py; imports neither holdfast nor anything of this folder. As ART asks, the attack is trained on half of
the true members and half of the non-members, and judged on the others.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np

warnings.simplefilter("ignore")


def main() -> None:
    """Arguments: file, seed, then the kinds of attack model."""
    from art.attacks.inference.membership_inference import (
        MembershipInferenceBlackBox,
    )
    from art.estimators.classification.scikitlearn import SklearnClassifier
    from sklearn.ensemble import RandomForestClassifier

    path, seed, kinds = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    data = np.load(path)
    rows, labels, count = data["rows"], data["labels"], len(data["labels"]) // 2
    model = RandomForestClassifier(random_state=seed).fit(rows[:count], labels[:count])
    half = count // 2
    np.random.seed(seed)  # noqa: NPY002  ART draws from the global generator
    for kind in kinds:
        start = time.process_time()
        attack = MembershipInferenceBlackBox(SklearnClassifier(model), attack_model_type=kind)
        attack.fit(
            rows[:half],
            labels[:half],
            rows[count : count + half],
            labels[count : count + half],
        )
        scores = [
            np.ravel(attack.infer(rows[part], labels[part], probabilities=True))
            for part in (slice(half, count), slice(count + half, 2 * count))
        ]
        seconds = time.process_time() - start
        line = {"kind": kind, "seconds": seconds, "members": scores[0].tolist(), "others": scores[1].tolist()}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

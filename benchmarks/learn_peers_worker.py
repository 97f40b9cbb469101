"""One peer's fits, inside the peer's own environment: rows in an .npz file, one JSON line per fit out.

Run by learn_peers.py; imports neither holdfast nor anything of this folder.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

warnings.simplefilter("ignore")
Weights = Any


def diffprivlib(rows: Any, labels: Any, *, epsilon: float, setting: float, seed: int) -> Weights:
    """LogisticRegression, pure epsilon, one record replaced; setting is C. The constant is a column already.

    Several classes are one-vs-rest there, each with its part of epsilon.
    """
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(
        epsilon=epsilon, data_norm=1.0, C=setting, fit_intercept=False, max_iter=1000, random_state=seed
    )
    return model.fit(rows, labels).coef_


def opacus(rows: Any, labels: Any, *, epsilon: float, setting: float, seed: int) -> Weights:
    """DP-SGD: 10 epochs, Poisson batches of 1024 on average (an eighth of a small table), clip 1, delta = n^-1.5.

    Setting is the step size. One linear layer; the softmax of as many scores as there are classes.
    """
    import torch
    from opacus import PrivacyEngine

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    classes = np.unique(labels)
    inputs = torch.tensor(rows, dtype=torch.float32)
    targets = torch.tensor(np.searchsorted(classes, labels))
    single = len(classes) == 2
    model = torch.nn.Linear(rows.shape[1], 1 if single else len(classes), bias=False)
    torch.nn.init.zeros_(model.weight)
    size = max(1, min(1024, len(rows) // 8))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, targets), batch_size=size)
    made, optimizer, batches = PrivacyEngine().make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=setting), data_loader=loader,
        target_epsilon=epsilon, target_delta=len(rows) ** -1.5, epochs=10, max_grad_norm=1.0,
    )  # fmt: skip
    binary, several = torch.nn.BCEWithLogitsLoss(), torch.nn.CrossEntropyLoss()
    for _ in range(10):
        for features, wanted in batches:
            if len(features) == 0:
                continue
            optimizer.zero_grad()
            scores = made(features)
            (binary(scores[:, 0], wanted.float()) if single else several(scores, wanted)).backward()
            optimizer.step()
    return model.weight.detach().numpy().astype(np.float64)


PEERS: dict[str, Callable[..., Weights]] = {"diffprivlib": diffprivlib, "opacus": opacus}


def measures(weights: Weights, rows: Any, labels: Any) -> dict[str, float]:
    """Accuracy, and for two classes the area under the ROC curve; weights are one row for each score."""
    scores = rows @ np.atleast_2d(weights).T
    if scores.shape[1] > 1:
        return {"accuracy": float(np.mean(scores.argmax(axis=1) == labels))}
    scores, positive = scores[:, 0], labels > 0
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    count = int(positive.sum())
    above = ranks[positive].sum() - count * (count + 1) / 2
    area = above / (count * (len(scores) - count))
    return {"accuracy": float(np.mean((scores > 0) == positive)), "area": float(area)}


def main() -> None:
    """Arguments: peer, file, JSON list of [epsilon, setting, seed]."""
    peer, path, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    data = np.load(path)
    for epsilon, setting, seed in jobs:
        start = time.process_time()
        weights = PEERS[peer](data["rows"], data["labels"], epsilon=epsilon, setting=setting, seed=seed)
        seconds = time.process_time() - start
        line = {"epsilon": epsilon, "setting": setting, "seed": seed, "seconds": seconds}
        line |= measures(weights, data["test_rows"], data["test_labels"])
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

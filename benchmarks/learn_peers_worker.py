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
    """LogisticRegression, pure epsilon, one record replaced; setting is C. The constant is a column already."""
    from diffprivlib.models import LogisticRegression

    model = LogisticRegression(
        epsilon=epsilon, data_norm=1.0, C=setting, fit_intercept=False, max_iter=1000, random_state=seed
    )
    return model.fit(rows, labels).coef_[0]


def opacus(rows: Any, labels: Any, *, epsilon: float, setting: float, seed: int) -> Weights:
    """DP-SGD: 10 epochs, Poisson batches of 1024 on average, clip 1; setting is the step size; delta = n^-1.5."""
    import torch
    from opacus import PrivacyEngine

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    inputs = torch.tensor(rows, dtype=torch.float32)
    targets = torch.tensor((labels + 1) / 2, dtype=torch.float32)
    model = torch.nn.Linear(rows.shape[1], 1, bias=False)
    torch.nn.init.zeros_(model.weight)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, targets), batch_size=1024)
    made, optimizer, batches = PrivacyEngine().make_private_with_epsilon(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=setting), data_loader=loader,
        target_epsilon=epsilon, target_delta=len(rows) ** -1.5, epochs=10, max_grad_norm=1.0,
    )  # fmt: skip
    loss = torch.nn.BCEWithLogitsLoss()
    for _ in range(10):
        for features, wanted in batches:
            if len(features) == 0:
                continue
            optimizer.zero_grad()
            loss(made(features)[:, 0], wanted).backward()
            optimizer.step()
    return model.weight.detach().numpy()[0].astype(np.float64)


PEERS: dict[str, Callable[..., Weights]] = {"diffprivlib": diffprivlib, "opacus": opacus}


def main() -> None:
    """Arguments: peer, file, JSON list of [epsilon, setting, seed]."""
    peer, path, jobs = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    data = np.load(path)
    for epsilon, setting, seed in jobs:
        start = time.process_time()
        weights = PEERS[peer](data["rows"], data["labels"], epsilon=epsilon, setting=setting, seed=seed)
        seconds = time.process_time() - start
        right = float(np.mean((data["test_rows"] @ weights > 0) == (data["test_labels"] > 0)))
        line = {"epsilon": epsilon, "setting": setting, "seed": seed, "accuracy": right, "seconds": seconds}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

"""One peer's fits for the learning panel, inside the peer's own environment: an .npz file in, JSON lines out.

Run by learn_panel.py, or by hand on a machine with a GPU; imports neither holdfast nor anything of this folder.
Settings are fixed: the same for all tables and all epsilons. Rows are clipped to norm 1, a constant column among them.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np

warnings.simplefilter("ignore")
EPOCHS, BATCH, CLIP = 10, 1024, 1.0


def diffprivlib(rows: Any, labels: Any, *, kind: str, epsilon: float, setting: float, seed: int) -> Any:
    """Pure epsilon, one record replaced. Classes: setting is C. Numbers: bounds of [-1, 1], no setting.

    Several classes are one-vs-rest there, each with its part of epsilon.
    """
    from diffprivlib.models import LinearRegression, LogisticRegression

    if kind == "number":
        box = np.ones(rows.shape[1])
        model = LinearRegression(
            epsilon=epsilon,
            bounds_X=(-box, box),
            bounds_y=(-1.0, 1.0),
            fit_intercept=False,
            random_state=seed,
        )
    else:
        model = LogisticRegression(
            epsilon=epsilon, data_norm=1.0, C=setting, fit_intercept=False, max_iter=1000, random_state=seed
        )
    return model.fit(rows, labels).coef_


def opacus(rows: Any, labels: Any, *, kind: str, epsilon: float, setting: float, seed: int) -> Any:
    """DP-SGD of one linear layer: 10 epochs, Poisson batches of 1024 (an eighth of a small table), clip 1.

    Setting is the step; a quarter of it for squares, which curve four times as much. delta = n^-1.5.
    """
    import torch
    from opacus import PrivacyEngine

    torch.manual_seed(seed)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    several = kind == "several"
    inputs = torch.tensor(rows, dtype=torch.float32)
    targets = torch.tensor(labels, dtype=torch.int64 if several else torch.float32)
    model = torch.nn.Linear(rows.shape[1], int(labels.max()) + 1 if several else 1, bias=False).to(device)
    torch.nn.init.zeros_(model.weight)
    size = max(1, min(BATCH, len(rows) // 8))
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(inputs, targets), batch_size=size)
    step = setting / 4.0 if kind == "number" else setting
    made, optimizer, batches = PrivacyEngine().make_private_with_epsilon(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=step),
        data_loader=loader,
        target_epsilon=epsilon,
        target_delta=len(rows) ** -1.5,
        epochs=EPOCHS,
        max_grad_norm=CLIP,
    )
    cross, logistic = torch.nn.CrossEntropyLoss(), torch.nn.BCEWithLogitsLoss()
    for _ in range(EPOCHS):
        for features, wanted in batches:
            if len(features) == 0:
                continue
            optimizer.zero_grad()
            scores, wanted = made(features.to(device)), wanted.to(device)
            if several:
                loss = cross(scores, wanted)
            elif kind == "number":
                loss = (0.5 * (scores[:, 0] - wanted) ** 2).mean()
            else:
                loss = logistic(scores[:, 0], (wanted > 0).float())
            loss.backward()
            optimizer.step()
    return model.weight.detach().cpu().numpy().astype(np.float64)


PEERS = {"diffprivlib": diffprivlib, "opacus": opacus}


def measure(metric: str, weights: Any, rows: Any, labels: Any) -> float:
    """R2, the area under the ROC curve, or accuracy; weights are one row for each score."""
    scores = rows @ np.atleast_2d(weights).T
    if metric == "r2":
        # A number that never changes has no variance: then it is the square of half the declared range.
        spread = np.var(labels) if np.ptp(labels) > 0 else 1.0
        return float(1.0 - np.mean((scores[:, 0] - labels) ** 2) / spread)
    if metric == "area":
        ranks = np.empty(len(scores))
        ranks[np.argsort(scores[:, 0])] = np.arange(1, len(scores) + 1)
        count = int((labels > 0).sum())
        above = ranks[labels > 0].sum() - count * (count + 1) / 2
        return float(above / (count * (len(scores) - count)))
    if scores.shape[1] == 1:
        return float(np.mean((scores[:, 0] > 0) == (labels > 0)))
    return float(np.mean(scores.argmax(axis=1) == labels))


def split(data: Any, repetition: int) -> tuple[Any, Any, Any, Any]:
    """As `PanelTable.split`: rows and labels to train on, and to test on."""
    rows, labels, train, test = data["rows"], data["labels"], int(data["train"]), int(data["test"])
    order = np.random.default_rng(repetition).permutation(len(rows))
    if bool(data["published"]) and repetition == 0:
        order = np.arange(len(rows))
    rows = rows[order[: train + test]].astype(np.float64)
    rows /= np.maximum(1.0, np.linalg.norm(rows, axis=1))[:, None]
    labels = labels[order[: train + test]]
    return rows[:train], labels[:train], rows[train:], labels[train:]


def run(data: Any, jobs: list[Any]) -> None:
    """One line for each job, [peer, epsilon, setting, repetition]."""
    parts: dict[int, Any] = {}
    for peer, epsilon, setting, repetition in jobs:
        if repetition not in parts:
            parts = {repetition: split(data, repetition)}
        rows, labels, test, wanted = parts[repetition]
        line = {"table": str(data["table"]), "peer": peer, "epsilon": epsilon, "setting": setting}
        line["repetition"], start = repetition, time.process_time()
        try:
            weights = PEERS[peer](
                rows, labels, kind=str(data["kind"]), epsilon=epsilon, setting=setting, seed=repetition
            )
        except Exception as error:  # a peer's refusal is a result
            line["refused"] = f"{type(error).__name__}: {error}"[:200]
        else:
            line |= {
                "seconds": time.process_time() - start,
                "score": measure(str(data["metric"]), weights, test, wanted),
            }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":  # arguments: file, JSON list of jobs
    run(np.load(sys.argv[1]), json.loads(sys.argv[2]))

"""Wu 2016, figures 3.2 and 3.3: accuracy of bolt-on SGD, SCS13 and BST14 against epsilon, at the thesis's own sizes.

    python -m studies.reproductions.001_bolt_on [--quick]

Writes `studies/reproductions/results/001_bolt_on.json` after every number, so that a run that was cut off goes on; then
`studies/reproductions/results/001_bolt_on.md` and `docs/figures/bolt_on_*.svg`. Deterministic: every number comes
from SEED. What the thesis prints for mini-batches of a penalised loss is refuted by a measured pair of neighbours
and drawn beside the sound version; that noise is added here, outside any account, and is not private. `--quick`
trains on a fiftieth of the rows: it shows that the code runs, and nothing about accuracy.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial

import numpy as np
from numpy.typing import NDArray
from studies.reproductions.bolt_on_figures import LINE_STYLES, draw_accuracy, draw_passes
from studies.reproductions.bolt_on_words import (
    BOLT_ON,
    BST14,
    NOISELESS,
    OUR_STEP,
    PRINTED,
    PRINTED_BST14,
    SCS13,
    TESTS,
    Found,
    Passes,
    Repeats,
    page,
)
from studies.reproductions.printed_constants import printed_noise_std
from studies.reproductions.seed_data import SPLIT_SEED, Split, covertype, mnist, protein
from studies.reproductions.seed_page import write
from studies.reproductions.seed_store import Store

from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn.classics.bst14 import bst14, step_size
from holdfast.learn.methods.bolt_on import SgdPlan, bolt_on
from holdfast.learn.methods.method import RunLearner
from holdfast.learn.methods.scs13 import scs13
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._account.currency import default_order
from holdfast.privacy._account.remaining import noise_within
from holdfast.privacy._adjacency import Adjacency

Floats = NDArray[np.float64]
SEED, PENALTY, BATCH, PASSES, BST_RADIUS = 20010, 1e-4, 50, 10, 10.0
MANY, FEW = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
PLACES, RUNS = (0.1, 0.5, 1.0, 4.0), 12
SLOW = (PRINTED_BST14, BST14, SCS13)
"""A step each, in Python, for every batch: measured after the others."""


class Task:
    """One table under one test: who is trained how, and how well it classifies."""

    def __init__(self, split: Split, test: int, *, passes: int = PASSES, batch: int = BATCH) -> None:
        self.split, self.test = split, test
        self.pure, self.strong = test in (1, 3), test in (3, 4)
        self.passes, self.batch = passes, batch
        self.centres: dict[int, list[Floats]] = {}
        self.rows, self.delta = len(split.train), len(split.train) ** -1.5
        self.problem = Problem(
            loss=Logistic(), dimension=split.train.shape[1], penalty=PENALTY if self.strong else 0.0
        )
        codes = np.unique(split.train_labels)
        # One against all others where there are more than two classes, as in the thesis.
        self.targets = [
            np.where(split.train_labels == code, 1.0, -1.0)
            for code in (codes if len(codes) > 2 else codes[1:])
        ]

    @property
    def label(self) -> str:
        """What the numbers are kept by."""
        return f"{self.split.name}, {self.rows} rows, test {self.test}, k {self.passes}, b {self.batch}"

    def examples(self, labels: Floats) -> ArrayExamples:
        """Rows whose number is public; neighbours replace one."""
        return ArrayExamples(
            features=self.split.train, labels=labels, adjacency=Adjacency.replace, public_count=self.rows
        )

    def course(self) -> SgdPlan:
        """The public constants of permutation SGD."""
        return SgdPlan(
            problem=self.problem,
            adjacency=Adjacency.replace,
            records=self.rows,
            batch=self.batch,
            passes=self.passes,
            schedule="strongly_convex" if self.strong else "constant",
            step=None if self.strong else 1.0 / math.sqrt(self.rows),
        )

    @cached_property
    def sensitivity(self) -> float:
        """As proved. Without a penalty the step is 1/sqrt(m), the thesis's."""
        return self.course().l2_sensitivity

    def accuracy(self, models: Sequence[Floats]) -> float:
        """On rows that were not trained on."""
        scores = np.column_stack([self.split.test @ weights for weights in models])
        if scores.shape[1] == 1:
            return float(np.mean(np.where(scores[:, 0] > 0, 1.0, -1.0) == self.split.test_labels))
        return float(np.mean(np.argmax(scores, axis=1) == self.split.test_labels))

    def noiseless(self, seed: int) -> list[Floats]:
        """What permutation SGD returns; private, and not released. Kept: it is the same at every epsilon."""
        if seed not in self.centres:
            self.centres[seed] = [
                self.course().train(self.examples(each), Source(seed=seed)) for each in self.targets
            ]
        return self.centres[seed]

    def shares(self, epsilon: float, seed: int, *, currency: str) -> Sequence[Account]:
        """One account for all models: the budget is split evenly among them."""
        limit: PrivacyCurve = PureDP(epsilon) if self.pure else ApproxDP(epsilon, self.delta)
        account = Account(limit, adjacency="replace", currency=currency, seed=seed)
        count = len(self.targets)
        return [account] if count == 1 else account.split(*[1.0 / count] * count)

    def bolt_on(self, epsilon: float, seed: int) -> float:
        """Bolt-on with the thesis's step, and the noise of the backward recursion: our method in two halves."""
        released = []
        shares = self.shares(epsilon, seed, currency="pure" if self.pure else "gdp")
        for centre, share in zip(self.noiseless(seed), shares, strict=True):
            noise = noise_within(
                share, l2_sensitivity=self.sensitivity, dimension=centre.size, arithmetic="idealised"
            )
            released.append(share.release(noise.mechanism, centre, label="bolt_on"))
        return self.accuracy(released)

    def seeded(self, epsilon: float, seed: int) -> float:
        """The same, by the number of the seed."""
        return self.bolt_on(epsilon, SEED + seed)

    def private(self, run: RunLearner, epsilon: float, seed: int) -> float:
        """One of the library's methods, with its own steps."""
        # BST14's steps need a radius where there is no penalty; the others run unconstrained, as in the thesis.
        needs_ball = run is bst14 and not self.strong
        problem = replace(self.problem, radius=BST_RADIUS) if needs_ball else self.problem
        currency = "pure" if self.pure else "renyi" if run is bst14 else "gdp"
        return self.accuracy(
            [
                run(
                    self.examples(labels),
                    problem,
                    account=share,
                    passes=self.passes,
                    batch=self.batch,
                    arithmetic="idealised",
                ).weights
                for labels, share in zip(
                    self.targets, self.shares(epsilon, seed, currency=currency), strict=True
                )
            ]
        )

    def printed_sensitivity(self) -> float:
        """Lemmas 3.5 and 3.10 divided by b, as the thesis's paragraph on mini-batches says."""
        lipschitz = 1.0
        if self.strong:
            return 2.0 * lipschitz / (PENALTY * self.rows * self.batch)
        return 2.0 * self.passes * lipschitz / math.sqrt(self.rows) / self.batch

    def printed(self, epsilon: float, seed: int) -> float:
        """Noise of the printed formula, from a plain generator: a picture of a mistake, not a release."""
        generator = np.random.default_rng([SEED, seed])
        each = epsilon / len(self.targets)
        models = []
        for weights in self.noiseless(seed):
            direction = generator.standard_normal(weights.size)
            if self.pure:
                length = generator.gamma(weights.size, self.printed_sensitivity() / each)
                noise = direction / np.linalg.norm(direction) * length
            else:
                share = self.delta / len(self.targets)
                noise = direction * self.printed_sensitivity() * math.sqrt(2 * math.log(1.25 / share)) / each
            models.append(weights + noise)
        return self.accuracy(models)

    def printed_bst14(self, epsilon: float, seed: int) -> float:
        """Algorithms 3 and 4 with a sensitivity of 1, where a replaced row moves a gradient by 2: a picture, too."""
        generator = np.random.default_rng([SEED, seed, 14])
        count = len(self.targets)
        noise_std = printed_noise_std(
            epsilon=epsilon / count, delta=self.delta / count, passes=self.passes, count=self.rows
        )
        problem = self.problem if self.strong else replace(self.problem, radius=BST_RADIUS)
        models = []
        for labels in self.targets:
            w = np.zeros(problem.dimension)
            for t in range(1, self.passes * (self.rows // self.batch) + 1):
                chosen = generator.integers(self.rows, size=self.batch)
                rows = self.split.train[chosen]
                total = problem.loss.slopes(rows @ w, labels[chosen]) @ rows
                total = (total + noise_std * generator.standard_normal(w.size)) / self.batch
                w = w - step_size(t, problem, noise_std=noise_std / self.batch) * (
                    total + problem.penalty * w
                )
                w = w * min(1.0, problem.radius / max(float(np.linalg.norm(w)), 1e-300))
            models.append(w)
        return self.accuracy(models)


LARGEST_ORDER = 512.0
"""Budgets that need larger orders are too small for any useful noise here."""


def affordable(epsilon: float, delta: float) -> bool:
    """Whether some order of the Rényi bound leaves anything of the budget: else BST14 cannot be calibrated."""
    return default_order(ApproxDP(epsilon, delta)) <= LARGEST_ORDER


def measures(task: Task, e: float, seeds: int) -> dict[str, tuple[Callable[[int], float], int]]:
    """What is measured at an epsilon, and with how many seeds: the slow ones with one."""
    made: dict[str, tuple[Callable[[int], float], int]] = {
        BOLT_ON: (lambda seed: task.bolt_on(e, SEED + seed), seeds)
    }
    if task.strong:
        made[PRINTED] = (lambda seed: task.printed(e, SEED + seed), seeds)
    else:
        made[OUR_STEP] = (lambda seed: task.private(bolt_on, e, SEED + seed), 1)
    made[SCS13] = (lambda seed: task.private(scs13, e, SEED + seed), 1)
    if not task.pure:
        if affordable(e, task.delta):
            made[BST14] = (lambda seed: task.private(bst14, e, SEED + seed), 1)
        made[PRINTED_BST14] = (lambda seed: task.printed_bst14(e, SEED + seed), 1)
    return made


def compare(
    task: Task, epsilons: Sequence[float], store: Store, *, seeds: int, slow: Sequence[str] | None = None
) -> Found:
    """Every algorithm of one panel; of the slow ones all, or those that are named."""
    found: Found = {name: {} for name in LINE_STYLES}
    plain = store.several(
        f"{task.label}: {NOISELESS}", lambda seed: task.accuracy(task.noiseless(SEED + seed)), seeds=seeds
    )
    for e in epsilons:
        found[NOISELESS][e] = plain
        for name, (measure, count) in measures(task, e, seeds).items():
            if name in SLOW and slow is not None and name not in slow:
                continue
            values = store.several(f"{task.label}: {name}, epsilon {e:g}", measure, seeds=count)
            if values:
                found[name][e] = values
    task.centres.clear()
    return {name: dict(sorted(series.items())) for name, series in found.items() if series}


def moved(split: Split, batch: int) -> tuple[float, float, float]:
    """Printed and proved sensitivity of Algorithm 2, and how far one replaced row moved the result of one order.

    The row points where the table has least to say, so that the other rows do not pull the two runs together.
    """
    task = Task(split, 3, batch=batch)
    labels = task.targets[-1].copy()
    features = split.train.copy()
    features[0] = np.linalg.eigh(features.T @ features)[1][:, 0]
    ends = []
    for sign in (1.0, -1.0):
        labels[0] = sign
        rows = replace(task.examples(labels), features=features)
        ends.append(task.course().train(rows, Source(seed=SEED)))
    return task.printed_sensitivity(), float(np.linalg.norm(ends[0] - ends[1])), task.course().l2_sensitivity


def refutation(splits: Sequence[Split], store: Store) -> list[tuple[str, int, list[float]]]:
    """Printed, measured and proved, for every table and batch size."""
    return [
        (
            split.name,
            batch,
            store.of(
                f"{split.name}, {len(split.train)} rows, b {batch}: printed, measured and proved sensitivity",
                partial(moved, split, batch),
            ),
        )
        for split in splits
        for batch in (1, 10, 50)
    ]


def passes_and_batches(split: Split, store: Store, *, seeds: int) -> Passes:
    """Figure 3.3: (a) and (b) vary the passes, (c) the batch."""

    def curve(test: int, passes: int, batch: int) -> dict[float, list[float]]:
        task = Task(split, test, passes=passes, batch=batch)
        return {
            e: store.several(
                f"{task.label}: {BOLT_ON}, epsilon {e:g}",
                partial(task.seeded, e),
                seeds=seeds,
            )
            for e in PLACES
        }

    return {
        "(a) Test 1, b = 1": {f"{k} passes": curve(1, k, 1) for k in (1, 10, 20)},
        "(b) Test 3, b = 50": {f"{k} passes": curve(3, k, 50) for k in (1, 10, 20)},
        "(c) Test 1, 20 passes": {f"b = {b}": curve(1, 20, b) for b in (1, 10, 50)},
    }


def repeated(store: Store, *, rows: int, runs: int) -> Repeats:
    """Figure 3.3 at epsilon 4 again and again, each run with a projection, an order and noise of its own.

    The thesis prints one number each and does not say which projection it took: what can be compared is one run.
    """
    projected = cache(lambda run: mnist(rows=rows, seed=SPLIT_SEED + 1 + run))
    found: Repeats = {}
    for run in range(runs):
        for passes, batch in ((1, 1), (20, 1), (20, 10)):
            key = f"MNIST, 50-d, {rows} rows, own projection, test 1, k {passes}, b {batch}: {BOLT_ON}, epsilon 4"

            def measure(run: int = run, passes: int = passes, batch: int = batch) -> float:
                return Task(projected(run), 1, passes=passes, batch=batch).seeded(4.0, 100 + run)

            found.setdefault((passes, batch), []).extend(store.of(f"{key}, run {run}", measure))
        projected.cache_clear()
    return found


def growth(split: Split) -> dict[int, float]:
    """How much larger the noise of each test is with a tenth of the rows."""
    few = replace(split, train=split.train[::10], train_labels=split.train_labels[::10])
    return {test: Task(few, test).sensitivity / Task(split, test).sensitivity for test in TESTS}


def main() -> int:
    """Train, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="a fiftieth of the rows, one seed, nothing written"
    )
    parser.add_argument("--stored", action="store_true", help="measure nothing: a page of what is stored")
    asked = parser.parse_args()
    quick = asked.quick
    share, seeds = (50, 1) if quick else (1, 3)
    store = Store(None if quick else "001_bolt_on", frozen=asked.stored)
    splits = [
        mnist(rows=60_000 // share),
        protein(rows=72_876 // share, test=72_875),
        covertype(rows=498_010 // share, test=83_002),
    ]
    epsilons: dict[str, Sequence[float]] = {s.name: MANY if "MNIST" in s.name else FEW for s in splits}
    passes = passes_and_batches(splits[0], store, seeds=1 if quick else 5)
    repeats = repeated(store, rows=60_000 // share, runs=2 if quick else RUNS)
    neighbours = refutation(splits[1:], store)
    for split in splits:
        for test in TESTS:
            compare(Task(split, test), epsilons[split.name], store, seeds=seeds, slow=())
    for name in (
        SLOW
    ):  # the quickest, and of each the largest epsilon of every table, first: for a run that is cut off
        for place in range(len(MANY)):
            for split in (splits[1], splits[2], splits[0]):
                only = sorted(epsilons[split.name], reverse=True)[place : place + 1]
                for test in TESTS:
                    compare(Task(split, test), only, store, seeds=seeds, slow=(name,))
    found = {
        split.name: {
            test: compare(Task(split, test), epsilons[split.name], store, seeds=seeds) for test in TESTS
        }
        for split in splits
    }
    lines = page(
        {split.name: split.shape for split in splits},
        found,
        epsilons,
        neighbours,
        passes,
        PLACES,
        repeats,
        growth={split.name: growth(split) for split in splits},
        not_run={
            s.name: [e for e in epsilons[s.name] if not affordable(e, len(s.train) ** -1.5)] for s in splits
        },
        seeds=seeds,
        seed=SEED,
        majority=float(np.mean(splits[1].test_labels < 0)),
        store=store,
    )
    if not quick:
        store.keep()
        write("001_bolt_on", lines)
        draw_accuracy(found, epsilons)
        draw_passes(passes, PLACES)
    sys.stdout.write("\n".join(lines) + "\n")
    if quick:
        sys.stdout.write("\n--quick: a fiftieth of the rows. Accuracies above are no result.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

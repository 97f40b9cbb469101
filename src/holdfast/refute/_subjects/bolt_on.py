"""Bolt-on permutation SGD: how far runs of the kernel on neighbouring tables end apart, and two claims about it.

Wu 2016, algorithm 2 (Wu et al. 2017): a strongly convex loss, steps of size min(1/beta, 1/(penalty t)) where t counts
batches, and noise on the final weights. The printed sensitivity is divided by the batch size, and published versions of
TensorFlow Privacy ship that division. It is wrong: larger batches also mean fewer steps t, and the two effects cancel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from holdfast._arrays import Floats
from holdfast._kernel import SgdOptions, StepSize, start
from holdfast._kernel.sensitivity import averaging_from, psgd_sensitivity, rounding_slack
from holdfast.errors import require

NeighbourArrays = tuple[Floats, Floats, Floats, Floats]
"""Rows and labels, and the neighbour's rows and labels."""
CLIPPED_NORM = 1.0 + 1e-9
"""The kernel clips rows to norm 1, up to rounding: no clipped row is longer than this."""


@dataclass(frozen=True, kw_only=True)
class BoltOn:
    """Public constants of a run: logistic loss with unit rows (L = 1), an L2 penalty, a fixed order.

    `smoothness` is a declared bound; the logistic loss's own is 1/4. `average_from` as in the kernel.
    """

    records: int = 1000
    batch: int = 50
    passes: int = 10
    penalty: float = 0.01
    smoothness: float = 1.0
    average_from: int = 0
    radius: float = math.inf

    def __post_init__(self) -> None:
        require(self.records >= 1, "records", self.records, ">= 1")
        require(self.penalty > 0, "penalty", self.penalty, "> 0")
        require(self.smoothness >= 0.25, "smoothness", self.smoothness, ">= 1/4, the logistic loss's own")

    @property
    def step_size(self) -> StepSize:
        """min(1/beta, 1/(penalty t))."""
        return StepSize(cap=1.0 / (self.smoothness + self.penalty), scale=1.0 / self.penalty)

    @property
    def steps(self) -> Floats:
        """All steps of all passes."""
        return self.step_size.first(self.passes * math.ceil(self.records / self.batch))

    def train(self, rows: Floats, labels: Floats) -> Floats:
        """The final weights, before noise."""
        options = SgdOptions(
            dimension=rows.shape[1],
            batch=self.batch,
            penalty=self.penalty,
            radius=self.radius,
            step_size=self.step_size,
            average_from=self.average_from,
        )
        run = start(options)
        for _ in range(self.passes):
            run.feed(rows, labels)
            run.end_pass()
        return run.final()

    def sound_sensitivity(self, *, dimension: int = 2) -> float:
        """The sensitivity under `replace` by the proved recursion, with slack for clipping and for rounding."""
        return psgd_sensitivity(
            self.steps,
            batch=self.batch,
            passes=self.passes,
            gradient_change=2.0 * CLIPPED_NORM,
            smoothness=self.smoothness,
            penalty=self.penalty,
            averaging_weights=averaging_from(self.average_from, steps=self.steps.size),
        ) + rounding_slack(
            self.steps,
            dimension=dimension,
            batch=self.batch,
            lipschitz=CLIPPED_NORM,
            smoothness=self.smoothness,
            penalty=self.penalty,
            radius=self.radius,
        )

    def printed_sensitivity(self, *, lipschitz: float = 1.0) -> float:
        """Wu 2016 and TensorFlow Privacy: 2 L / (penalty m b). Too small by the batch."""
        return 2.0 * lipschitz / (self.penalty * self.records * self.batch)


def label_change_pair(records: int) -> NeighbourArrays:
    """All records lie at e1 with balanced labels, except the last, at e2, whose label changes."""
    rows = np.tile([1.0, 0.0], (records, 1))
    labels = np.where(np.arange(records) % 2 == 0, 1.0, -1.0)
    rows[-1] = [0.0, 1.0]
    labels[-1] = 1.0
    changed = labels.copy()
    changed[-1] = -1.0
    return rows, labels, rows, changed


def worst_known_pair(records: int) -> NeighbourArrays:
    """All records are (e1, -1), except the last, which moves from (1/2, 0.866) to (1/2, -0.866); no worse is known."""
    rows = np.tile([1.0, 0.0], (records, 1))
    labels = np.full(records, -1.0)
    labels[-1] = 1.0
    rows[-1] = [0.5, math.sqrt(0.75)]
    changed = rows.copy()
    changed[-1, 1] = -rows[-1, 1]
    return rows, labels, changed, labels


def random_pairs(records: int, dimension: int, count: int) -> Iterator[NeighbourArrays]:
    """Random rows, some far too long, with one record replaced by another, its mirror image, or nothing."""
    rng = np.random.Generator(np.random.PCG64(records))
    rows = rng.normal(size=(records, dimension)) * rng.choice([0.1, 10.0], size=(records, 1))
    labels = np.sign(rng.normal(size=records))
    for number in range(count):
        place = int(rng.choice([0, records - 1, int(rng.integers(records))]))
        changed, flipped = rows.copy(), labels.copy()
        changed[place] = (rng.normal(size=dimension) * 1e200, -rows[place], np.zeros(dimension))[number % 3]
        flipped[place] = -labels[place] if number % 2 else labels[place]
        yield rows, labels, changed, flipped


def result_distance(run: BoltOn, pair: NeighbourArrays) -> float:
    """The distance between the results of a run on both tables."""
    rows, labels, changed, flipped = pair
    return float(np.linalg.norm(run.train(rows, labels) - run.train(changed, flipped)))

"""How far a released distribution is from a table: for the data's owner only, since it is not noised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.progress import progress
from holdfast.synth.workload import Workload

Floats = NDArray[np.float64]
#: A joint count of some columns, normalised by the evaluation.
Tables = Callable[[Sequence[str]], Floats]


@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Errors of proportions, one entry per group of the workload.

    Exact functions of the private table: they are for whoever holds it, and never go into anything published. What
    may be published is the certificate.
    """

    total_variation: Floats
    max_errors: Floats
    name: str = ""
    audience: Literal["internal"] = "internal"

    @property
    def average_total_variation(self) -> float:
        """The mean over groups of half the L1 distance."""
        return float(self.total_variation.mean())

    @property
    def max_error(self) -> float:
        """The largest error of any query."""
        return float(self.max_errors.max())

    def summary(self) -> str:
        """One line, with its audience.

        >>> Evaluation(total_variation=np.array([0.1, 0.3]), max_errors=np.array([0.02, 0.01]), name="tree").summary()
        'tree: average total variation 0.2, largest error 0.02 (internal: not noised, do not publish)'
        """
        return (
            f"{self.name or 'release'}: average total variation {self.average_total_variation:.4g}, largest error "
            f"{self.max_error:.4g} ({self.audience}: not noised, do not publish)"
        )


def evaluate(truth: Tables, released: Tables, workload: Workload, *, name: str = "") -> Evaluation:
    """Compare two sources of joint counts over a workload, a group at a time."""
    variation, largest = [], []
    with progress("evaluating", total=len(workload.groups)) as bar:
        for group in workload.groups:
            exact, made = (
                np.asarray(tables(group.columns), dtype=np.float64) for tables in (truth, released)
            )
            gap = group.answers(_shares(exact)) - group.answers(_shares(made))
            variation.append(0.5 * float(np.abs(gap).sum()))
            largest.append(float(np.abs(gap).max()))
            bar.step()
    return Evaluation(total_variation=np.array(variation), max_errors=np.array(largest), name=name)


def _shares(counts: Floats) -> Floats:
    """Counts as proportions; an empty table has none."""
    total = float(counts.sum())
    return counts / total if total else counts

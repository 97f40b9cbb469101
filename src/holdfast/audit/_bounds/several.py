"""Several audits and attacks at once: the error probability is shared among all that were run, shown or not.

Uncorrected, a sound mechanism is accused on 5, 22.6 and 64.2 % of pages with 1, 5 and 20 tests (soundness, section 22).
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import require


def shared_confidence(confidence: float, run: int) -> float:
    """The confidence of each of `run` bounds that are to hold together: Bonferroni's share of the error.

    >>> shared_confidence(0.95, 1), round(shared_confidence(0.95, 10), 4)
    (0.95, 0.995)
    """
    require(run >= 1, "run", run, ">= 1")
    return confidence if run == 1 else 1.0 - (1.0 - confidence) / run


def holm(p_values: Sequence[float], *, error: float, run: int) -> list[bool]:
    """Which hypotheses Holm's rule rejects, of `run` that were tested; those not shown count as not rejected.

    >>> holm([0.01, 0.04, 0.03], error=0.05, run=3)
    [True, False, False]
    >>> holm([0.01, 0.02], error=0.05, run=2)
    [True, True]
    >>> holm([0.01, 0.02], error=0.05, run=20)
    [False, False]
    """
    require(run >= len(p_values), "run", run, f"at least the {len(p_values)} that are shown")
    rejected = [False] * len(p_values)
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        if p_values[place] > error / (run - step):
            break
        rejected[place] = True
    return rejected

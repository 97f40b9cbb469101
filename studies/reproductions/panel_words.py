"""Sentences on the remaining panels of Micali 2022, made from their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Panel = Mapping[str, Mapping[float, Sequence[float]]]


def loss_words(tails: Sequence[tuple[float, float, float]], largest: float) -> str:
    """Figures 1.1 to 1.3."""
    ratios = [tail / least for _, tail, least in tails]
    return (
        f"Figure 1.1 holds: the loss of the Laplace mechanism is bounded, at {largest:.3f} times ε. Figure 1.2 "
        f"holds: that "
        "of the Gaussian is a line. Figure 1.3 takes δ for the probability that the loss exceeds ε and calls the two "
        f"equivalent. They are not: that probability is {min(ratios):.1f} to {max(ratios):.1f} times the least δ "
        f"of an "
        "(ε, δ) promise; it implies the promise, and not conversely."
    )


def bound_words(right: Mapping[str, Panel]) -> str:
    """Figures 4.1, 4.3 and 4.5, right."""
    ratios, falls = [], []
    for title, values in right.items():
        losses, bounds = values["computed excess loss"], values["the thesis's bound"]
        ratios += [float(np.mean(bounds[e]) / max(float(np.mean(losses[e])), 1e-12)) for e in losses]
        ends = [float(np.mean(losses[e])) for e in (min(losses), max(losses))]
        falls.append((title, ends[0] / ends[1]))
    broken = sum(ratio < 1.0 for ratio in ratios)
    slower = falls[2][1] < falls[0][1]
    return (
        f"The bound (the rate of table 3.2 with every constant taken as 1) lies above the computed loss in "
        f"{len(ratios) - broken} of {len(ratios)} places, by a factor between {min(ratios):.0f} and "
        f"{max(ratios):.0f}: it "
        "says nothing about these models. From ε = 0.1 to 1 the loss falls "
        + "; ".join(f"{factor:.1f}-fold ({title})" for title, factor in falls)
        + '. "The loss does not decrease as fast as it did with DP-SGD" (figure 4.5) '
        + ("holds." if slower else "does not hold.")
    )


def fit_words(fitted: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """The log trends."""
    cells = [(figure, name, each) for figure, both in fitted.items() for name, each in both.items()]
    if not cells:
        return "The attacks have not been run: `python -m studies.reproductions.000_membership`."
    away = [f"{figure}, {name}" for figure, name, (value, half) in cells if abs(value) > half]
    rising = [f"{figure}, {name}" for figure, name, (value, half) in cells if value > half]
    return (
        "Points of accuracy per factor e of ε, fitted to each model by itself, ± half of the 95 % interval over "
        "models. "
        f"Of {len(cells)} slopes {len(away)} differ from 0 ({', '.join(away) or 'none'}; by chance alone about "
        f"{0.05 * len(cells):.1f}), {len(rising)} of them upwards. A logarithm can be fitted to anything: the thesis's "
        '"log-trend" is ' + ("not there beyond chance." if len(rising) <= 1 else "there in part.")
    )


def line_words(turned: Mapping[str, Sequence[float]]) -> str:
    """Figure 4.9."""
    private = {name: each for name, each in turned.items() if each[0] > 0}
    worst = max(private, key=lambda name: private[name][0])
    return (
        f"One instance, as in the thesis. The private line farthest from the one without privacy is {worst}, by "
        f"{private[worst][0]:.1f} degrees; accuracy for new people goes from "
        f"{min(each[1] for each in private.values()):.3f} to {max(each[1] for each in private.values()):.3f}."
    )


def time_words(timed: Mapping[str, Sequence[float]]) -> str:
    """The abstract's claim."""
    faster = [name for name, (sgd, fw) in timed.items() if sgd < fw]
    holds = "holds" if len(faster) == len(timed) else "does not hold" if not faster else "holds in part"
    return (
        f'"DP-SGD has better computational performances" (abstract) **{holds}** here: DP-SGD is faster in '
        f"{len(faster)} of {len(timed)} cases ({'; '.join(faster) or 'none'}). CPU time of a fit, calibration kept "
        f"from a "
        "first fit; 100 steps of Poisson batches at rate 0.1 against T* steps of Frank-Wolfe on all rows, so it is a "
        "comparison of these two settings and not of the algorithms."
    )

"""Micali 2022: what its page on membership attacks leaves out, and figures 1.1 to 1.3.

    python -m studies.reproductions.000_panels [--quick]

The right-hand panels of figures 4.1, 4.3 and 4.5, the lines of 4.9, the fits of 4.2, 4.4 and 4.13 to 4.15 (of what
`studies.reproductions.000_membership` has kept), and how long DP-SGD and DP-FW take. Writes
`studies/reproductions/results/000_panels.json` after every number, then
`studies/reproductions/results/000_panels.md` and `docs/figures/seed_losses.svg`, `seed_privacy_loss.svg` and
`seed_lines.svg`. Deterministic but for the times.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Sequence
from functools import partial
from importlib import import_module

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student
from studies.reproductions.panel_words import bound_words, fit_words, line_words, loss_words, time_words
from studies.reproductions.seed_attack import FW, PLAIN, SGD, WEIGHTS, Pool, pool, success, train
from studies.reproductions.seed_page import (
    BLUE,
    INK,
    MUTED,
    ORANGE,
    RED,
    LineStyle,
    panels,
    plot,
    table,
    ticks,
    write,
)
from studies.reproductions.seed_store import Store

from holdfast.errors import NotPrivateWarning
from holdfast.privacy import GaussianDP, Laplace

membership = import_module("studies.reproductions.000_membership")
Floats = NDArray[np.float64]
SEED, DELTA = 41000, 1e-6
EPSILONS = (0.1, 0.2, 0.5, 1.0)
LINE_STYLES: dict[str, LineStyle] = {
    "computed excess loss": (BLUE, "-", "o"),
    "the thesis's bound": (RED, (0, (4, 2)), ""),
    "distance from the true weights": (ORANGE, (0, (6, 1.5)), "s"),
}
FITTED = {
    "4.2 (N = 1,000)": ("lasso, N = 1,000", "sorted half"),
    "4.4 (N = 10,000)": ("lasso, N = 10,000", "sorted half"),
    "4.13 (overlap 20 %)": ("logistic, p = 2, overlap 20 %", "the thesis's τ"),
    "4.14 (overlap 40 %)": ("logistic, p = 2, overlap 40 %", "the thesis's τ"),
    "4.15 (overlap 60 %)": ("logistic, p = 2, overlap 60 %", "the thesis's τ"),
}


# Figures 1.1 to 1.3.


def privacy_losses(at: Floats) -> dict[str, Floats]:
    """ln of the ratio of densities at each output, for two means that differ by 1 and noise of deviation 1."""
    scale = 1.0 / math.sqrt(2.0)
    return {
        "Laplace": (np.abs(at - 1.0) - np.abs(at)) / scale,
        "Gaussian": norm.logpdf(at) - norm.logpdf(at, loc=1.0),
    }


def tails(store: Store) -> list[tuple[float, float, float]]:
    """Figure 1.3's delta, P[loss >= epsilon], beside the least delta of an (epsilon, delta) promise; mu = 1."""
    found = []
    for epsilon in (1.0, 2.0, 3.0):
        tail, least = store.of(
            f"Gaussian, mu 1: tail and delta at epsilon {epsilon:g}",
            partial(_tail, epsilon),
        )
        found.append((epsilon, tail, least))
    return found


def _tail(epsilon: float) -> list[float]:
    return [float(norm.sf(epsilon - 0.5)), GaussianDP(1.0).delta(epsilon)]


def largest_laplace_loss(store: Store) -> float:
    """Figure 1.1: it never exceeds epsilon, here sensitivity / scale."""
    at = np.linspace(-20.0, 20.0, 4001)
    epsilon = Laplace(scale=1.0 / math.sqrt(2.0), l1_sensitivity=1.0).curve.epsilon(0.0)
    return store.of(
        "Laplace: largest loss over epsilon",
        lambda: float(np.max(privacy_losses(at)["Laplace"]) / epsilon),
    )[0]


# Right-hand panels of figures 4.1, 4.3 and 4.5.


def excess(data: Pool, weights: Floats, best: Floats) -> float:
    """Half the mean squared error, above that of the least squares weights."""
    x, y = data.members.features, data.members.labels
    return 0.5 * float(np.mean((x @ weights - y) ** 2) - np.mean((x @ best - y) ** 2))


def printed_bound(learner: str, *, count: int, dimension: int, epsilon: float) -> float:
    """Table 3.2 with T = N and every O(...) taken as 1; L = C + 1, the slope of the squared loss on the ball."""
    slope, log = WEIGHTS + 1.0, math.log(1.0 / DELTA)
    if learner == SGD:
        return slope * (1.0 + math.sqrt(8.0 * dimension * log)) / math.sqrt(count * epsilon)
    return slope * WEIGHTS * math.log(2.0 * dimension) * math.sqrt(log) / math.sqrt(count * epsilon)


def right_panel(learner: str, count: int, store: Store, *, runs: int) -> dict[str, dict[float, list[float]]]:
    """Bound, excess loss and distance of the weights, against epsilon."""
    found: dict[str, dict[float, list[float]]] = {name: {} for name in LINE_STYLES}
    for epsilon in EPSILONS:

        def one(run: int, epsilon: float = epsilon) -> list[float]:
            data = pool("lasso", count, 10, side=0.0, generator=np.random.default_rng([SEED, count, run]))
            best = train(data, PLAIN, math.inf, 0)
            made = train(data, learner, epsilon, SEED + run, steps=400 if count > 1000 else None)
            return [excess(data, made, best), float(np.linalg.norm(made - best))]

        pairs = [
            store.of(
                f"{learner}, N = {count}, epsilon {epsilon:g}, run {run}: loss and distance",
                partial(one, run),
            )
            for run in range(runs)
        ]
        found["computed excess loss"][epsilon] = [pair[0] for pair in pairs]
        found["distance from the true weights"][epsilon] = [pair[1] for pair in pairs]
        found["the thesis's bound"][epsilon] = [
            printed_bound(learner, count=count, dimension=11, epsilon=epsilon)
        ]
    return found


# Fits of figures 4.2, 4.4 and 4.13 to 4.15.


def fits(store: Store, kept: Store) -> dict[str, dict[str, list[float]]]:
    """accuracy = a + b ln(epsilon) over epsilons up to 1: b in points, and half of its 95 % interval over models."""
    found: dict[str, dict[str, list[float]]] = {}
    for figure, (setting, rule) in FITTED.items():
        for learner in (SGD, FW):
            keys = [f"{setting}: {rule}, {learner}, epsilon {e:g}" for e in EPSILONS]
            if all(key in kept.values for key in keys):
                by_model = np.array([kept.values[key] for key in keys])
                found.setdefault(figure, {})[learner] = store.of(
                    f"figure {figure}, {learner}: slope in points and half its interval",
                    partial(slope, by_model),
                )
    return found


def slope(by_model: Floats) -> list[float]:
    """The slope is fitted to every model by itself: models are independent, points of one model are not."""
    each = 100.0 * np.polyfit(np.log(EPSILONS), by_model, 1)[0]
    error = float(np.std(each, ddof=1)) / math.sqrt(each.size)
    return [float(np.mean(each)), float(student.ppf(0.975, each.size - 1)) * error]


# Figure 4.9, lower left, and the times.


def boundaries(share: float = 0.2) -> tuple[Pool, dict[str, Floats]]:
    """The data of figure 4.9 and the lines of models with and without privacy."""
    data = pool("logistic", 300, 2, side=math.sqrt(share), generator=np.random.default_rng([SEED, 9]))
    lines = {PLAIN: train(data, PLAIN, math.inf, 0)}
    for epsilon in (0.5, 1.0):
        for learner in (SGD, FW):
            lines[f"{learner}, ε = {epsilon:g}"] = train(data, learner, epsilon, SEED)
    return data, lines


def angles(data: Pool, lines: dict[str, Floats], store: Store) -> dict[str, list[float]]:
    """In degrees from the line without privacy, and the share of new people classified rightly."""

    def one(weights: Floats) -> list[float]:
        first, second = lines[PLAIN][1:], weights[1:]
        cosine = float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))
        return [math.degrees(math.acos(max(-1.0, min(1.0, cosine)))), success(data, weights)]

    return {
        name: store.of(f"figure 4.9, {name}: angle and success", partial(one, weights))
        for name, weights in lines.items()
    }


def times(store: Store, *, repeats: int) -> dict[str, list[float]]:
    """CPU seconds of one fit at epsilon 1, the shortest of the repeats: DP-SGD, then DP-FW."""
    found = {}
    for kind, count, columns, side in (
        ("lasso", 1000, 10, 0.0),
        ("lasso", 10_000, 10, 0.0),
        ("logistic", 300, 2, 0.4),
        ("logistic", 300, 10_000, 0.4),
    ):
        data = pool(kind, count, columns, side=side, generator=np.random.default_rng([SEED, count, columns]))  # type: ignore[arg-type]

        def both(data: Pool = data) -> list[float]:
            return [min(_timed(data, learner) for _ in range(repeats)) for learner in (SGD, FW)]

        found[f"{kind}, N = {count:,}, p = {columns:,}"] = store.of(
            f"{kind}, N = {count}, p = {columns}: seconds of DP-SGD and of DP-FW", both
        )
    return found


def _timed(data: Pool, learner: str) -> float:
    train(data, learner, 1.0, SEED)  # calibrations are cached
    begin = time.process_time()
    train(data, learner, 1.0, SEED)
    return time.process_time() - begin


# Page and pictures.


def page(
    store: Store, kept: Store, *, runs: int
) -> tuple[list[str], dict[str, dict[str, dict[float, list[float]]]]]:
    """The generated Markdown, and the panels to draw."""
    lines = ["# Micali 2022: the remaining panels of chapters 1 and 4", ""]
    seen = tails(store)
    largest = largest_laplace_loss(store)
    right = {
        f"figure {figure}: {learner}, N = {count:,}": right_panel(learner, count, store, runs=runs)
        for figure, learner, count in (("4.1", SGD, 1000), ("4.3", SGD, 10_000), ("4.5", FW, 1000))
    }
    fitted = fits(store, kept)
    drawn, boundary_lines = boundaries()
    turned, timed = angles(drawn, boundary_lines, store), times(store, repeats=runs)
    lines += [
        f"Made by `python -m studies.reproductions.000_panels`, seed {SEED}: "
        f"{store.total_seconds:.0f} CPU seconds on one "
        f"core, "
        f"{store.memory}.",
        "",
        "## Figures 1.1 to 1.3: the privacy loss",
        "",
        "![](../../../docs/figures/seed_privacy_loss.svg)",
        "",
    ]
    lines += ["| ε, Gaussian with μ = 1 | 1 | 2 | 3 |", "|---|---:|---:|---:|"]
    lines += ["| the thesis's δ, P[loss ≥ ε] | " + " | ".join(f"{tail:.4f}" for _, tail, _ in seen) + " |"]
    lines += ["| the least δ of (ε, δ) | " + " | ".join(f"{least:.4f}" for _, _, least in seen) + " |"]
    lines += ["", loss_words(seen, largest), ""]
    lines += ["## Figures 4.1, 4.3 and 4.5, right-hand panels: loss, bound and distance", ""]
    lines += ["![](../../../docs/figures/seed_losses.svg)", ""]
    for title, values in right.items():
        lines += [f"### {title[0].upper()}{title[1:]}", "", *table("ε", EPSILONS, values, digits=4), ""]
    lines += [bound_words(right), "", "## Figures 4.2, 4.4 and 4.13 to 4.15: logarithmic fits", ""]
    lines += ["| figure | slope, DP-SGD | slope, DP-FW |", "|---|---:|---:|"]
    for figure, both in fitted.items():
        cells = [f"{both[name][0]:+.2f} ± {both[name][1]:.2f}" for name in (SGD, FW)]
        lines.append(f"| {figure} | " + " | ".join(cells) + " |")
    lines += [
        "",
        fit_words(fitted),
        "",
        "## Figure 4.9: the lines",
        "",
        "![](../../../docs/figures/seed_lines.svg)",
        "",
    ]
    lines += ["| model | degrees from the line without privacy | classified rightly |", "|---|---:|---:|"]
    lines += [
        f"| {name} | {angle:.1f} | {right_share:.3f} |" for name, (angle, right_share) in turned.items()
    ]
    lines += ["", line_words(turned), "", "## How long they take", ""]
    lines += ["| one fit, ε = 1 | DP-SGD, ms | DP-FW, ms | DP-FW / DP-SGD |", "|---|---:|---:|---:|"]
    lines += [
        f"| {name} | {1000 * sgd:.1f} | {1000 * fw:.1f} | {fw / sgd:.2f} |"
        for name, (sgd, fw) in timed.items()
    ]
    return [*lines, "", time_words(timed)], right


def draw(right: dict[str, dict[str, dict[float, list[float]]]]) -> None:
    """Three figures."""
    with panels("seed_losses", columns=len(right), size=(11.0, 4.0), legend=3) as axes:
        for place, (title, values) in zip(axes[0], right.items(), strict=True):
            for name, series in values.items():
                plot(place, name, series, LINE_STYLES[name])
            ticks(place, EPSILONS)
            place.set(title=title, xlabel="ε", yscale="log")
    at = np.linspace(-4.0, 5.0, 721)
    with panels("seed_privacy_loss", columns=3, size=(11.0, 3.8), legend=3) as axes:
        for name, colour in (("Laplace", BLUE), ("Gaussian", ORANGE)):
            losses = privacy_losses(at)[name]
            axes[0, 0].plot(at, losses, color=colour, label=name)
            axes[0, 1].plot(norm.cdf(at), losses, color=colour)
        axes[0, 0].axhline(math.sqrt(2.0), color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
        axes[0, 0].set(title="1.1, 1.2: privacy loss", xlabel="output t", ylabel="loss", ylim=(-4.2, 4.2))
        axes[0, 1].set(title="1.3: on the scale F(t)", xlabel="F(t)", ylim=(-4.2, 4.2))
        e = np.linspace(0.0, 3.0, 61)
        axes[0, 2].plot(
            e, norm.sf(e - 0.5), color=RED, linestyle=(0, (4, 2)), label="P[loss ≥ ε], the thesis's δ"
        )
        axes[0, 2].plot(e, [GaussianDP(1.0).delta(float(x)) for x in e], color=INK, label="the least δ")
        axes[0, 2].set(title="1.3: what δ is", xlabel="ε", ylabel="δ")
    data, lines = boundaries()
    with panels("seed_lines", size=(6.4, 5.2), legend=3) as axes:
        rows, labels = data.members.features * math.sqrt(3.0), data.members.labels
        for value, colour in ((0, MUTED), (1, BLUE)):
            axes[0, 0].scatter(
                *rows[labels == value, 1:].T, s=9, color=colour, alpha=0.6, label=f"class {value}"
            )
        colours = [INK, ORANGE, RED, "#e8b04b", "#d98880"]
        for (name, w), colour in zip(lines.items(), colours, strict=True):
            x = np.array([-1.0, 1.0])
            axes[0, 0].plot(x, -(w[0] + w[1] * x) / w[2], color=colour, label=name)
        axes[0, 0].set(title="Figure 4.9: N = 300, overlap 20 %", xlim=(-1, 1), ylim=(-1, 1))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two models each, nothing written")
    quick = parser.parse_args(arguments).quick
    warnings.simplefilter("ignore", NotPrivateWarning)
    lines, right = page(
        Store(None if quick else "000_panels"), Store("000_membership", frozen=True), runs=2 if quick else 10
    )
    if not quick:
        write("000_panels", lines)
        draw(right)
    sys.stdout.write("\n".join(lines) + "\n")
    if quick:
        sys.stdout.write("\n--quick: two models each; bands and intervals mean nothing.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

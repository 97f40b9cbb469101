"""Draw every figure of the docs: `python docs/figures/make.py [--png FOLDER] [NAME ...]`.

Each figure makes one statement and asks the library for every number in it. SVG output is
deterministic: fixed salt, no date, seeds where something is drawn (pictures only, never private).
"""

# ruff: noqa: RUF001  Greek letters in labels are meant.

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from runpy import run_path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from holdfast.errors import NotPrivateWarning
from holdfast.privacy import (
    ZCDP,
    Account,
    DiscreteGaussian,
    Gaussian,
    GaussianDP,
    Laplace,
    PureDP,
    RandomisedResponse,
    SubsampledGaussian,
    TradeOff,
    compose,
)

HERE = Path(__file__).resolve().parent
# Okabe and Ito's palette: told apart by people with any colour vision.
BLUE, ORANGE, GREEN, PINK, SKY, RED = "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00"
INK, MUTED = "#1c2733", "#5b6875"
STYLE: dict[str, Any] = {
    "svg.hashsalt": "holdfast",
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e3e8ed",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "text.color": INK,
    "lines.linewidth": 2.0,
    "legend.frameon": False,
}


def _coin(axes: Any) -> None:
    axes.plot([0, 1], [1, 0], color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="false alarms", ylabel="misses", aspect="equal")


def _line(curve: TradeOff) -> tuple[np.ndarray, np.ndarray]:
    """The polygon at as many points as a picture needs: dense where it is steep."""
    at = np.linspace(0.0, 1.0, 161) ** 2
    return at, np.array([curve.miss_at(float(x)) for x in at])


def tradeoff() -> Figure:
    """A proof forbids a region, an attack is a curve outside it, an audit bounds the best test from above."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.6))
    for axes in (left, right):
        _coin(axes)

    left.set_title("A proof forbids a region")
    spots = {0.5: (0.30, 0.535), 1.0: (0.20, 0.455), 2.0: (0.085, 0.30)}
    for mu, colour, style in ((0.5, GREEN, "-"), (1.0, BLUE, (0, (6, 1.5))), (2.0, RED, (0, (3, 1, 1, 1)))):
        proved = GaussianDP(mu).trade_off()
        at, miss = _line(proved)
        left.fill_between(at, 0, miss, color=colour, alpha=0.10, linewidth=0)
        left.plot(at, miss, color=colour, linestyle=style)
        left.annotate(
            f"μ = {mu:g}",
            spots[mu],
            color=colour,
            fontweight="bold",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0, "alpha": 0.8},
        )
    left.text(0.53, 0.53, "blind guessing", color=MUTED, fontsize=9, ha="center", rotation=-45, va="center")
    left.text(0.97, 0.93, "smaller μ, larger region,\nstronger promise", fontsize=9.5, ha="right", va="top")

    right.set_title("Proof, attack and audit: one type")
    proof = Gaussian(sigma=1.0, l2_sensitivity=1.0).curve.trade_off()
    attack, audit = _attacked()
    right.fill_between(*_line(proof)[:1], 0, _line(proof)[1], color=BLUE, alpha=0.14, linewidth=0)
    right.plot(*_line(proof), color=BLUE, label="proved: every test is above")
    right.plot(*_line(attack), color=ORANGE, linestyle=(0, (6, 1.5)), label="measured: one attack got here")
    right.plot(
        *_line(audit),
        color=PINK,
        linestyle=(0, (1, 1)),
        linewidth=2.4,
        label=f"audited: the best test is below ({100 * audit.confidence:g} %)",
    )
    right.text(0.04, 0.04, "impossible", color=BLUE, fontweight="bold")
    right.legend(loc="upper right", fontsize=8.5, handlelength=2.6, borderaxespad=0.2)
    return figure


def _attacked(runs: int = 4000, *, noise: float = 1.0, spread: float = 0.75) -> tuple[TradeOff, TradeOff]:
    """An attack on releases of this noise that looks through a blur, and what a fixed threshold audits."""
    from scipy.special import betaincinv

    account = Account(GaussianDP(1e3), currency="gdp", seed=20)
    mechanism = Gaussian(sigma=noise, l2_sensitivity=1.0)
    permit = account.permit(mechanism, times=2)
    blur = np.random.default_rng(20).normal(0.0, spread, size=(2, runs))
    # One vector of independent coordinates stands for many runs of one release each.
    without, with_one = (np.sort(permit.release(np.full(runs, x)) + blur[int(x)]) for x in (0.0, 1.0))
    cuts = np.linspace(5.0, -4.0, 181)
    false_alarm = np.array([np.mean(without >= cut) for cut in cuts])
    miss = np.array([np.mean(with_one < cut) for cut in cuts])
    measured = TradeOff(np.r_[0.0, false_alarm, 1.0], np.r_[1.0, miss, 0.0], claim="measured")
    # Clopper and Pearson at a threshold fixed in advance (one half), 2.5 % for each of the two rates.
    seen = int(np.sum(without >= 0.5)), int(np.sum(with_one < 0.5))
    top = [float(betaincinv(k + 1, runs - k, 0.975)) for k in seen]
    return measured, TradeOff([0.0, top[0], 1.0], [1.0, top[1], 0.0], claim="audited", confidence=0.95)


def promise() -> Figure:
    """Two programs make the same promise; the one that adds less noise than it says is caught."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.6))
    claim = Gaussian(sigma=1.0, l2_sensitivity=1.0).curve.trade_off()
    at, proved = _line(claim)
    for axes, noise, spread in zip(panels, (1.0, 0.4), (0.75, 0.3), strict=True):
        _coin(axes)
        attack, audit = _attacked(noise=noise, spread=spread)
        axes.fill_between(at, 0, proved, color=BLUE, alpha=0.16, linewidth=0)
        axes.plot(at, proved, color=BLUE)
        axes.plot(*_line(attack), color=ORANGE, linestyle=(0, (6, 1.5)))
        axes.plot(*_line(audit), color=PINK, linestyle=(0, (1, 1)), linewidth=2.4)
        below = np.minimum(_line(audit)[1], proved)
        axes.fill_between(at, below, proved, color=RED, alpha=0.45, linewidth=0)
        assert audit.contradicts(claim) == (noise < 1.0)
    left, right = panels
    left.set_title("A promise that holds")
    for words, spot, place, colour in (
        ("an audit: the best attack\nis below (95 % sure)", (0.243, 0.55), (0.42, 0.80), PINK),
        ("an attack got here", (0.43, 0.26), (0.56, 0.52), ORANGE),
    ):
        arrow = {"arrowstyle": "->", "color": colour, "linewidth": 1.4}
        left.annotate(words, spot, place, color=colour, fontweight="bold", arrowprops=arrow)
    left.text(0.04, 0.06, "the proof says:\nnobody gets here", color=BLUE, fontweight="bold")
    right.set_title("The same promise, 40 % of the noise: refuted", color=RED)
    right.annotate(
        "somebody did",
        (0.17, 0.36),
        (0.42, 0.62),
        color=RED,
        fontweight="bold",
        fontsize=12,
        arrowprops={"arrowstyle": "->", "color": RED, "linewidth": 1.6},
    )
    return figure


def curves() -> Figure:
    """The same strength looks different at every delta: a curve says more than one epsilon."""
    figure, axes = plt.subplots(figsize=(7.2, 4.3))
    step = SubsampledGaussian(sigma=0.8, l2_sensitivity=1.0, rate=0.004)
    steps = 1000
    gaussian = GaussianDP(0.5)
    shown = (
        ("pure, ε = 1", PureDP(1.0), RED, "-"),
        ("Gaussian, μ = 0.5", gaussian, BLUE, "-"),
        (
            f"zCDP, ρ = {float(gaussian.as_zcdp()):g}: all that ρ knows of it",
            ZCDP(gaussian.as_zcdp()),
            SKY,
            (0, (5, 2)),
        ),
        (
            f"{steps} steps of DP-SGD, σ = {step.sigma:g}, rate {step.rate:g}",
            step.curve.repeat(steps),
            GREEN,
            (0, (3, 1, 1, 1)),
        ),
    )
    epsilons = np.linspace(0.0, 4.0, 401)
    for label, curve, colour, style in shown:
        deltas = curve.deltas(epsilons)
        axes.plot(epsilons, np.where(deltas > 0, deltas, np.nan), color=colour, linestyle=style, label=label)
    # A pure curve ends: beyond its epsilon nothing is left.
    axes.plot([1.0, 1.0], [PureDP(1.0).delta(0.99), 1e-12], color=RED)
    axes.set(yscale="log", ylim=(1e-12, 2.0), xlim=(0, 4), xlabel="ε", ylabel="δ(ε)")
    axes.set_title("δ(ε): what each promise says at every ε")
    axes.legend(loc="upper right", fontsize=9)
    return figure


def composition() -> Figure:
    """A hundred answers at epsilon 0.1, added up by four rules."""
    sys.path.insert(0, str(HERE.parents[1]))  # the repository: reproductions are not installed
    from studies.reproductions.textbook_composition import advanced, basic

    figure, axes = plt.subplots(figsize=(7.2, 4.3))
    one = RandomisedResponse(epsilon=0.1).curve
    delta, rho = 1e-6, PureDP(0.1).as_zcdp()
    times = np.unique(np.r_[1, np.arange(4, 101, 4)])
    rules: tuple[tuple[str, Callable[[int], float], str, Any], ...] = (
        ("basic: ε adds up", lambda n: float(basic([(0.1, 0.0)] * n)[0]), RED, "-"),
        (
            "advanced (Dwork, Rothblum, Vadhan 2010)",
            lambda n: advanced(0.1, times=n, slack=delta),
            ORANGE,
            (0, (6, 1.5)),
        ),
        ("zCDP: ρ = ε²/2 adds up", lambda n: ZCDP(n * rho).epsilon(delta), SKY, (0, (3, 1, 1, 1))),
        (
            "numeric: the least that is true, rounded up",
            lambda n: compose([one], times=n).epsilon(delta),
            BLUE,
            "-",
        ),
    )
    for label, rule, colour, style in rules:
        axes.plot(times, [rule(int(n)) for n in times], color=colour, linestyle=style, label=label)
        axes.annotate(
            f"{rule(100):.2f}",
            (100, rule(100)),
            xytext=(5, -3),
            textcoords="offset points",
            color=colour,
            fontsize=9,
        )
    axes.set(
        xlim=(0, 108),
        ylim=(0, 10.6),
        xlabel="number of releases, each randomised response at ε = 0.1",
        ylabel=f"ε at δ = {delta:g}",
    )
    axes.set_title("The same releases, four ways of adding up")
    axes.legend(loc="upper left", fontsize=9)
    return figure


def low_bits() -> Figure:
    """Doubles betray the value in their last bits; a public grid does not."""
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), sharey=True)
    size = 400_000
    drawn = np.random.default_rng(7).laplace(0.0, 1.0, size=(2, size))
    account = Account(PureDP(1e3), seed=7)
    strict = account.permit(Laplace(scale=1.0, l1_sensitivity=1.0), times=2)
    panels = (
        ("noise added in doubles", [x + drawn[int(x)] for x in (0.0, 1.0)]),
        ("holdfast: exact noise on a public grid", [strict.release(np.full(size, x)) for x in (0.0, 1.0)]),
    )
    for place, (title, worlds) in enumerate(panels):
        bits = [_last_bit(released[(released >= 0.125) & (released < 0.25)]) for released in worlds]
        first = min(int(b.min()) for b in bits)
        exponents = np.arange(first, first + 8)
        for world, (label, colour, hatch) in enumerate(
            (("true value 0", BLUE, ""), ("true value 1", ORANGE, "////"))
        ):
            shares = [100 * np.mean(bits[world] == k) for k in exponents]
            axes[place].bar(
                exponents + 0.4 * (world - 0.5),
                shares,
                width=0.4,
                color=colour,
                label=label,
                hatch=hatch,
                edgecolor="white",
                linewidth=0,
            )
        axes[place].set(xlabel="place k of the last bit set: released value = odd × 2ᵏ", xticks=exponents)
        axes[place].grid(axis="x", visible=False)
        axes[place].set_title(title)
    axes[0].set(ylabel="share of releases (%)", ylim=(0, 62))
    axes[0].annotate(
        "the last bit is here: the value\nwas 0, with certainty",
        (-54.9, 51),
        xytext=(-52.4, 55),
        fontsize=9,
        va="center",
        arrowprops={"arrowstyle": "->", "color": MUTED},
    )
    axes[1].legend(loc="upper right", fontsize=9)
    return figure


def _last_bit(values: np.ndarray) -> np.ndarray:
    """The exponent of the lowest set bit of positive doubles."""
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(float)).astype(int)
    return np.asarray(exponent - 53 + lowest)


def discrete_gap() -> Figure:
    """Integer Gaussian noise is not Gaussian: its own curve, and how far it is off."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.1))
    epsilons = np.linspace(0.0, 5.0, 501)
    discrete = DiscreteGaussian(sigma=1.0, l2_sensitivity=1, dimension=1).curve
    left.plot(epsilons, discrete.deltas(epsilons), color=RED, label="discrete Gaussian, its own curve")
    left.plot(
        epsilons,
        GaussianDP(1.0).deltas(epsilons),
        color=BLUE,
        linestyle=(0, (6, 1.5)),
        label="normal, and rounded normal",
    )
    left.plot(
        epsilons,
        ZCDP(0.5).deltas(epsilons),
        color=SKY,
        linestyle=(0, (3, 1, 1, 1)),
        label="zCDP: true of both",
    )
    left.set(yscale="log", ylim=(1e-7, 1.5), xlim=(0, 5), xlabel="ε", ylabel="δ(ε)")
    left.set_title("One step of shift, σ = 1")
    left.legend(loc="lower left", fontsize=9)
    for sigma, colour, style in (
        (1, RED, "-"),
        (2, ORANGE, (0, (6, 1.5))),
        (4, GREEN, (0, (3, 1, 1, 1))),
        (16, BLUE, "-"),
    ):
        # Sensitivity of one standard deviation, in steps of the grid: the same mu = 1 throughout.
        own = DiscreteGaussian(sigma=float(sigma), l2_sensitivity=sigma, dimension=1).curve.deltas(epsilons)
        normal = GaussianDP(1.0).deltas(epsilons)
        keep = normal > 1e-9
        excess = 100 * (own[keep] / normal[keep] - 1)
        right.plot(
            epsilons[keep],
            excess,
            color=colour,
            linestyle=style,
            linewidth=1.6,
            label=f"σ = {sigma} grid step{'s' * (sigma > 1)}: up to {excess.max():.2g} %",
        )
    right.axhline(0, color=MUTED, linewidth=1)
    right.set(xlim=(0, 5), xlabel="ε", ylabel="δ above the normal curve (%)")
    right.set_title("A shift of one σ: finer grid, smaller gap")
    right.legend(loc="upper left", fontsize=9)
    return figure


def attack_roc() -> Figure:
    """A forest that learns by heart gives its members away; a private model stays below what is proved."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    from holdfast.attack import membership
    from holdfast.attack._roc import draw_roc
    from holdfast.learn import PrivateLogisticRegression

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.7), sharey=True)
    X, y = make_classification(2000, n_features=20, n_informative=10, flip_y=0.2, random_state=1)
    people: dict[str, Any] = {"members": (X[:1000], y[:1000]), "non_members": (X[1000:], y[1000:])}
    shown = ("loss", "quantile", "lira", "rmia")
    forest = RandomForestClassifier(60, random_state=1).fit(*people["members"])
    report = membership(forest, **people, attacks=shown, random_state=1)
    draw_roc(left, report.results)
    left.set_title("A forest that learned by heart")
    private = PrivateLogisticRegression(epsilon=1.0, row_norm=6.0, classes=[0, 1], random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        private.fit(*people["members"])
    kept = membership(private, **people, attacks=shown, random_state=1)
    draw_roc(right, kept.results, proved=kept.results[0].proved)
    right.set_title("A private model, ε = 1")
    right.set(ylabel="")
    for axes in (left, right):
        axes.legend(loc="lower right", fontsize=8.5)
    return figure


def attack_coins() -> Figure:
    """Members who differ look like a leak; with coins that holdfast flips the difference is gone."""
    from holdfast.attack import membership
    from holdfast.attack._roc import draw_roc
    from holdfast.audit import MembershipDesign, membership_game
    from holdfast.learn import PrivateLogisticRegression

    draw = np.random.default_rng(3)

    def clinic(count: int, certainty: float) -> tuple[np.ndarray, np.ndarray]:
        rows = draw.normal(size=(count, 3)) / 2
        return rows, (certainty * rows[:, 0] + draw.logistic(size=count) / 4 > 0).astype(int)

    easy, hard = clinic(1500, 4.0), clinic(1500, -1.0)
    private = PrivateLogisticRegression(epsilon=0.5, classes=[0, 1], random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        private.fit(*easy)
    given = membership(private, members=easy, non_members=hard, attacks="loss", random_state=1)
    pool = np.vstack([easy[0], hard[0]]), np.concatenate([easy[1], hard[1]])
    assert private.release_ is not None
    game = membership_game(
        private,
        pool,
        claim=private.release_.guarantee,
        design=MembershipDesign(attacks="loss"),
        delta=1e-6,
        seed=1,
    )
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.7), sharey=True)
    for place, (title, report) in enumerate(
        (
            ("Members of one clinic, others of another", given),
            ("The same people, coins by holdfast", game.report),
        )
    ):
        draw_roc(axes[place], report.results, proved=report.results[0].proved)
        axes[place].set_title(title)
        axes[place].text(0.03, 0.93, f"verdict: {report.verdict()}", transform=axes[place].transAxes)
        axes[place].legend(loc="lower right", fontsize=8.5)
    axes[1].set(ylabel="")
    return figure


def synth_errors() -> Figure:
    """The two metrics disagree: answers without rows win the largest error, models win the average."""
    runs = json.loads(
        (HERE.parents[1] / "studies" / "benchmarks" / "results" / "synth.json").read_text(encoding="utf-8")
    )
    shown = (
        ("errors auto", "auto", BLUE, "o"),
        ("line tree", "tree", GREEN, "s"),
        ("errors gaussian", "gaussian", RED, "D"),
        ("errors mwem", "mwem", PINK, "^"),
        ("errors fem", "fem", SKY, "v"),
        ("line gaussian answers", "answers, no rows", MUTED, "x"),
        ("line independent", "independent", ORANGE, "P"),
    )
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.4))
    for axes, metric in zip(panels, ("tvd", "max_error"), strict=True):
        for key, label, colour, marker in shown:
            points = []
            for epsilon in (0.1, 1, 10):
                found = [runs.get(f"{key} {epsilon:g} {seed}", {}).get(metric) for seed in range(3)]
                values = [value for value in found if value is not None]
                if values:
                    points.append((epsilon, float(np.mean(values))))
            if points:
                style = (0, (3, 2)) if key.startswith("line") else "-"
                axes.loglog(
                    *zip(*points, strict=True), marker=marker, color=colour, linestyle=style, label=label
                )
        axes.set(xlabel="ε (δ = 1e-9)", xticks=(0.1, 1, 10), xticklabels=("0.1", "1", "10"))
    panels[0].set(ylabel="average total variation")
    panels[0].set_title("Adult, 64 marginals: on average")
    panels[1].set(ylabel="largest error of any query")
    panels[1].set_title("The worst of 458,996 queries")
    panels[0].legend(fontsize=8.5, loc="lower left")
    return figure


def synth_panel() -> Figure:
    """What one method for everything loses to the best of the house, and what `auto` loses."""
    stored = json.loads(
        (HERE.parents[1] / "studies" / "benchmarks" / "results" / "synth_panel.json").read_text(
            encoding="utf-8"
        )
    )
    cells: dict[tuple[str, float], dict[str, list[tuple[float, float]]]] = {}
    for key, found in stored.items():
        if "tvd" not in found:  # stopped: it took too long
            continue
        task, epsilon, method, _ = key.split(" ")
        pair = (found["tvd"], found["max_error"])
        cells.setdefault((task, float(epsilon)), {}).setdefault(method, []).append(pair)
    means = {
        cell: {method: np.mean(pairs, axis=0) for method, pairs in found.items()}
        for cell, found in sorted(cells.items())
        if {"auto", "gaussian"} <= set(found) and len(found) > 2
    }
    shown = (
        ("adaptive", ORANGE, "s"),
        ("gaussian", RED, "D"),
        ("query_gan", GREEN, "^"),
        ("auto", BLUE, "o"),
    )
    figure, panels = plt.subplots(2, 1, figsize=(max(9.6, 0.11 * len(means)), 6.6), sharex=True)
    titles = (
        "Average total variation, over the best of the house",
        "Largest error, over the best of the house",
    )
    for place, (axes, allowed) in enumerate(zip(panels, (1.15, 2.0), strict=True)):
        for method, colour, marker in shown:
            points = [
                (at, found[method][place] / min(one[place] for name, one in found.items() if name != "auto"))
                for at, found in enumerate(means.values())
                if method in found
            ]
            solid = colour if method == "auto" else "none"
            axes.plot(
                *zip(*points, strict=True),
                linestyle="none",
                marker=marker,
                color=colour,
                markerfacecolor=solid,
                label=method,
            )
        axes.axhline(allowed, color=MUTED, linestyle=(0, (3, 2)))
        axes.set(yscale="log", ylim=(0.9, 14), yticks=(1, 2, 4, 8), yticklabels=("1", "2", "4", "8"))
        axes.minorticks_off()
        axes.set_title(titles[place])
    panels[0].legend(fontsize=8.5, loc="upper left", ncols=4)
    # One name for each table, below its budgets, which grow from left to right; a line between two tables.
    tasks = [task for task, _ in means]
    middles = {task: float(np.mean([at for at, one in enumerate(tasks) if one == task])) for task in tasks}
    for axes in panels:
        axes.grid(visible=False, axis="x")
        for at in range(1, len(tasks)):
            if tasks[at] != tasks[at - 1]:
                axes.axvline(at - 0.5, color="#e3e8ed", lw=0.8)
    panels[1].set_xticks(
        list(middles.values()),
        [task.replace("_", " ") for task in middles],
        rotation=60,
        ha="right",
        fontsize=7.5,
    )
    panels[1].set_xlabel("table; from left to right ε = 0.1, 1, 10")
    return figure


def synth_certificate() -> Figure:
    """What is claimed lies above what is true, as often as it says, and shrinks with what is paid for it."""
    from holdfast.data import Categorical, Schema, open_table
    from holdfast.synth import Synthesizer, Workload
    from holdfast.synth._evaluation import evaluate
    from holdfast.synth._exact_counts import ExactCounts

    draw = np.random.default_rng(4)
    hidden = draw.integers(0, 4, 4000)
    frame = {name: (hidden + draw.integers(0, 2, 4000)) % 4 for name in "abcd"}
    schema = Schema([Categorical(name, ["0", "1", "2", "3"]) for name in frame])
    table, workload = open_table(frame, schema), Workload.marginals(schema, 3)
    data = ExactCounts(table)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.4))
    truth, claims = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        for seed in range(100):
            made = Synthesizer(0.5, 1e-6, method="independent", workload=workload, random_state=seed).fit(
                table
            )
            truth.append(evaluate(lambda columns: data(*columns), made._rows, workload).max_error)
            assert made.certificate_ is not None
            claims.append(made.certificate_.alpha)
    held = np.array(claims) >= np.array(truth)
    edge = [min(truth) * 0.98, max(truth) * 1.02]
    left.plot(edge, edge, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    left.scatter(
        np.array(truth)[held], np.array(claims)[held], color=BLUE, s=16, label=f"holds: {held.sum()}"
    )
    left.scatter(
        np.array(truth)[~held],
        np.array(claims)[~held],
        color=RED,
        s=22,
        marker="x",
        label=f"fails: {(~held).sum()}",
    )
    left.set(xlabel="true largest error (only the owner knows)", ylabel="what the certificate says")
    left.locator_params(axis="x", nbins=5)
    left.set_title("100 releases, confidence 0.95")
    left.legend(loc="upper left")

    from holdfast.privacy import ApproxDP
    from holdfast.synth._certificate import certificate_noise

    epsilons = np.geomspace(0.05, 10, 25)
    for rows, colour, style in (
        (1000, RED, "-"),
        (48_842, BLUE, (0, (6, 1.5))),
        (1_000_000, GREEN, (0, (3, 1, 1, 1))),
    ):
        least = []
        for epsilon in epsilons:
            (share,) = Account(ApproxDP(float(epsilon), 1e-9), currency="zcdp").split(0.1)
            least.append(1.645 * certificate_noise(share, max_rows=1, adjacency=share.adjacency)[1] / rows)
        right.loglog(epsilons, least, color=colour, linestyle=style, label=f"{rows:,} rows")
    right.set(xlabel="ε of the whole release (δ = 1e-9)", ylabel="least that can be claimed")
    right.set_title("A tenth of the budget pays for this")
    right.legend(loc="upper right")
    return figure


def example(name: str, **seed: int) -> Callable[[], Figure]:
    """The picture of a gallery entry; a seed where its noise would change the file at every run."""

    def draw() -> Figure:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotPrivateWarning)
            made: Figure = run_path(str(HERE.parent.parent / "examples" / f"{name}.py"))["picture"](**seed)
        return made

    return draw


def publishing_options() -> Figure:
    """Ways to publish a private model of Adult, and what each tells about marital status."""
    from holdfast import PrivateLogisticRegression, adult
    from holdfast.attack import publishing_options as options
    from holdfast.data._datasets import _HERE, adult_schema
    from holdfast.data._engines.files import read_table

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=0).fit(
            adult(), target="income"
        )
    people = read_table(Path(str(_HERE / "adult_test.parquet"))).slice(0, 3000)
    found = options(
        model,
        people.drop_columns(["income"]),
        np.asarray(people["income"]),
        sensitive="marital_status",
        schema=adult_schema(),
        random_state=0,
    )
    figure: Figure = found.plot()
    return figure


def evaluation() -> Figure:
    """Synthetic Adult beside the real one: errors, correlations, predictions."""
    from holdfast import Synthesizer, adult

    few = ["age", "workclass", "education", "marital_status", "occupation", "hours_per_week", "sex", "income"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        made = Synthesizer(epsilon=1.0, delta=1e-6, columns=few, target="income", random_state=0).fit(adult())
    figure: Figure = made.evaluate(adult(), target="income").plot()
    return figure


def additive_shapes() -> Figure:
    """What a private additive model of Adult has learnt, column by column."""
    from holdfast import PrivateAdditiveClassifier, adult

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        model = PrivateAdditiveClassifier(epsilon=1.0, delta=1e-6, random_state=0).fit(
            adult(), target="income"
        )
    figure: Figure = model.plot(most=5, pairs=1)
    return figure


def epsilons() -> Figure:
    """Accuracy of a private model of Adult against epsilon, as `holdfast compare` draws it."""
    from holdfast.data._datasets import _HERE, adult_schema
    from holdfast.data._engines.files import read_columns
    from holdfast.dossier._comparison.epsilons import compare_epsilons

    schema = adult_schema()
    columns = read_columns(Path(str(_HERE / "adult_train.parquet")), schema, name="data")
    found = compare_epsilons(
        columns,
        schema,
        target="income",
        epsilons=(0.05, 0.2, 1.0, 4.0),
        delta=1e-6,
        fits=4,
        accuracy=0.84,
        data_are_public=True,
    )
    print(found.summary())
    figure: Figure = found.plot()
    return figure


def of_page(page: str, name: str) -> Callable[[], Figure]:
    """A figure of a page that has a file of its own here."""

    def draw() -> Figure:
        made: Figure = run_path(str(HERE / f"{page}.py"))[name]()
        return made

    return draw


FIGURES: dict[str, Callable[[], Figure]] = {
    "tradeoff": tradeoff,
    "publishing_options": publishing_options,
    "promise": promise,
    "curves": curves,
    "composition": composition,
    "low_bits": low_bits,
    "discrete_gap": discrete_gap,
    "attack_roc": attack_roc,
    "attack_coins": attack_coins,
    "synth_errors": synth_errors,
    "synth_panel": synth_panel,
    "synth_certificate": synth_certificate,
    "refutation_replay": of_page("refutation", "replay"),
    "refutation_noise": of_page("refutation", "noise"),
    "refutation_sampling": of_page("refutation", "sampling"),
    "refutation_power": of_page("refutation", "power"),
    "refutation_forgers": of_page("refutation", "forgers"),
    "gibbs_pair": of_page("gibbs", "pair"),
    "gibbs_duality": of_page("gibbs", "duality"),
    "gibbs_sampler": of_page("gibbs", "sampler"),
    "gibbs_slopes": of_page("gibbs", "slopes"),
    "intervals": of_page("intervals", "coverage"),
    "example_plot_tradeoff": example("plot_tradeoff"),
    "example_plot_account": example("plot_account"),
    "example_release_counts": example("release_counts", seed=1),
    "example_ledger_budget": example("ledger_budget"),
    "example_plot_private_logistic": example("plot_private_logistic", seed=1),
    "example_synthetic_table": example("synthetic_table", seed=1),
    "example_membership_attack": example("membership_attack", seed=1),
    "example_dossier": example("dossier", seed=1),
    "evaluation": evaluation,
    "additive_shapes": additive_shapes,
    "epsilons": epsilons,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which figures ({', '.join(FIGURES)}); all without")
    parser.add_argument("--png", type=Path, help="also write PNG files there, to look at")
    chosen = parser.parse_args()
    for name in chosen.names or FIGURES:
        with mpl.rc_context(STYLE):  # type: ignore[arg-type]  # its keys are literals
            figure = FIGURES[name]()
            figure.savefig(HERE / f"{name}.svg", metadata={"Date": None})
            if chosen.png is not None:
                figure.savefig(chosen.png / f"{name}.png", dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main()

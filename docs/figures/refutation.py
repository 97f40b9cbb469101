"""The pictures of the page about refutation, each from real runs of shipped code, sound and with a planted fault.

Drawn by `docs/figures/make.py`; seeds are fixed, so a picture changes only if the code does.
"""

# ruff: noqa: RUF001  Greek letters in labels are meant.

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from scipy.stats import binom, norm

from holdfast.audit import AuditResult, ErrorRates, PowerBasis, Trainings
from holdfast.privacy import Adjacency, GaussianDP
from holdfast.privacy._account.witness import replay_tape
from holdfast.refute._faults import FAULTS
from holdfast.refute._freshness import normal_scores
from holdfast.refute._planting import with_fault
from holdfast.refute._replay import ReplayCase, compare_runs, record_run
from holdfast.refute._subjects import subjects

BLUE, RED, MUTED = "#0072b2", "#d55e00", "#5b6875"
RESULTS = Path(__file__).resolve().parents[2] / "tests" / "studies" / "results"


def _case(name: str, test: str = "replay") -> Any:
    """The first trial of this kind among the subjects of this name."""
    return next(trial for subject in subjects(name) for trial in subject.trials if trial.test == test)


@contextmanager
def _under(name: str) -> Iterator[None]:
    """The shipped code, or the same with this fault."""
    if not name:
        yield
        return
    with with_fault(next(fault for fault in FAULTS if fault.name == name)):
        yield


def _distances(case: ReplayCase, fault: str) -> tuple[Any, Any, list[float]]:
    """Both runs of the pair of neighbours, among the first twelve, that lie furthest apart; and how far, by step."""
    found: list[tuple[float, Any, Any, list[float]]] = []
    with _under(fault):
        for place, (first, second) in enumerate(case.pairs(np.random.default_rng(0))):
            if place == 12:
                break
            one = record_run(case, first, seed=1)
            two = record_run(case, second, seed=1, tape=replay_tape(one.outputs))
            steps = zip(one.transcript.steps, two.transcript.steps, strict=False)
            apart = [a.mechanism.distance(a.value, b.value, at=a.output) for a, b in steps]
            if not compare_runs(one, two).disagreement.startswith("more") and apart and not one.error:
                found.append((max(apart), one, two, apart))
    _, one, two, apart = max(found, key=lambda each: each[0])
    return one, two, apart


def replay() -> Figure:
    """A transcript, its replay on a neighbour, and how far apart the two are at each step."""
    case = _case("noisy_gd add_remove").case
    one, two, apart = _distances(case, "")
    _, _, broken = _distances(case, "division_by_private_n")
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.4))
    steps = np.arange(1, len(apart) + 1)
    # The steps of the descent: a step before them may release something of another shape.
    rounds = [
        k
        for k, step in enumerate(one.transcript.steps)
        if step.value.shape == one.transcript.steps[-1].value.shape
    ]
    last = [np.ravel(run.transcript.steps[rounds[-1]].value) for run in (one, two)]
    place = int(np.argmax(np.abs(last[0] - last[1])))
    for run, colour, marker, label in (
        (one, BLUE, "o", "with the row"),
        (two, RED, "x", "without it, replayed"),
    ):
        values = [float(np.ravel(run.transcript.steps[k].value)[place]) for k in rounds]
        left.plot(steps[rounds], values, marker, color=colour, label=f"exact value, {label}", ms=5)
    outputs = [float(np.ravel(one.transcript.steps[k].output)[place]) for k in rounds]
    left.plot(steps[rounds], outputs, "_", color=MUTED, ms=11, label="output, the same for both")
    left.set(title="A transcript, and its replay on a neighbour", xlabel="step")
    left.set_ylabel("one coordinate of the gradient sum")
    left.margins(y=0.1)
    left.set_ylim(top=1.9 * max(outputs))
    left.legend(fontsize=8, loc="upper right")
    right.axhline(1, color=MUTED, lw=1.2)
    right.plot(steps, apart, "o-", color=BLUE, ms=4, label="as shipped")
    right.plot(np.arange(1, len(broken) + 1), broken, "x--", color=RED, ms=5, label="divided by private n")
    right.set(
        title="Distance at each step",
        xlabel="step",
        ylabel="in declared sensitivities",
        ylim=(0, 1.25 * max(broken)),
    )
    right.annotate(
        "what the proof allows",
        (len(apart), 1),
        xytext=(0, 4),
        textcoords="offset points",
        fontsize=8,
        color=MUTED,
        ha="right",
    )
    right.legend(fontsize=8, loc="upper right")
    for axes in (left, right):
        axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def _scores(fault: str) -> np.ndarray:
    """Noise of pairs of steps that follow each other, as normal scores."""
    trial = _case("noisy_gd", "freshness")
    pairs = []
    with _under(fault):
        for seed in range(12):
            seen = record_run(trial.case, trial.case.plain(trial.rows), seed=seed)
            rows = [normal_scores(step, np.random.default_rng(seed)) for step in seen.transcript.steps]
            pairs += [np.stack([a, b], axis=1) for a, b in pairwise(rows) if a.shape == b.shape]
    return np.concatenate(pairs)[:800]


def noise() -> Figure:
    """What was added in one step beside what was added in the next: independent, or the same again."""
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.6), sharex=True, sharey=True)
    for ax, fault, colour, title in (
        (axes[0], "", BLUE, "As shipped"),
        (axes[1], "fixed_noise_seed", RED, "Noise used again"),
    ):
        scores = _scores(fault)
        ax.plot(scores[:, 0], scores[:, 1], ".", color=colour, ms=4, alpha=0.6)
        ax.set(
            title=f"{title}: correlation {np.corrcoef(scores.T)[0, 1]:.2f}",
            xlabel="noise of one step, in σ",
            aspect="equal",
        )
    axes[0].set_ylabel("noise of the next step, in σ")
    return figure


def _batches(fault: str, runs: int = 6) -> tuple[np.ndarray, int, float]:
    """Sizes of batches, found by blanking each row in turn; the number of rows, and the declared rate."""
    trial = _case("dp_sgd", "sampling")
    case, rows, sizes, rate = trial.case, trial.rows, [], 1.0
    with _under(fault):
        for seed in range(runs):
            world = case.plain(rows)
            whole = record_run(case, world, seed=seed)
            steps = [step for step in whole.transcript.steps if hasattr(step.mechanism, "rate")]
            rate = float(getattr(steps[0].mechanism, "rate", 1.0))
            drawn = np.zeros((len(steps), rows), dtype=bool)
            for row in range(rows):
                for other in case.change_record(world, row):
                    told = record_run(
                        case, other, seed=seed, tape=replay_tape(whole.outputs)
                    ).transcript.steps
                    for place, step in enumerate(steps):
                        drawn[place, row] |= bool(np.any(step.value != told[step.number].value))
            sizes += drawn.sum(axis=1).tolist()
    return np.array(sizes), rows, rate


def sampling() -> Figure:
    """How many rows are drawn in a step: as a Poisson sample is, or always the same number at its price."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), sharex=True)
    faults = (("", BLUE, "As shipped"), ("fixed_batches_at_the_poisson_price", RED, "Batches of fixed size"))
    for ax, (fault, colour, title) in zip(axes, faults, strict=True):
        sizes, rows, rate = _batches(fault)
        at = np.arange(rows + 1)
        ax.bar(
            at,
            np.bincount(sizes, minlength=rows + 1) / sizes.size,
            color=colour,
            alpha=0.65,
            label=f"{sizes.size} batches",
        )
        ax.plot(
            at,
            binom.pmf(at, rows, rate),
            "o-",
            color=MUTED,
            ms=3,
            lw=1,
            label=f"law at the declared rate {rate:g}",
        )
        ax.set(title=title, xlabel="rows drawn in a step")
        ax.legend(fontsize=8)
    axes[0].set_ylabel("share of steps")
    return figure


def power() -> Figure:
    """How often an audit refutes, by how much noise is missing; and which factor it states beforehand."""
    claim, draw = GaussianDP(1.0), np.random.default_rng(0)
    figure, ax = plt.subplots(figsize=(6.6, 3.5))
    factors = np.array([1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0, 2.5, 3.0])
    for runs, colour in ((200, RED), (1000, BLUE)):
        shares = []
        for kappa in factors:
            refuted = 0
            for _ in range(60):
                rate = norm.sf(0.5 * kappa)
                refuted += _audit(claim, runs, *draw.binomial(runs, [rate, rate])).p_value(claim) <= 0.05
            shares.append(refuted / 60)
        ax.plot(factors, shares, "o-", color=colour, ms=4, label=f"{runs:,} runs with and without the record")
        told = _audit(claim, runs, int(0.3 * runs), int(0.3 * runs)).power(claim)
        if told is not None and told.kappa is not None:
            ax.plot([told.kappa], [0.8], "*", color=colour, ms=13, mec="white")
    ax.axhline(0.8, color=MUTED, lw=1, ls=":")
    ax.set(
        title="What an audit would have noticed",
        xlabel="noise is too small by this factor",
        ylabel="share of audits that refute",
    )
    ax.plot([], [], "*", color=MUTED, ms=11, label="stated beforehand: noticed with probability 0.8")
    ax.legend(fontsize=8, loc="lower right")
    return figure


def _audit(claim: GaussianDP, runs: int, false_alarms: int, misses: int) -> AuditResult:
    errors = ErrorRates(false_alarms=int(false_alarms), without=runs, misses=int(misses), with_canary=runs)
    return AuditResult(
        finding=Trainings(errors=errors),
        delta=1e-5,
        coins="holdfast",
        planted="a record",
        adjacency=Adjacency.replace,
        rows="public",
        basis=PowerBasis(claim=claim, interference=0.0),
    )


def forgers() -> Figure:
    """Of three forgers, how many forgeries pass: from the stored result of the study."""
    (study,) = json.loads((RESULTS / "dossier.verification.test_forgeries.json").read_text())[
        "studies"
    ].values()
    found, kinds = study["found"], ("record", "page", "release", "ledger")
    figure, ax = plt.subplots(figsize=(8.2, 2.6))
    names = ("without the ledger", "with the ledger, without the key", "the owner, with both")
    for row, forger in enumerate(names):
        tried = sum(found.get(f"{forger}: {kind}", 0) for kind in kinds)
        passed = sum(found.get(f"{forger}: {kind} passed", 0) for kind in kinds)
        ax.barh(row, tried - passed, color=BLUE, alpha=0.75)
        ax.barh(row, passed, left=tried - passed, color=RED)
        ax.text(tried, row, f"  {passed:,} of {tried:,} pass", va="center", fontsize=9)
    ax.set(
        yticks=range(3),
        yticklabels=names,
        xlabel="forgeries tried",
        title="Who gets a forged page past verify",
    )
    ax.invert_yaxis()
    ax.margins(x=0.22)
    ax.grid(axis="y", visible=False)
    return figure

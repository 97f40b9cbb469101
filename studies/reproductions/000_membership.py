"""Micali 2022, figures 4.1 to 4.25: membership attacks on lasso, logistic and multinomial regression, with sound noise.

    python -m studies.reproductions.000_membership [--quick]

Writes `studies/reproductions/results/000_membership.md` and `docs/figures/seed_*.svg`; exits 1 if an attack exceeds
what a promise allows by more than three standard errors. Deterministic: data and noise come from SEED.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import t as student
from studies.reproductions.seed_attack import (
    DELTA,
    FW,
    PLAIN,
    SGD,
    Floats,
    Kind,
    Pool,
    allowed,
    pool,
    scores,
    success,
    train,
)
from studies.reproductions.seed_page import BLUE, MUTED, ORANGE, RED, LineStyle, panels, stamp, ticks, write
from studies.reproductions.seed_store import Store

from holdfast.attack._models.thresholds import highest_half, least_error_threshold
from holdfast.errors import NotPrivateWarning

SEED = 40000
LEARNERS = (SGD, FW)
LINE_STYLES: dict[str, LineStyle] = {
    SGD: (ORANGE, (0, (6, 1.5)), "s"),
    FW: (BLUE, "-", "o"),
    PLAIN: (MUTED, "-", ""),
}
HALF, SEEDS_TAU, SHADOW_TAU = "sorted half", "the thesis's τ", "τ from shadow data"
RULES, SUCCESS = (HALF, SEEDS_TAU, SHADOW_TAU), "success"
WIDE, NARROW, MANY = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0), (0.1, 0.2, 0.5, 1.0), (0.1, 0.5, 1.0, 3.0, 6.0)
FEW = (0.2, 1.0, 5.0)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One panel: data, epsilons, how many independently drawn and trained models."""

    title: str
    kind: Kind
    count: int
    columns: int
    side: float
    epsilons: tuple[float, ...]
    runs: int
    steps: int | None = None


Values = dict[tuple[str, float], list[float]]
"""By learner and epsilon, one number per model; without privacy epsilon is infinite."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was measured in one setting."""

    setting: Setting
    accuracy: Mapping[str, Values] = field(default_factory=lambda: {rule: {} for rule in RULES})
    success: Values = field(default_factory=dict)


def _both(share: float) -> float:
    """The side on each of two axes of a box that is this share of a class."""
    return math.sqrt(share)


LASSO = (
    Setting(title="N = 1,000", kind="lasso", count=1000, columns=10, side=0.0, epsilons=WIDE, runs=20),
    Setting(
        title="N = 10,000",
        kind="lasso",
        count=10_000,
        columns=10,
        side=0.0,
        epsilons=WIDE,
        runs=10,
        steps=400,
    ),
)
LOGISTIC = tuple(
    Setting(
        title=f"p = 2, overlap {100 * share:g} %",
        kind="logistic",
        count=300,
        columns=2,
        side=_both(share),
        epsilons=NARROW,
        runs=20,
    )
    for share in (0.2, 0.4, 0.6)
)
DIMENSION = (
    Setting(
        title="p = 10", kind="logistic", count=300, columns=10, side=_both(0.2), epsilons=NARROW, runs=20
    ),
    Setting(
        title="p = 10,000, easy",
        kind="logistic",
        count=300,
        columns=10_000,
        side=_both(0.2),
        epsilons=FEW,
        runs=10,
    ),
    Setting(
        title="p = 10,000, hard",
        kind="logistic",
        count=300,
        columns=10_000,
        side=0.2**1e-4,
        epsilons=FEW,
        runs=10,
    ),
)
MULTINOMIAL = tuple(
    Setting(
        title=title,
        kind="multinomial",
        count=300,
        columns=2,
        side=side,
        epsilons=MANY,
        runs=20,
    )
    for title, side in (("classes apart", 0.0), ("slight overlap", _both(0.1)), ("complete overlap", 1.0))
)
FAMILIES = {"lasso": LASSO, "logistic": LOGISTIC, "dimension": DIMENSION, "multinomial": MULTINOMIAL}


def measure(setting: Setting, store: Store, *, runs: int) -> Found:
    """Draw, train, attack: every model has data and noise of its own; learners share the data of a run."""
    found = Found(setting=setting)
    begin = time.process_time()
    places = [(PLAIN, math.inf), *((name, e) for name in LEARNERS for e in setting.epsilons)]
    parts = {**found.accuracy, SUCCESS: found.success}
    keys = {(part, at): key(setting, part, *at) for part in parts for at in places}
    if all(each in store.values for each in keys.values()):
        for (part, at), each in keys.items():
            parts[part][at] = store.values[each]
        return found
    for run in range(runs):
        number = [SEED, setting.count, setting.columns, round(1e6 * setting.side), run]
        mine, shadow = (
            pool(
                setting.kind,
                setting.count,
                setting.columns,
                side=setting.side,
                generator=np.random.default_rng([*number, place]),
            )
            for place in range(2)
        )
        cases = [
            (PLAIN, math.inf),
            *((learner, epsilon) for learner in LEARNERS for epsilon in setting.epsilons),
        ]
        for learner, epsilon in cases:
            weights = train(mine, learner, epsilon, SEED + run, steps=setting.steps)
            imitated = train(shadow, learner, epsilon, SEED + 1000 + run, steps=setting.steps)
            place = (learner, epsilon)
            found.success.setdefault(place, []).append(success(mine, weights))
            for rule, value in accuracies(mine, weights, shadow, imitated).items():
                found.accuracy[rule].setdefault(place, []).append(value)
    for (part, at), each in keys.items():
        store.put(each, parts[part][at], seconds=(time.process_time() - begin) / len(keys))
    store.keep()
    return found


def key(setting: Setting, part: str, learner: str, epsilon: float) -> str:
    """What the numbers of all models are kept by."""
    return f"{setting.kind}, {setting.title}: {part}, {learner}, epsilon {epsilon:g}"


def accuracies(mine: Pool, weights: Floats, shadow: Pool, imitated: Floats) -> dict[str, float]:
    """Balanced accuracy by each rule for the threshold, on a pool of which half are members."""
    count = mine.members.count
    given = scores(mine, weights, mine.records)
    inside, outside = given[:count], given[count:]
    # Micali 2022, section 4.3: the mean of the two means, which only someone who knows the answer can compute.
    seeds_cut = 0.5 * (inside.mean() + outside.mean())
    other = scores(shadow, imitated, shadow.records)
    shadow_cut = least_error_threshold(other[:count], other[count:])

    # Equal scores go by their place in the list: members must not come first in it.
    order = np.random.default_rng(SEED).permutation(given.size)
    highest = np.empty(given.size, dtype=bool)
    highest[order] = highest_half(given[order])

    def balanced(called: Any) -> float:
        return float(0.5 * (np.mean(called[:count]) + 1.0 - np.mean(called[count:])))

    return {
        HALF: balanced(highest),
        SEEDS_TAU: balanced(given >= seeds_cut),
        SHADOW_TAU: balanced(given > shadow_cut),
    }


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Mean, and half the width of its 95 % interval over independently trained models (Student)."""
    if len(values) < 2:
        return float(np.mean(values)), math.inf
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return float(np.mean(values)), float(student.ppf(0.975, len(values) - 1)) * error


def excesses(found: Sequence[Found]) -> list[str]:
    """Where an accuracy is above what is allowed by more than three standard errors (soundness, section 14)."""
    wrong = []
    for each in found:
        for rule, values in each.accuracy.items():
            for (learner, epsilon), numbers in values.items():
                error = float(np.std(numbers, ddof=1)) / math.sqrt(len(numbers)) if len(numbers) > 1 else 0.5
                if learner != PLAIN and np.mean(numbers) > allowed(epsilon) + 3.0 * error:
                    wrong.append(f"{each.setting.title}, {learner}, epsilon {epsilon:g}, {rule}")
    return wrong


# Pages and pictures.


def draw(name: str, found: Sequence[Found], rule: str, *, top: float) -> None:
    """Attack accuracy against epsilon with its interval, and what the promise allows."""
    with panels(name, columns=len(found), legend=5, size=(3.6 * len(found), 3.7), sharey=True) as axes:
        for place, each in zip(axes[0], found, strict=True):
            at = each.setting.epsilons
            bound = np.geomspace(at[0], at[-1], 60)
            most = np.array([allowed(float(x)) for x in bound])
            place.fill_between(bound, most, 1.0, color=RED, alpha=0.10, linewidth=0)
            place.plot(bound, most, color=RED, linewidth=1.2, label="the promise allows no more")
            place.axhline(0.5, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
            for learner in (PLAIN, *LEARNERS):
                series = [
                    interval(each.accuracy[rule][(learner, math.inf if learner == PLAIN else x)]) for x in at
                ]
                mean, half = np.array(series).T
                colour, line, marker = LINE_STYLES[learner]
                place.fill_between(at, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)
                place.plot(
                    at,
                    mean,
                    color=colour,
                    linestyle=line,
                    marker=marker,
                    markersize=4,
                    linewidth=1.5,
                    label=learner,
                )
            ticks(place, at)
            place.set(title=each.setting.title, xlabel="ε", ylim=(0.44, top))
        axes[0, 0].set(ylabel="accuracy of the attack")


def accuracy_table(found: Sequence[Found], rule: str) -> list[str]:
    """One line per panel and learner: mean ± half of the 95 % interval."""
    at = sorted({epsilon for each in found for epsilon in each.setting.epsilons})
    lines = ["| data | learner | " + " | ".join(f"ε = {x:g}" for x in at) + " | models |"]
    lines.append("|---|---|" + "---:|" * (len(at) + 1))
    for each in found:
        values = each.accuracy[rule]
        plain = _cell(values[(PLAIN, math.inf)])
        lines.append(
            f"| {each.setting.title} | {PLAIN} | {plain} |" + " |" * (len(at) - 1) + f" {_runs(values)} |"
        )
        for learner in LEARNERS:
            cells = [_cell(values[(learner, x)]) if (learner, x) in values else "" for x in at]
            lines.append(f"| | {learner} | " + " | ".join(cells) + f" | {_runs(values)} |")
    return lines


def chance(found: Sequence[Found], rule: str) -> str:
    """How many private settings differ from a coin, how many would by chance, and how much one model scatters."""
    cells = [
        values
        for each in found
        for (learner, _), values in each.accuracy[rule].items()
        if learner != PLAIN and len(values) > 1
    ]
    away = sum(abs(mean - 0.5) > half for mean, half in map(interval, cells))
    spread = float(np.mean([np.std(values, ddof=1) for values in cells]))
    return (
        f"Of {len(cells)} intervals of private models {away} do not contain 50 % (by chance alone: about "
        f"{0.05 * len(cells):.0f}; models of one panel share their data sets, so their means move together). The "
        f"accuracy on a single model scatters with a standard deviation of {100 * spread:.1f} points."
    )


def _runs(values: Values) -> int:
    return len(next(iter(values.values())))


def _cell(values: Sequence[float]) -> str:
    mean, half = interval(values)
    return f"{100 * mean:.1f} ± {100 * half:.1f}"


def success_table(found: Sequence[Found]) -> list[str]:
    """What the models are good for: mean over the models."""
    at = sorted({epsilon for each in found for epsilon in each.setting.epsilons})
    lines = ["| data | learner | " + " | ".join(f"ε = {x:g}" for x in at) + f" | {PLAIN} |"]
    lines.append("|---|---|" + "---:|" * (len(at) + 1))
    for each in found:
        for learner in LEARNERS:
            cells = [
                f"{np.mean(each.success[(learner, x)]):.2f}" if (learner, x) in each.success else ""
                for x in at
            ]
            plain = f"{np.mean(each.success[(PLAIN, math.inf)]):.2f}"
            lines.append(f"| {each.setting.title} | {learner} | " + " | ".join(cells) + f" | {plain} |")
    return lines


def delta_table() -> list[str]:
    """The thesis's delta for what it is: no promise at small epsilon, and noise that grows with epsilon."""
    lines = [
        "| N | ε | the thesis's δ | accuracy this allows, `replace` | λ/(L C), its noise, T = Nε | with δ = 1e-6 |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for count in (300, 1000, 10_000):
        for epsilon in (0.05, 0.1, 0.2, 0.5, 1.0):
            log_inverse = epsilon**3 * count
            delta = math.exp(-log_inverse)
            steps = count * epsilon
            most = (math.exp(epsilon) + delta) / (1.0 + math.exp(epsilon))
            noise, fixed = (
                16.0 * math.sqrt(2.0 * steps * log) / (count * epsilon)
                for log in (log_inverse, math.log(1.0 / DELTA))
            )
            lines.append(
                f"| {count:,} | {epsilon:g} | {delta:.1e} | {100 * most:.1f} % | {noise:.2f} | {fixed:.2f} |"
            )
    return lines


def page(families: Mapping[str, Sequence[Found]], wrong: Sequence[str], seconds: float) -> list[str]:
    """The generated Markdown."""
    from studies.reproductions import seed_words as say

    lines = ["# Micali 2022, figures 4.1 to 4.25: membership attacks on private models", ""]
    lines += [stamp("000_membership", SEED, seconds), "", say.HEAD, ""]
    verdict = "none" if not wrong else "; ".join(wrong)
    lines += [f"Accuracies above what is allowed by more than three standard errors: **{verdict}**.", ""]
    parts = (
        ("lasso", "Figures 4.1 to 4.8: lasso, loss attack (p = 10)", HALF, say.lasso_words),
        ("logistic", "Figures 4.9 to 4.15: logistic, entropy attack, N = 300", SEEDS_TAU, say.logistic_words),
        ("dimension", "Figures 4.19 and 4.20: dimension, N = 300", SEEDS_TAU, say.dimension_words),
        (
            "multinomial",
            "Figures 4.21 to 4.25: three classes, entropy attack, N = 300",
            SEEDS_TAU,
            say.multinomial_words,
        ),
    )
    for name, title, rule, words in parts:
        found = families[name]
        lines += [f"## {title}", "", f"![](../../../docs/figures/seed_{name}.svg)", ""]
        lines += [
            f"Accuracy of the attack in percent, threshold: {rule}.",
            "",
            *accuracy_table(found, rule),
            "",
        ]
        lines += [chance(found, rule), ""]
        measure_of = "Share of the variance explained" if name == "lasso" else "Share classified rightly"
        lines += [
            f"{measure_of}, for people the model has not seen:",
            "",
            *success_table(found),
            "",
            words(found, rule),
            "",
        ]
        if name == "logistic":
            lines += ["## Figures 4.16 to 4.18: the threshold", ""]
            for other in (SHADOW_TAU, HALF):
                lines += [f"Threshold: {other}.", "", *accuracy_table(found, other), ""]
            lines += [say.threshold_words(found, RULES), ""]
    return [*lines, "## The thesis's δ = exp(-ε³N)", "", *delta_table(), "", say.DELTA_WORDS]


def main() -> int:
    """Train, attack, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two models each, nothing written")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", NotPrivateWarning)
    store = Store(None if quick else "000_membership")
    families = {
        name: [measure(setting, store, runs=2 if quick else setting.runs) for setting in settings]
        for name, settings in FAMILIES.items()
    }
    wrong = [] if quick else [each for found in families.values() for each in excesses(found)]
    lines = page(families, wrong, store.total_seconds)
    if not quick:
        write("000_membership", lines)
        for name, top in (("lasso", 0.66), ("logistic", 0.66), ("dimension", 1.02), ("multinomial", 0.66)):
            draw(f"seed_{name}", families[name], HALF if name == "lasso" else SEEDS_TAU, top=top)
    sys.stdout.write("\n".join(lines) + "\n")
    if quick:
        sys.stdout.write("\n--quick: two models each; nothing about an attack can be read from two.\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Wu 2016, figures 4.1 to 4.3 and 4.5, and what can be said of 4.4: regression by output perturbation.

    python -m studies.reproductions.001_linear_regression [--quick]

Writes `studies/reproductions/results/001_linear_regression.md`, `docs/figures/pima_accuracy.svg` and
`docs/figures/warfarin_error.svg`. Deterministic: splits and noise come from SEED.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from studies.reproductions.linear_words import (
    ADASSP,
    BALL,
    DOSE_EPSILONS,
    FUNCTIONAL,
    NOTHING,
    OBJECTIVE,
    ORACLE,
    OUTPUT_LINE,
    PIMA_EPSILONS,
    PLAIN,
    PUBLISHED,
    RIDGE,
    TUNED_1,
    TUNED_2,
    Results,
    page,
)
from studies.reproductions.oracle_tuning import choose_by_oracle
from studies.reproductions.seed_data import ROOT_DOSE, Split, on_sphere, pima, warfarin
from studies.reproductions.seed_page import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PINK,
    RED,
    LineStyle,
    Series,
    panels,
    plot,
    ticks,
    write,
)

from holdfast.errors import NotPrivateWarning
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic, Squared
from holdfast.learn._risk.minimise import minimise_certified
from holdfast.learn._risk.risk import Risk
from holdfast.learn._rows.examples import ArrayExamples
from holdfast.learn._tuning.candidates import Candidate, ClippedLoss, choose_on_parts
from holdfast.learn.methods.adassp import adassp
from holdfast.learn.methods.functional import LINEAR, LOGISTIC, functional
from holdfast.learn.methods.objective import objective_perturbation
from holdfast.learn.methods.output import METHOD as OUTPUT
from holdfast.learn.methods.output import output_perturbation
from holdfast.learn.methods.ridge import ridge
from holdfast.privacy import Account, ApproxDP, PureDP
from holdfast.privacy._adjacency import Adjacency

Floats = NDArray[np.float64]
Train = Callable[[Split, float, int], Floats]
SEED = 20014
LINE_STYLES: dict[str, LineStyle] = {
    PLAIN: (INK, (0, (4, 2)), ""),
    OUTPUT_LINE: (BLUE, "-", "o"),
    OBJECTIVE: (GREEN, (0, (6, 1.5)), "D"),
    FUNCTIONAL: (RED, (0, (3, 1, 1, 1)), "v"),
    PUBLISHED: (ORANGE, (0, (3, 1, 1, 1)), "^"),
    ORACLE: (MUTED, (0, (1, 1.5)), "x"),
    TUNED_1: (PINK, "-", "s"),
    TUNED_2: (PINK, (0, (6, 1.5)), "P"),
    RIDGE: (GREEN, (0, (6, 1.5)), "D"),
    ADASSP: ("#56b4e9", "-", "*"),
    NOTHING: (MUTED, (0, (6, 3)), ""),
    BALL: (RED, "-", "X"),
}
UNITS = ((ROOT_DOSE[1] - ROOT_DOSE[0]) / 2.0) ** 2
"""Of squared errors: from the interval [-1, 1] to square roots of mg per week."""


def examples(split: Split) -> ArrayExamples:
    """Rows whose number is public; neighbours replace one."""
    return ArrayExamples(
        features=split.train,
        labels=split.train_labels,
        adjacency=Adjacency.replace,
        public_count=len(split.train),
    )


def pure(epsilon: float, seed: int) -> Account:
    """As in the thesis: no delta."""
    return Account(PureDP(epsilon), adjacency="replace", currency="pure", seed=seed)


def rule(split: Split, epsilon: float) -> float:
    """The thesis's penalty, sqrt(d / (n epsilon)): public numbers only."""
    return math.sqrt(split.train.shape[1] / (len(split.train) * epsilon))


def squared(split: Split, *, radius: float, penalty: float) -> Problem:
    """Least squares over a ball."""
    loss = Squared(target_bound=1.0, prediction_bound=radius)
    return Problem(loss=loss, dimension=split.train.shape[1], radius=radius, penalty=penalty)


def logistic(split: Split, *, radius: float = math.inf, penalty: float = 0.0) -> Problem:
    """Logistic regression."""
    return Problem(loss=Logistic(), dimension=split.train.shape[1], radius=radius, penalty=penalty)


def published(split: Split, epsilon: float, quadratic: Any, printed: float) -> float:
    """The epsilon at which our sensitivity gives the noise of the published, larger one at `epsilon`."""
    return float(
        epsilon * quadratic.l1_sensitivity(Adjacency.replace, dimension=split.train.shape[1]) / printed
    )


def nothing(split: Split, epsilon: float, seed: int) -> Floats:
    """What a method must beat to have learnt anything: "no" for everyone, the middle of the range for everyone."""
    return np.zeros(split.train.shape[1])


# Figure 4.1.


def pima_plain(split: Split, epsilon: float, seed: int) -> Floats:
    """The minimiser with next to no penalty."""
    problem = logistic(split, penalty=1e-4)
    return minimise_certified(
        Risk(examples=examples(split), problem=problem, penalty=1e-4, divisor=len(split.train)),
        tolerance=1e-7,
    )


def pima_output(split: Split, epsilon: float, seed: int) -> Floats:
    """001, Algorithm 6 with R = 1 and the data-independent penalty."""
    problem = logistic(split, radius=1.0, penalty=rule(split, epsilon))
    return output_perturbation(
        examples(split), problem, account=pure(epsilon, seed), arithmetic="idealised"
    ).weights


def pima_objective(split: Split, epsilon: float, seed: int) -> Floats:
    """Unconstrained, with the default penalty of the method."""
    fit = objective_perturbation(
        examples(split),
        logistic(split),
        account=pure(epsilon, seed),
        arithmetic="idealised",
    )
    return fit.weights


def pima_functional(split: Split, epsilon: float, seed: int) -> Floats:
    """Second-order Taylor polynomial, tight sensitivity."""
    return functional(examples(split), logistic(split), account=pure(epsilon, seed)).weights


def pima_published(split: Split, epsilon: float, seed: int) -> Floats:
    """The same with d^2/4 + 3d."""
    d = split.train.shape[1]
    return pima_functional(split, published(split, epsilon, LOGISTIC, d * d / 4 + 3 * d), seed)


PIMA: dict[str, Train] = {
    PLAIN: pima_plain,
    OUTPUT_LINE: pima_output,
    OBJECTIVE: pima_objective,
    FUNCTIONAL: pima_functional,
    PUBLISHED: pima_published,
    NOTHING: nothing,
}


def accuracy(split: Split, weights: Floats) -> float:
    """Share of test rows on the right side."""
    return float(np.mean(np.where(split.test @ weights > 0, 1.0, -1.0) == split.test_labels))


# Figures 4.2 to 4.5.


def dose_plain(split: Split, epsilon: float, seed: int) -> Floats:
    """Least squares."""
    return np.asarray(np.linalg.lstsq(split.train, split.train_labels, rcond=None)[0])


def dose_output(split: Split, epsilon: float, seed: int) -> Floats:
    """001, Algorithm 6 with R = 1 and the data-independent penalty."""
    problem = squared(split, radius=1.0, penalty=rule(split, epsilon))
    return output_perturbation(
        examples(split), problem, account=pure(epsilon, seed), arithmetic="idealised"
    ).weights


def candidates(split: Split, radii: Sequence[float], penalties: Sequence[float]) -> list[Candidate]:
    """Every pair."""
    return [
        Candidate.of(OUTPUT, squared(split, radius=radius, penalty=penalty), arithmetic="idealised")
        for radius in radii
        for penalty in penalties
    ]


SCORE = ClippedLoss(loss=Squared(target_bound=1.0), bound=2.0)


def dose_oracle(split: Split, epsilon: float, seed: int) -> Floats:
    """The best of 24 by its true training error, which is not private."""
    penalties = np.linspace(rule(split, 100.0), rule(split, 0.1), 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        chosen = choose_by_oracle(
            candidates(split, (0.25, 0.5, 1.0, 2.0), penalties.tolist()),
            examples(split),
            limit=PureDP(epsilon),
            validation=examples(split),
            score=SCORE,
            currency="pure",
            seed=1000 * seed,
        )
    return chosen.fit.weights


def tuned(radii: Sequence[float]) -> Train:
    """001, Algorithm 7 with the true sensitivity of its score: nine candidates on nine parts, a tenth to choose."""

    def train(split: Split, epsilon: float, seed: int) -> Floats:
        middle = rule(split, epsilon)
        chosen = choose_on_parts(
            candidates(split, radii, (middle / 2, middle, 2 * middle)),
            examples(split),
            account=pure(epsilon, seed),
            score=SCORE,
            holdout=0.1,
        )
        return chosen.fit.weights

    return train


def dose_functional(split: Split, epsilon: float, seed: int) -> Floats:
    """One Laplace variate per monomial, tight sensitivity."""
    problem = Problem(loss=Squared(target_bound=1.0), dimension=split.train.shape[1])
    return functional(examples(split), problem, account=pure(epsilon, seed)).weights


def dose_published(split: Split, epsilon: float, seed: int) -> Floats:
    """The same with 2 (d + 1)^2."""
    d = split.train.shape[1]
    return dose_functional(split, published(split, epsilon, LINEAR, 2.0 * (d + 1) ** 2), seed)


def dose_ridge(split: Split, epsilon: float, seed: int) -> Floats:
    """Noise on the closed form, over the ball."""
    problem = squared(split, radius=1.0, penalty=rule(split, epsilon))
    return ridge(examples(split), problem, account=pure(epsilon, seed), arithmetic="idealised").weights


def dose_adassp(split: Split, epsilon: float, seed: int) -> Floats:
    """Gaussian noise on second moments; the only line with a delta."""
    account = Account(
        ApproxDP(epsilon, len(split.train) ** -1.5), adjacency="replace", currency="gdp", seed=seed
    )
    problem = Problem(loss=Squared(target_bound=1.0), dimension=split.train.shape[1])
    return adassp(examples(split), problem, account=account).weights


def dose_objective(split: Split, epsilon: float, seed: int) -> Floats:
    """The ball of output perturbation; the penalty is the method's own rule, in public quantities."""
    return objective_perturbation(
        examples(split),
        squared(split, radius=1.0, penalty=0.0),
        account=pure(epsilon, seed),
        arithmetic="idealised",
    ).weights


DOSE: dict[str, Train] = {
    PLAIN: dose_plain,
    OUTPUT_LINE: dose_output,
    BALL: dose_objective,
    ORACLE: dose_oracle,
    TUNED_1: tuned((0.25, 0.5, 1.0)),
    TUNED_2: tuned((0.5, 1.0, 2.0)),
    FUNCTIONAL: dose_functional,
    PUBLISHED: dose_published,
    RIDGE: dose_ridge,
    ADASSP: dose_adassp,
    NOTHING: nothing,
}


def error(split: Split, weights: Floats) -> float:
    """Mean squared error, in square roots of mg per week."""
    return float(UNITS * np.mean((split.test @ weights - split.test_labels) ** 2))


def well_dosed(split: Split, weights: Floats) -> float:
    """Share of test patients whose predicted dose is within 20 % of the true one."""

    def dose(values: Floats) -> Floats:
        return np.asarray((ROOT_DOSE[0] + (values + 1.0) / 2.0 * (ROOT_DOSE[1] - ROOT_DOSE[0])) ** 2)

    true = dose(split.test_labels)
    return float(np.mean(np.abs(dose(np.clip(split.test @ weights, -1.0, 1.0)) - true) <= 0.2 * true))


def run(
    trains: dict[str, Train],
    split: Callable[[int], Split],
    epsilons: Sequence[float],
    *,
    seeds: int,
    measures: Sequence[Callable[[Split, Floats], float]],
) -> list[Results]:
    """Every line at every epsilon; a new split for each seed."""
    splits = cache(split)
    found: list[Results] = [{name: {e: [] for e in epsilons} for name in trains} for _ in measures]
    for name, train in trains.items():
        for seed in range(seeds):
            for epsilon in epsilons:
                weights = train(splits(seed), epsilon, SEED + seed)
                for results, measure in zip(found, measures, strict=True):
                    results[name][epsilon].append(measure(splits(seed), weights))
    return found


def draw(accuracies: Results, errors: Results, dosed: Results) -> None:
    """Both figures."""
    with panels("pima_accuracy", size=(7.5, 4.8), legend=2) as axes:
        lines(axes[0, 0], accuracies, PIMA_EPSILONS)
        axes[0, 0].set(title="Figure 4.1: Pima", ylabel="test accuracy")
    # The closed form has the numbers of output perturbation: in the tables only.
    errors, dosed = ({name: each[name] for name in each if name != RIDGE} for each in (errors, dosed))
    with panels("warfarin_error", columns=3, size=(11.5, 4.8)) as axes:
        lines(axes[0, 0], errors, DOSE_EPSILONS)
        axes[0, 0].set(title="Figure 4.2: Warfarin, all", ylabel="mean squared error", yscale="log")
        lines(
            axes[0, 1],
            {name: errors[name] for name in (PLAIN, OUTPUT_LINE, BALL, ORACLE, ADASSP)},
            DOSE_EPSILONS,
        )
        axes[0, 1].set(title="Figures 4.3, 4.5: against oracle, objective", ylabel="mean squared error")
        lines(axes[0, 2], dosed, DOSE_EPSILONS)
        axes[0, 2].set(title="In place of 4.4: dose within 20 %", ylabel="share of test patients")


def lines(axes: Any, results: dict[str, Any], epsilons: Sequence[float]) -> None:
    """All series of a panel."""
    for name, values in results.items():
        shown: Series = values
        plot(axes, name, shown, LINE_STYLES[name])
    ticks(axes, epsilons)
    axes.set_xlabel("ε")


def main() -> int:
    """Train, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="two seeds, nothing written")
    quick = parser.parse_args().quick
    seeds = (2, 2) if quick else (20, 10)
    begin = time.process_time()
    (accuracies,) = run(PIMA, pima, PIMA_EPSILONS, seeds=seeds[0], measures=[accuracy])
    errors, dosed = run(
        DOSE,
        lambda seed: on_sphere(warfarin(seed)),
        DOSE_EPSILONS,
        seeds=seeds[1],
        measures=[error, well_dosed],
    )
    text = page(
        accuracies,
        errors,
        dosed,
        seeds=seeds,
        seed=SEED,
        seconds=time.process_time() - begin,
        ratio=(81 / 4 + 27) / LOGISTIC.l1_sensitivity(Adjacency.replace, dimension=9),
        mean=UNITS * float(np.var(warfarin(0).test_labels)),
    )
    if not quick:
        write("001_linear_regression", text)
        draw(accuracies, errors, dosed)
    sys.stdout.write("\n".join(text) + "\n")
    if quick:
        sys.stdout.write("\n--quick: two seeds each; means of two say little.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

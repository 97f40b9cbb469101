"""The showcase of a published error: bolt-on SGD with mini-batches claims a privacy that an attack refutes.

Noise as printed (sensitivity divided by the batch size) is compared with noise by the sound recursion, in two attacks:
many runs on the worst pair known, with pure noise in two dimensions; and one run in which every record is a canary on
an axis of its own, with Gaussian noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.audit._bounds import fdp, one_run
from holdfast.audit._bounds.multi_run import at_threshold, epsilon_lower
from holdfast.audit._canaries.decoder import count_correct
from holdfast.errors import require
from holdfast.noise._idealised import normal
from holdfast.noise._source import Source
from holdfast.privacy._curves.curve import ApproxDP
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.privacy._mechanisms.vector_laplace import VectorLaplace
from holdfast.refute._subjects.bolt_on import BoltOn, worst_known_pair
from holdfast.refute._subjects.claims import classical_sigma
from holdfast.refute._two_worlds import score_between, separate_draws

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0)
DELTA = 1e-6
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class PublishedClaim:
    """One claimed epsilon, and what the attacks show with confidence 0.95, for either noise."""

    claimed: float
    printed: float
    sound: float
    one_run_printed: float
    one_run_sound: float
    curve_printed: float
    """The one-run bound by whole trade-off curves (f-DP)."""


@dataclass(frozen=True, kw_only=True)
class BoltOnShowcase:
    """A row for each claimed epsilon, and how far the worst pair is apart."""

    rows: tuple[PublishedClaim, ...]
    distance: float
    printed_sensitivity: float
    sound_sensitivity: float
    runs: int

    @property
    def refuted_claims(self) -> tuple[PublishedClaim, ...]:
        """The claims that the printed noise breaks."""
        return tuple(row for row in self.rows if max(row.printed, row.one_run_printed) > row.claimed)

    @property
    def sound_survives(self) -> bool:
        """Whether nothing is shown against the sound noise."""
        return all(max(row.sound, row.one_run_sound) <= row.claimed for row in self.rows)

    def summary(self) -> str:
        """The table as text."""
        head = (
            f"one record moves the model by {self.distance:.3f}; printed sensitivity {self.printed_sensitivity:g}, "
            f"sound {self.sound_sensitivity:.3g}\n"
            f"epsilon that an attacker shows (95 % confidence), {self.runs} runs per world | one run, 1000 canaries"
        )
        lines = [
            f"{'claimed':>9}{'printed noise':>16}{'sound noise':>14} |{'printed':>10}{'f-DP':>8}{'sound':>8}"
        ]
        for row in self.rows:
            mark = " *" if row.printed > row.claimed else "  "
            lines.append(
                f"{row.claimed:>9g}{row.printed:>14.2f}{mark}{row.sound:>14.2f} |"
                f"{row.one_run_printed:>10.2f}{row.curve_printed:>8.2f}{row.one_run_sound:>8.2f}"
            )
        return "\n".join([head, *lines, "* refuted: the attacker shows more than is claimed"])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def bolt_on_showcase(
    *, epsilons: tuple[float, ...] = EPSILONS, runs: int = 1000, seed: int | None = 1
) -> BoltOnShowcase:
    """Attack both noises at each claimed epsilon; `seed=None` takes coins from the operating system.

    The printed constant takes L = 2 (the penalised loss within radius 1/penalty), as TensorFlow Privacy does:
    with L = 1 it would be half as large and refuted sooner.
    """
    require(runs >= 10, "runs", runs, ">= 10")
    training, source = BoltOn(), Source(seed=seed)
    first_rows, first_labels, second_rows, second_labels = worst_known_pair(training.records)
    result_without, result_with = (
        training.train(first_rows, first_labels),
        training.train(second_rows, second_labels),
    )
    printed, sound = training.printed_sensitivity(lipschitz=2.0), training.sound_sensitivity()
    score = score_between(result_without, result_with)

    def epsilon_of_many_runs(noise: Mechanism) -> float:
        scores = [
            separate_draws(noise.sample, centre, score=score)(source, runs)
            for centre in (result_with, result_without)
        ]
        # The threshold is fixed before anything is drawn: half way between the two results.
        middle = 0.5 * (score(result_without) + score(result_with))
        return epsilon_lower(at_threshold(*scores, threshold=middle), confidence=CONFIDENCE)

    trained, labels = _canaries(training, source)
    wide_sensitivity = training.sound_sensitivity(dimension=training.records)

    def row(epsilon: float) -> PublishedClaim:
        pure: Callable[[float], Mechanism] = lambda sensitivity: VectorLaplace(  # noqa: E731
            epsilon=epsilon, l2_sensitivity=sensitivity, arithmetic="idealised"
        )
        # As published: the classical formula, which here is the larger noise of the two.
        one_run_printed, curve = _one_run(trained, labels, classical_sigma(epsilon, DELTA) * printed, source)
        limit = ApproxDP(epsilon, DELTA)
        sound_sigma = float(Gaussian.within(limit, l2_sensitivity=wide_sensitivity).sigma)
        one_run_sound, _ = _one_run(trained, labels, sound_sigma, source)
        return PublishedClaim(
            claimed=epsilon,
            printed=epsilon_of_many_runs(pure(printed)),
            sound=epsilon_of_many_runs(pure(sound)),
            one_run_printed=one_run_printed,
            curve_printed=curve,
            one_run_sound=one_run_sound,
        )

    return BoltOnShowcase(
        rows=tuple(row(epsilon) for epsilon in epsilons),
        distance=float(np.linalg.norm(result_without - result_with)),
        printed_sensitivity=printed,
        sound_sensitivity=sound,
        runs=runs,
    )


def _canaries(training: BoltOn, source: Source) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One training in which record i is the axis e_i with a label by a fair coin."""
    coins = (source.words(training.records) & np.uint64(1)).astype(bool)
    return training.train(np.eye(training.records), np.where(coins, 1.0, -1.0)), coins


def _one_run(
    trained: NDArray[np.float64], coins: NDArray[np.bool_], sigma: float, source: Source
) -> tuple[float, float]:
    """One release: the 250 highest coordinates are guessed +1, the 250 lowest -1; both bounds."""
    release = trained + sigma * normal(source, size=trained.size)
    guesses, m = 500, coins.size
    right = count_correct(release, coins, include=guesses // 2, exclude=guesses // 2)
    return (
        one_run.epsilon_lower(guesses, right, canaries=m, delta=DELTA, confidence=CONFIDENCE),
        fdp.epsilon_lower(guesses, right, canaries=m, delta=DELTA, confidence=CONFIDENCE),
    )

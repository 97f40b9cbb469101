"""A published error: an algorithm claims a privacy that an attack refutes.

Bolt-on SGD with mini-batches, noise as printed (sensitivity divided by the batch) beside noise by the sound
recursion. Twice: many runs on the worst pair known, pure noise in two dimensions; and one run in which
every record is a canary of its own axis, Gaussian noise.
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
from holdfast.refute._subjects.bolt_on import BoltOn, pair_b
from holdfast.refute._subjects.claims import classical_sigma
from holdfast.refute._two_worlds import along_both, calls

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
class Showcase:
    """The table, and how far the worst pair is apart."""

    rows: tuple[PublishedClaim, ...]
    distance: float
    printed_sensitivity: float
    sound_sensitivity: float
    runs: int

    @property
    def refuted(self) -> tuple[PublishedClaim, ...]:
        """The claims that the printed noise breaks."""
        return tuple(row for row in self.rows if max(row.printed, row.one_run_printed) > row.claimed)

    @property
    def sound_survives(self) -> bool:
        """Whether nothing is shown against the sound noise."""
        return all(max(row.sound, row.one_run_sound) <= row.claimed for row in self.rows)

    def summary(self) -> str:
        """The table in words and numbers."""
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
) -> Showcase:
    """Attack both noises at each claimed epsilon; `seed=None` takes coins from the operating system.

    The printed constant takes L = 2 (the penalised loss within radius 1/penalty), as TensorFlow Privacy does:
    with L = 1 it would be half as large and refuted sooner.
    """
    require(runs >= 10, "runs", runs, ">= 10")
    run, source = BoltOn(), Source(seed=seed)
    first_rows, first_labels, second_rows, second_labels = pair_b(run.records)
    without, present = run.train(first_rows, first_labels), run.train(second_rows, second_labels)
    printed, sound = run.printed(lipschitz=2.0), run.sound()
    score = along_both(without, present)

    def many(noise: Mechanism) -> float:
        scores = [calls(noise.sample, centre, score=score)(source, runs) for centre in (present, without)]
        # The threshold is fixed before anything is drawn: half way between the two results.
        middle = 0.5 * (score(without) + score(present))
        return epsilon_lower(at_threshold(*scores, threshold=middle), confidence=CONFIDENCE)

    trained, labels = _canaries(run, source)
    wide = run.sound(dimension=run.records)

    def row(epsilon: float) -> PublishedClaim:
        pure: Callable[[float], Mechanism] = lambda sensitivity: VectorLaplace(  # noqa: E731
            epsilon=epsilon, l2_sensitivity=sensitivity, arithmetic="idealised"
        )
        # As published: the classical formula, which here is the larger noise of the two.
        exposed, curve = _one_run(trained, labels, classical_sigma(epsilon, DELTA) * printed, source)
        limit = ApproxDP(epsilon, DELTA)
        enough = float(Gaussian.within(limit, l2_sensitivity=wide).sigma)
        hidden, _ = _one_run(trained, labels, enough, source)
        return PublishedClaim(
            claimed=epsilon,
            printed=many(pure(printed)),
            sound=many(pure(sound)),
            one_run_printed=exposed,
            curve_printed=curve,
            one_run_sound=hidden,
        )

    return Showcase(
        rows=tuple(row(epsilon) for epsilon in epsilons),
        distance=float(np.linalg.norm(without - present)),
        printed_sensitivity=printed,
        sound_sensitivity=sound,
        runs=runs,
    )


def _canaries(run: BoltOn, source: Source) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """One training in which record i is the axis e_i with a label by a fair coin."""
    coins = (source.words(run.records) & np.uint64(1)).astype(bool)
    return run.train(np.eye(run.records), np.where(coins, 1.0, -1.0)), coins


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

"""The refutation suite: every mechanism and method is attacked, and broken versions must fall.

A whole run refutes a true statement with probability at most `FALSE_ALARM`, whatever it contains: the error
is shared evenly over all trials that use chance (a union bound, so dependence does not matter). Surviving
proves nothing; being refuted proves a fault, in the code or in the claim.
"""

from __future__ import annotations

import multiprocessing
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdfast._arguments import checked
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._wording import bound_text
from holdfast.refute._replay_trial import REQUIRED_POWER
from holdfast.refute._subject import Subject
from holdfast.refute._trial import TESTS, Outcome, Test

FALSE_ALARM = 1e-6
"""The probability, at most, that a whole run refutes anything true."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The outcomes of all trials of one subject."""

    name: str
    claim: str
    broken: str
    outcomes: tuple[Outcome, ...]

    @property
    def refuted(self) -> bool:
        """Whether any trial refuted it."""
        return any(outcome.refuted for outcome in self.outcomes)

    @property
    def is_as_expected(self) -> bool:
        """Whether a broken subject was refuted, or any other was not."""
        return self.refuted == bool(self.broken)

    def refuted_by(self) -> tuple[Test, ...]:
        """The tests that refuted it."""
        return tuple(test for test in TESTS if any(o.refuted for o in self.outcomes if o.test == test))

    def cell(self, test: Test) -> str:
        """The table's entry for a test: a distance, a p-value, `survived`, `REFUTED`, or `-` if not tried."""
        outcomes = [outcome for outcome in self.outcomes if outcome.test == test]
        if not outcomes:
            return "-"
        if any(outcome.refuted for outcome in outcomes):
            return "REFUTED"
        if test == "replay":
            return f"{self.power:.3f}{' weak' if self.weak else ''}"
        p_values = [outcome.p_value for outcome in outcomes if outcome.p_value is not None]
        return f"p {min(1.0, len(p_values) * min(p_values)):.2g}" if p_values else "survived"

    @property
    def reached(self) -> dict[str, float]:
        """The largest distance of each kind of release, over all replays."""
        best: dict[str, float] = {}
        for outcome in self.outcomes:
            for kind, distance in outcome.reached.items():
                best[kind] = max(best.get(kind, 0.0), distance)
        return best

    @property
    def power(self) -> float | None:
        """The largest distance that any replay reached; None where nothing was replayed."""
        return max((outcome.power for outcome in self.outcomes if outcome.power is not None), default=None)

    def undertested_releases(self) -> dict[str, float]:
        """Kinds of release whose distance stayed below the required power; none if the whole subject is weak.

        Each kind has a sensitivity of its own, so one that is tested well says nothing about another.
        """
        return (
            {} if self.weak else {kind: most for kind, most in self.reached.items() if most < REQUIRED_POWER}
        )

    @property
    def weak(self) -> bool:
        """Whether no replay came near the bound, so that an understated sensitivity might pass unseen."""
        return self.power is not None and self.power < REQUIRED_POWER

    def summary(self) -> str:
        """A line for the subject and one for each trial."""
        state = "REFUTED" if self.refuted else "survived"
        head = f"{self.name}: {state}, claims {self.claim}"
        why = [f"  broken on purpose: {self.broken}"] if self.broken else []
        return "\n".join([head, *why, *(f"  {outcome.summary()}" for outcome in self.outcomes)])

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "claim": self.claim,
            "broken": self.broken,
            "refuted": self.refuted,
            "power": self.power,
            "weak": self.weak,
            "thin": self.undertested_releases(),
            "outcomes": [outcome.to_json() for outcome in self.outcomes],
        }


@dataclass(frozen=True, kw_only=True)
class Refutations:
    """The verdicts of a whole run; it passed if all sound subjects survived and all broken ones were refuted."""

    verdicts: tuple[Verdict, ...]
    false_alarm: float
    fresh: bool

    @property
    def passed(self) -> bool:
        """Whether every verdict is as it should be."""
        return all(verdict.is_as_expected for verdict in self.verdicts)

    @property
    def error_spent(self) -> float:
        """The probability, at most, that anything true was refuted."""
        return sum(outcome.error for verdict in self.verdicts for outcome in verdict.outcomes)

    def unexpected_verdicts(self) -> tuple[Verdict, ...]:
        """Verdicts on sound subjects that were refuted and on broken ones that survived."""
        return tuple(verdict for verdict in self.verdicts if not verdict.is_as_expected)

    def weak_verdicts(self) -> tuple[Verdict, ...]:
        """Verdicts on sound subjects whose replays had too little power."""
        return tuple(verdict for verdict in self.verdicts if verdict.weak and not verdict.broken)

    def table(self) -> str:
        """A row for each subject and a column for each test: distances reached by replay, p-values of other tests."""
        width = max(len(verdict.name) for verdict in self.verdicts)
        head = f"{'':<{width}}  " + "".join(f"{test:<12}" for test in TESTS)
        lines = [head.rstrip()]
        for broken, title in ((False, "must survive"), (True, "broken on purpose, must be refuted")):
            rows = [v for v in self.verdicts if bool(v.broken) == broken]
            if rows:
                lines.append(f"-- {title}")
            for verdict in rows:
                cells = "".join(f"{verdict.cell(test):<12}" for test in TESTS)
                mark = "" if verdict.is_as_expected else "  <-- NOT AS IT SHOULD BE"
                lines.append(f"{verdict.name:<{width}}  {cells.rstrip()}{mark}")
        return "\n".join(lines)

    def summary(self) -> str:
        """The unexpected verdicts in full, then one line that counts."""
        parts = [verdict.summary() for verdict in self.unexpected_verdicts()]
        sound, broken = (sum(bool(v.broken) == flag for v in self.verdicts) for flag in (False, True))
        fell = sum(v.refuted for v in self.verdicts if v.broken)
        survived = sum(not v.refuted for v in self.verdicts if not v.broken)
        coins = "fresh entropy" if self.fresh else "fixed seeds"
        counts = [f"{survived} of {sound} survived"] if sound else []
        counts += [f"{fell} of {broken} broken versions refuted"] if broken else []
        weak = [verdict.name for verdict in self.weak_verdicts()]
        counts += [f"{len(weak)} weak ({', '.join(weak)})"] if weak else []
        thin = [
            f"{v.name}: {kind} {most:.2f}"
            for v in self.verdicts
            if not v.broken
            for kind, most in v.undertested_releases().items()
        ]
        counts += [f"{len(thin)} kinds of release below {REQUIRED_POWER} ({'; '.join(thin)})"] if thin else []
        parts.append(
            f"{'passed' if self.passed else 'FAILED'}: {', '.join(counts)}; "
            f"false-alarm probability at most {bound_text(self.error_spent)} ({coins})"
        )
        return "\n".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "passed": self.passed,
            "false_alarm": self.false_alarm,
            "error_spent": self.error_spent,
            "fresh": self.fresh,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
        }


@checked
def refute(
    subjects: Iterable[Subject],
    *,
    fresh: bool = False,
    false_alarm: float = FALSE_ALARM,
    step: Callable[[Verdict], None] | None = None,
    jobs: int = 1,
) -> Refutations:
    """Run every trial of every subject and say what fell.

    Parameters
    ----------
    subjects : iterable of Subject
        What is tried, each with its claim and its trials.
    fresh : bool
        Whether coins come from the operating system; else each trial has a fixed seed of its own, so that a run
        repeats and adding a subject changes no other.
    false_alarm : float
        The probability with which a sound subject may fall, over all trials of the run.
    step : callable, optional
        Is told each verdict as it is reached.
    jobs : int
        How many processes share the work, where the system has forks.

    Returns
    -------
    Refutations
        The verdicts; `passed` says whether no sound subject fell.

    Examples
    --------
    >>> from holdfast.refute._subject import Subject
    >>> from holdfast.refute._trial import Analysis
    >>> sound = Subject(name="one", claim="at most 2", trials=(Analysis(what="", value=lambda: 1.0, claimed=2.0),))
    >>> refute([sound]).passed
    True
    """
    chosen = tuple(subjects)
    require(bool(chosen), "subjects", chosen, "at least one")
    require(0 < false_alarm < 1, "false_alarm", false_alarm, "in (0, 1)")
    chances = sum(trial.spends for subject in chosen for trial in subject.trials)
    share = false_alarm / max(chances, 1)
    verdicts = []
    for verdict in _verdicts(partial(_verdict, chosen, share, fresh), len(chosen), jobs):
        verdicts.append(verdict)
        if step is not None:
            step(verdict)
    return Refutations(verdicts=tuple(verdicts), false_alarm=false_alarm, fresh=fresh)


def _verdict(subjects: Sequence[Subject], share: float, fresh: bool, place: int) -> Verdict:
    subject = subjects[place]
    outcomes = tuple(
        trial.run(_source(subject.name, number, fresh=fresh), error=share)
        for number, trial in enumerate(subject.trials)
    )
    return Verdict(name=subject.name, claim=subject.claim, broken=subject.broken, outcomes=outcomes)


_forked: list[Callable[[int], Verdict]] = []
"""The work of forked processes, passed through their memory: subjects hold functions, which cannot be pickled."""


def _verdicts(work: Callable[[int], Verdict], count: int, jobs: int) -> Iterator[Verdict]:
    """Verdicts in order of the subjects, found by up to `jobs` processes."""
    if min(jobs, count) <= 1 or not hasattr(os, "fork"):
        yield from map(work, range(count))
        return
    _forked[:] = [work]
    with multiprocessing.get_context("fork").Pool(min(jobs, count), initializer=_limit_threads) as pool:
        yield from pool.imap(_forked_verdict, range(count))


def _limit_threads() -> None:
    """Limit each process to one thread, since the processes share the processors."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _forked_verdict(place: int) -> Verdict:
    return _forked[0](place)


def _source(name: str, place: int, *, fresh: bool) -> Source:
    return Source() if fresh else Source(seed=zlib.crc32(f"{name}/{place}".encode()))

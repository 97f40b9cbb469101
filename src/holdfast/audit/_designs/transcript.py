"""The transcript audit: many runs of the real code on two public tables, and a test of which table a run was on.

All noise passes through the account, so a run leaves a transcript: the (mechanism, value, output) of every release. A
run on one table is replayed on the other with its outputs fed back, and the score is the likelihood ratio of the
transcript, by the declared laws. Any score is valid; this one is the best there is if the code does what it claims
(soundness, section 22). The audit tests the code on public tables, not one run on its own rows, so its result may be
published.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast.audit._bounds import multi_run
from holdfast.audit._bounds.normal_scores import NormalScores
from holdfast.audit._designs.question import Question
from holdfast.audit._findings.transcripts import Transcripts
from holdfast.audit._power import PowerBasis
from holdfast.audit._result import AuditResult, describe_scores
from holdfast.errors import HoldfastError, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.witness import Draw, TapeEnded, Witness, replay_tape
from holdfast.privacy._grid import difference
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._mechanisms.gaussian import Gaussian

Train = Callable[[Any, Account], Any]
"""The code under audit: it draws whatever it releases from the account that it is handed."""
Bound = Literal["clopper-pearson", "gaussian"]
DEFAULT_RUNS = 4000
"""The number of runs on each table, unless another is given."""
FEWEST_RUNS = 64
PILOT_RUNS = 4
"""Runs on each table that say what one costs; they are not counted."""
APART_SCORE = 1e6
"""The score of a transcript that the other table cannot give: another number of releases, or other mechanisms."""
CHOOSING_SHARE = 0.1
"""The share of runs that choose thresholds."""
HOSTILE_FACTORS = (0.0, -1.0, 1e3, -1e6)
"""What recorded outputs are multiplied by to see whether a release's value depends on earlier outputs."""
_LAW_LEVEL = 1e-6
"""The error probability of each test that the noise is normal."""


@checked
@dataclass(frozen=True, kw_only=True)
class Budget:
    """What an audit is going to cost, known before it starts.

    Parameters
    ----------
    runs : int
        How many runs are made on each of the two tables.
    seconds : float
        The CPU seconds that they are expected to take.

    Examples
    --------
    >>> Budget(runs=400, seconds=12.0).summary()
    '400 runs on each of two tables, about 12 CPU seconds'
    """

    runs: int
    seconds: float

    def summary(self) -> str:
        """Runs and CPU seconds in a line."""
        return f"{self.runs} runs on each of two tables, about {self.seconds:.0f} CPU seconds"


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Transcript:
    """Run code that draws from an account many times on each of two neighbouring tables, and compare its transcripts.

    `data` of the audit are two public tables that differ in one record, or in a `group` of them; `train` takes a table
    and an account, from which it draws all its noise. The first tenth of the runs chooses two thresholds, the others
    are counted at them. It notices most of all designs.

    Parameters
    ----------
    runs : int
        How many runs on each table, 64 at least.
    seconds : float, optional
        How many CPU seconds the audit may take: it then makes fewer runs.
    currency : str, optional
        What the accounts count in that `train` is handed; their limit is the claim.
    group : int
        In how many records the tables differ. The claim is held against them as its promise for such groups, which
        shows more in fewer runs.
    bound : {"clopper-pearson", "gaussian"}
        "clopper-pearson" counts errors, "gaussian" is the non-central t of scores that are normal: an estimate unless
        that was checked.
    announce : callable, optional
        Hears of the `Budget` before the first counted run.

    Examples
    --------
    >>> from holdfast.audit import audit
    >>> from holdfast.privacy import Gaussian, GaussianDP
    >>> def train(table, account):
    ...     return account.release(Gaussian(sigma=1.0, l2_sensitivity=1.0), table)
    >>> design = Transcript(runs=100, currency="gdp")
    >>> pair = np.array([1.0]), np.array([0.0])
    >>> result = audit(
    ...     train, pair, claim=GaussianDP(1.0), adjacency="replace", delta=1e-5, design=design, rows="public", seed=1
    ... )
    >>> result.verdict(GaussianDP(1.0))
    'consistent'
    """

    runs: int = DEFAULT_RUNS
    seconds: float | None = None
    currency: str | None = None
    group: int = 1
    bound: Bound = "clopper-pearson"
    announce: Callable[[Budget], None] | None = None

    def __post_init__(self) -> None:
        require(self.runs >= FEWEST_RUNS, "runs", self.runs, f">= {FEWEST_RUNS}")
        require(self.seconds is None or self.seconds > 0, "seconds", self.seconds, "> 0")
        require(self.group >= 1, "group", self.group, "an integer >= 1")

    def answer(self, train: Train, data: Any, question: Question) -> AuditResult:
        """Run `train` on both tables of `data`, and hold the transcripts against the `question`."""
        require(isinstance(data, tuple) and len(data) == 2, "data", type(data).__name__, "a pair of tables")
        game = _Game(train=train, pair=data, open_account=self._opener(question), seeds=question.source)
        budget = self._budget(game)
        if self.announce is not None:
            self.announce(budget)
        scores = np.empty((2, budget.runs))
        for place in range(budget.runs):
            for world in (0, 1):
                scores[world, place] = game.score(world)
            question.progress(place + 1, budget.runs)
        cut = max(32, math.ceil(CHOOSING_SHARE * budget.runs))
        thresholds = _thresholds(scores[:, :cut], delta=question.delta, counted=budget.runs - cut)
        largest, furthest = (
            multi_run.at_threshold(scores[0, cut:], scores[1, cut:], threshold=threshold)
            for threshold in thresholds
        )
        normal = NormalScores.of(scores[0, cut:], scores[1, cut:], checked=game.normal_by_construction())
        # For normal laws the means of the two likelihood ratios differ by mu^2. All runs count: power is no bound.
        mean_difference = float(scores[0].mean() - scores[1].mean())
        records = f"{self.group} record{'s' * (self.group > 1)}"
        return AuditResult(
            finding=Transcripts(
                errors=largest,
                against=furthest,
                scores=normal,
                distance=game.distance / self.group,
                group=self.group,
                bound=self.bound,
            ),
            delta=question.delta,
            coins="holdfast",
            adjacency=question.adjacency,
            planted=f"{budget.runs} runs on each of two public tables that differ in {records}",
            scores=describe_scores(scores[:, cut:].ravel(), np.repeat([True, False], budget.runs - cut)),
            rows=question.rows or "real",
            basis=PowerBasis(
                claim=question.curve,
                interference=0.0 if mean_difference > 0.0 else math.inf,
                measured=True,
                runs=budget.runs,
                mu=math.sqrt(mean_difference) if mean_difference > 0.0 else None,
            ),
        )

    def _opener(self, question: Question) -> Callable[[], Account]:
        """A function that opens the account of one run; the limit is translated to its currency only once."""
        limit, adjacency = question.curve, question.adjacency
        unit = question.claim.unit if isinstance(question.claim, Guarantee) else None
        first = Account(limit, adjacency=adjacency, unit=unit, currency=self.currency)
        cost = first.currency.limit(limit)
        return lambda: Account(limit, adjacency=adjacency, unit=unit, currency=self.currency, translated=cost)

    def _budget(self, game: _Game) -> Budget:
        """The number of runs that are affordable, from what a few of them cost; fixed before any is counted."""
        game.score(0)  # the first run of all pays for imports and caches
        start = time.process_time()
        for _ in range(PILOT_RUNS):
            game.score(0)
            game.score(1)
        seconds_each = (time.process_time() - start) / PILOT_RUNS
        if game.coins.were_drawn:
            raise ParameterError(
                "train must draw nothing but noise from its account for a Transcript, got one that draws secret coins "
                "(batches, orders): the likelihood of a transcript would be an average over them; use ManyRuns"
            )
        allowed = (
            self.runs if self.seconds is None else min(self.runs, int(self.seconds / max(seconds_each, 1e-9)))
        )
        require(
            allowed >= FEWEST_RUNS,
            "seconds",
            self.seconds,
            f"enough for {FEWEST_RUNS} runs on each table, about {FEWEST_RUNS * seconds_each:.1f} CPU seconds",
        )
        return Budget(runs=allowed, seconds=allowed * seconds_each)


class _Coins(Source):
    """The source of a run's secret coins, which notes whether the code under audit drew any."""

    def __init__(self, seed: Seed) -> None:
        super().__init__(seed=seed)
        self.were_drawn = False

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        self.were_drawn = True
        return super().bytes(count)


@dataclass(kw_only=True, eq=False)
class _Game:
    """Runs and replays of the code on two tables, and the checks of what makes scores normal by construction."""

    train: Train
    pair: tuple[Any, Any]
    open_account: Callable[[], Account]
    seeds: Source
    distance: float = 0.0
    coins: _Coins = field(default_factory=lambda: _Coins(0))
    _centres: dict[int, list[Any]] = field(default_factory=dict)
    _centres_are_fixed: bool = True
    _residuals: list[Floats] = field(default_factory=list)
    _outputs: list[Any] = field(default_factory=list)

    def score(self, world: int) -> float:
        """The log-likelihood ratio, the first table against the second, of a new run on one of them (`world`)."""
        seed = int(self.seeds.words(1)[0]) >> 1
        steps = self._steps(world, seed)
        sign = 1.0 if world == 0 else -1.0
        try:
            other = self._steps(1 - world, seed, outputs=[step.output for step in steps])
        except (TapeEnded, HoldfastError):
            return sign * APART_SCORE
        if [step.mechanism for step in steps] != [step.mechanism for step in other]:
            return sign * APART_SCORE
        total = 0.0
        for mine, theirs in zip(steps, other, strict=True):
            self.distance = max(
                self.distance, mine.mechanism.distance(mine.value, theirs.value, at=mine.output)
            )
            total += mine.mechanism.log_ratio(mine.value, theirs.value, mine.output)
        self._note_centres(world, steps)
        return sign * float(np.clip(total, -APART_SCORE, APART_SCORE))

    def _steps(self, world: int, seed: Seed, outputs: list[Any] | None = None) -> Sequence[Draw]:
        """The releases of a run on one table; with `outputs` of a replay that is fed these in place of its own."""
        account = self.open_account()
        witness = Witness(seed=seed, tape=None if outputs is None else replay_tape(outputs), coins=self.coins)
        account.watch(witness)
        self.train(self.pair[world], account)
        return witness.seen.steps

    def _note_centres(self, world: int, steps: Sequence[Draw]) -> None:
        """Note whether releases are Gaussian around the same centres in every run, and their standardised residuals."""
        gaussian = all(isinstance(step.mechanism, Gaussian) for step in steps)
        centres = self._centres.setdefault(world, [step.value for step in steps])
        self._outputs = [step.output for step in steps]
        self._centres_are_fixed = self._centres_are_fixed and gaussian and _same_centres(centres, steps)
        if self._centres_are_fixed:
            self._residuals += [
                np.ravel(difference(step.output, step.value)) / float(step.mechanism.sigma)  # type: ignore[attr-defined]
                for step in steps
            ]

    def normal_by_construction(self) -> bool:
        """Whether all that makes scores normal was checked: Gaussian releases, fixed centres, the law of the noise."""
        if (
            not self._centres_are_fixed
            or self.coins.were_drawn
            or not self._residuals
            or self._follows_outputs()
        ):
            return False
        from scipy.stats import chi2, kstest

        noise = np.concatenate(self._residuals)
        square = float(chi2.cdf(float(noise @ noise), noise.size))
        return bool(
            kstest(noise, "norm").pvalue > _LAW_LEVEL and min(square, 1.0 - square) > _LAW_LEVEL / 2.0
        )

    def _follows_outputs(self) -> bool:
        """Whether some centre depends on earlier outputs, tried with extreme outputs that the runs did not meet."""
        for world, centres in self._centres.items():
            for factor in HOSTILE_FACTORS:
                outputs = [factor * np.asarray(output, float) for output in self._outputs]
                try:
                    if not _same_centres(centres, self._steps(world, 0, outputs=outputs)):
                        return True
                except (TapeEnded, HoldfastError, ArithmeticError):
                    return True
        return False


def _same_centres(centres: Sequence[Any], steps: Sequence[Draw]) -> bool:
    pairs = zip(centres, steps, strict=False)
    return len(centres) == len(steps) and all(np.array_equal(centre, step.value) for centre, step in pairs)


def _thresholds(scores: Floats, *, delta: float, counted: int) -> tuple[float, float]:
    """Two thresholds, from runs that are not counted: for the largest epsilon, and halfway between the tables' means.

    The first is the one that would be best for normal scores: these runs are few, and the threshold that happens to be
    best on them is luck. Where scores repeat, as those of discrete outputs do, it is the best of the scores themselves.
    The second is where a false curve is crossed first, whatever the noise.
    """
    from scipy.special import ndtr

    spread = float(np.sqrt(np.mean(np.var(scores, axis=1))))
    if spread == 0.0 or np.max(np.abs(scores)) >= APART_SCORE:
        middle = float(np.median(scores, axis=1).mean())
        return middle, middle
    means, values = scores.mean(axis=1), np.unique(scores)
    if values.size < scores.size / 2:
        best = multi_run.best_threshold(scores[0], scores[1], candidates=values, delta=delta)
        return best, best
    candidates = np.linspace(means.min() - 3.0 * spread, means.max() + 3.0 * spread, 201)
    expected = [
        multi_run.ErrorRates(
            false_alarms=round(counted * float(ndtr((means[1] - at) / spread))),
            without=counted,
            misses=round(counted * float(ndtr((at - means[0]) / spread))),
            with_canary=counted,
        )
        for at in candidates
    ]
    bounds = [multi_run.epsilon_lower(rates, delta=delta) for rates in expected]
    return float(candidates[int(np.argmax(bounds))]), float(means.mean())

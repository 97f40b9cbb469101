"""QueryGAN against player B: queries drawn from multiplicative weights, a generator that answers those drawn.

Fine 2020 with a private no-regret learner in the place of its discriminator (soundness, section 10 B): weights over the
signed class, exp(eta sum over i < t of [q(S) - q(g_i)]), are follow-the-perturbed-leader with Gumbel noise. A draw in
round t is an exponential mechanism whose score moves by t - 1 if one record does: it costs more the longer the game
lasts (`DualQueryPlan`). The generator knows which queries were drawn, with their signs, and no answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from holdfast._options import OptionGroup
from holdfast._progress import progress
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.synth._certificate import offset
from holdfast.synth._exact_counts import SINGLE_ROWS, ExactAnswers, ExactCounts
from holdfast.synth._models.dense import universe_size
from holdfast.synth._models.generator.heads import Heads
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth._models.generator.payoffs import Payoffs
from holdfast.synth._models.generator.training import Form, new_generator, require_generator
from holdfast.synth._workload import Workload
from holdfast.synth.classics.dual_query import DualQueryPlan, complete_plan, draw
from holdfast.synth.classics.query_gan_select import average_mixture, averaged_columns
from holdfast.synth.methods.method import Synthesis, SynthesisMethod
from holdfast.synth.methods.mwem import answer_noise
from holdfast.synth.methods.query_gan import components_for

LEADER_COMPONENTS = 100
"""Of each round's generator; the mixture of all rounds has them all."""
STEPS = 20
"""Of descent between two rounds."""
MOST_ROUNDS, MOST_GAME_DRAWS = 200, 2_000
RECENT_TURNS = 1
"""Rounds whose queries the generator learns from: with all of them it follows the leader, and is led about."""
REGRET_SHARE = 0.05
REGRET_FAILURE = 0.05
THEOREM = (
    "draws from multiplicative weights are exponential mechanisms of growing cost (soundness, section 10 B)"
)


@dataclass(frozen=True, kw_only=True)
class LeaderTraining(OptionGroup):
    """What generator plays, how long it learns between two rounds, and from which.

    `recent=None` is historical play: the generator learns from all queries ever drawn.
    """

    generator: Form = "mixture"
    components: int = LEADER_COMPONENTS
    training_steps: int = STEPS
    recent: int | None = RECENT_TURNS

    def __post_init__(self) -> None:
        require_generator(self.generator)
        require(self.components >= 1, "components", self.components, ">= 1")
        require(self.training_steps >= 1, "training_steps", self.training_steps, ">= 1")
        require(self.recent is None or self.recent >= 1, "recent", self.recent, "None or >= 1")


DEFAULT_TRAINING = LeaderTraining()


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderTurn:
    """A round as it was played. What it holds is public: a model made of earlier draws, and this round's draws."""

    number: int
    model: MixtureModel
    """Fixed before the queries were drawn: without that no regret bound holds."""
    drawn: tuple[int, ...]
    """Signed queries, by their place in the answers of the class and then of its negation."""


def query_gan_leader(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    samples: int | None = None,
    step: float | None = None,
    release: Literal["average", "last"] = "average",
    training: LeaderTraining = DEFAULT_TRAINING,
    regret_share: float = REGRET_SHARE,
    most_draws: int = MOST_GAME_DRAWS,
) -> Synthesis:
    """Draw signed queries from their weights, and train the generator to answer those drawn with more.

    Private under every adjacency for units of one row. Rounds, draws and step are planned from public values, so that
    the game spends its budget.
    `release="average"` is the mixture of all rounds' generators, of which the bound below speaks; "last" is the last
    one. `regret_share` of the budget buys the payoff of the game, and with it `regret_certificate`: how far the
    mixture's answers are off at most, with confidence 95 %, by the regret of the weights. It is larger than the
    certificate of the rows and speaks of the mixture alone: information.
    """
    require(0 <= regret_share < 1, "regret_share", regret_share, "in [0, 1)")
    truth = ExactAnswers.of(data, workload)
    playing, *paying = account.split(1.0 - regret_share, regret_share) if regret_share else (account,)
    plan = complete_plan(
        truth,
        playing,
        log_universe=math.log(max(2, universe_size(data.domain))),
        rounds=rounds_for(truth.size) if rounds is None else rounds,
        samples=samples,
        step=step,
        most_draws=most_draws,
    )
    training = replace(training, components=components_for(data.domain, training.components))
    turns = list(leader_rounds(data, truth, plan, playing, training))
    model = average_mixture([turn.model for turn in turns]) if release == "average" else turns[-1].model
    regret = {} if not paying else regret_certificate(truth, plan, turns, paying[0])
    return Synthesis(
        model=model,
        theorem=THEOREM,
        parameters={
            "player": "leader",
            "rounds": plan.rounds,
            "samples": plan.samples,
            "step": plan.step,
            "release": release,
            "generator": training.generator,
            "components": training.components,
            **regret,
        },
    )


def rounds_for(count: float) -> int:
    """The rounds of a game on so many records: its cost in zCDP is as eta^2 T^3 / n^2, so T grows as n^(2/3).

    The factor was chosen on one table of 20,000 records: 30 rounds with a long step, which the plan of DualQuery takes
    there, are three times worse, because a generator moves less in a round than an oracle that finds a new record.

    >>> rounds_for(200), rounds_for(20_000), rounds_for(1e6)
    (9, 184, 200)
    """
    return max(2, min(MOST_ROUNDS, round(0.25 * math.pow(count, 2.0 / 3.0))))


def leader_rounds(
    data: ExactCounts,
    truth: ExactAnswers,
    plan: DualQueryPlan,
    account: Account,
    training: LeaderTraining,
) -> Iterator[LeaderTurn]:
    """The game, round by round: the generator moves, then queries are drawn and charged, then it learns from them."""
    heads = Heads.of(data.domain)
    # Its first noise is nobody's secret; a run that is resumed begins with the same.
    playing = (
        new_generator(training.generator, heads, components=training.components, source=Source(seed=0))
        if heads.names
        else None
    )
    scores = np.zeros(2 * truth.layout.size)
    drawn: list[tuple[int, ...]] = []
    with progress(desc="query_gan_leader", total=plan.rounds) as bar:
        for past in range(plan.rounds):
            model = (
                averaged_columns(data, heads, truth.size)
                if playing is None
                else MixtureModel.of_heads(data.domain, heads, playing.probabilities(), total=truth.size)
            )
            drawn.append(tuple(draw(truth, plan, scores, past, plan.samples, account)))
            scores += truth.signed_excess(_answers(truth, model))
            yield LeaderTurn(number=past + 1, model=model, drawn=drawn[-1])
            if playing is not None:
                since = -training.recent if training.recent else 0
                payoffs = Payoffs(heads, _signed_queries(truth, drawn[since:]))
                for _ in range(training.training_steps):
                    playing.step(payoffs)
            bar.update()


def regret_certificate(
    truth: ExactAnswers, plan: DualQueryPlan, turns: Sequence[LeaderTurn], account: Account
) -> dict[str, float]:
    """What the game itself says of the mixture: mean payoff, noised, plus what the weights may have missed.

    For all signed queries at once, with V = q(S) - q(g) in [-1, 1] and N draws in T rounds,

        max_q V(q, mixture) <= mean payoff + ln(2|Q|) / (eta T) + eta / 2 + sqrt(2 ln(1 / u) / N):

    regret of multiplicative weights (Freund and Schapire 1999), and Azuma's bound on drawn payoffs about their means,
    which holds because each generator was fixed before its queries were drawn. The mean of payoffs in counts moves by
    at most 1 if one record does.
    """
    mechanism, std = answer_noise(account, 1)
    payoffs = [
        truth.signed_excess(_answers(truth, turn.model))[list(turn.drawn)] for turn in turns
    ]  # private until noise is added
    mean = np.array([float(np.mean(np.concatenate(payoffs)))])
    noisy = float(np.ravel(account.release(mechanism, mean, label="mean payoff"))[0])
    high = (noisy + offset(mechanism, std, failure=REGRET_FAILURE / 2)) / truth.size
    regret = math.log(2.0 * truth.layout.size) / (plan.step * plan.rounds) + plan.step / 2.0
    sampling = math.sqrt(2.0 * math.log(2.0 / REGRET_FAILURE) / (plan.rounds * plan.samples))
    return {
        "mean_payoff": noisy / truth.size,
        "regret_bound": regret,
        "regret_certificate": min(1.0, high + regret + sampling),
    }


def _answers(truth: ExactAnswers, model: MixtureModel) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(truth.layout.answers_of(lambda columns: model.project(columns) / model.total))


def _signed_queries(
    truth: ExactAnswers, drawn: Sequence[Sequence[int]]
) -> Iterator[tuple[Sequence[str], np.ndarray[tuple[int, ...], np.dtype[np.float64]], float]]:
    for index in (query for turn in drawn for query in turn):
        query, sign = truth.query_and_sign(index)
        columns, values = truth.layout.query(query)
        yield columns, values, sign


METHOD = SynthesisMethod(
    name="query_gan_leader",
    run=query_gan_leader,
    paper="Fine 2020; Gaboardi et al. 2014",
    pure=True,
    single_rows=SINGLE_ROWS,
    divides_within=math.inf,
    seconds=(20.0, 100.0),
)

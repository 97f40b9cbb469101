"""QueryGAN with drawn queries: queries come from multiplicative weights, and a generator learns from those drawn.

A game of two players after Fine 2020, with a private no-regret learner in the place of the discriminator (soundness,
section 10 B). The query player keeps weights over all signed queries, exp(eta sum over i < t of [q(S) - q(g_i)]),
which is follow-the-perturbed-leader with Gumbel noise. A draw in round t is an exponential mechanism whose score moves
by t - 1 if one record changes, so draws cost more the longer the game lasts (`DualQueryPlan`). The generator learns
which queries were drawn, with their signs, and none of their answers.
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
from holdfast.synth.classics.dual_query import DualQueryPlan, complete_plan, draw_queries
from holdfast.synth.classics.query_gan_select import average_mixture, single_record_model
from holdfast.synth.methods.method import Synthesis, SynthesisMethod
from holdfast.synth.methods.mwem import answer_noise
from holdfast.synth.methods.query_gan import components_for

LEADER_COMPONENTS = 100
"""Components of each round's generator; the mixture of all rounds has the components of all."""
STEPS_PER_ROUND = 20
"""Steps of gradient descent between two rounds."""
MOST_ROUNDS, MOST_GAME_DRAWS = 200, 2_000
RECENT_ROUNDS = 1
"""The generator learns from the queries of this many last rounds. With those of all rounds it is less stable."""
REGRET_SHARE = 0.05
"""Share of the budget for the noisy payoff of the game."""
REGRET_FAILURE = 0.05
"""Probability that `regret_certificate` may be wrong."""
THEOREM = (
    "draws from multiplicative weights are exponential mechanisms of growing cost (soundness, section 10 B)"
)


@dataclass(frozen=True, kw_only=True)
class LeaderTraining(OptionGroup):
    """Options of the generator: its form, its steps of training between two rounds, and from which queries it learns.

    `recent=None` is historical play: the generator learns from the queries of all rounds so far.
    """

    generator: Form = "mixture"
    components: int = LEADER_COMPONENTS
    training_steps: int = STEPS_PER_ROUND
    recent: int | None = RECENT_ROUNDS

    def __post_init__(self) -> None:
        require_generator(self.generator)
        require(self.components >= 1, "components", self.components, ">= 1")
        require(self.training_steps >= 1, "training_steps", self.training_steps, ">= 1")
        require(self.recent is None or self.recent >= 1, "recent", self.recent, "None or >= 1")


DEFAULT_TRAINING = LeaderTraining()


@dataclass(frozen=True, kw_only=True, eq=False)
class LeaderRound:
    """One round of the game. Public: a model that depends on earlier draws, and the draws of this round."""

    number: int
    model: MixtureModel
    """The generator's model before the round's queries were drawn; the regret bound needs that order."""
    drawn: tuple[int, ...]
    """Signed queries by index: first those of positive sign, then those of negative sign."""


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
    """In each round, draw signed queries from their weights, and train the generator to raise its answers to them.

    Private under every adjacency for units of one row. Rounds, draws and step are planned from public values, so that
    the game spends its budget. `release="average"` is the mixture of the generators of all rounds, which the regret
    bound is about; "last" is the last generator. `regret_share` of the budget releases the payoff of the game, from
    which follows `regret_certificate`: a bound on the error of the mixture's answers, with confidence 95 %. It is for
    information: larger than the certificate of the rows, and about the mixture alone.
    """
    require(0 <= regret_share < 1, "regret_share", regret_share, "in [0, 1)")
    truth = ExactAnswers.of(data, workload)
    playing, *certifying = account.split(1.0 - regret_share, regret_share) if regret_share else (account,)
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
    played = list(leader_rounds(data, truth, plan, playing, training))
    model = average_mixture([past.model for past in played]) if release == "average" else played[-1].model
    regret = {} if not certifying else regret_certificate(truth, plan, played, certifying[0])
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
    """The number of rounds of a game on `count` records; it grows as n^(2/3), since the zCDP cost is ~ eta^2 T^3 / n^2.

    The factor was chosen on one table of 20,000 records. The plan of DualQuery there, 30 rounds with a long step, has
    three times the error, because a generator changes less in a round than an oracle that finds a new record.

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
) -> Iterator[LeaderRound]:
    """The game, round by round: the model is fixed, queries are drawn and charged, the generator learns."""
    heads = Heads.of(data.domain)
    # The seed of the first generator is public, so that a resumed run begins with the same one.
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
                single_record_model(data, heads, truth.size)
                if playing is None
                else MixtureModel.of_heads(data.domain, heads, playing.probabilities(), total=truth.size)
            )
            drawn.append(tuple(draw_queries(truth, plan, scores, past, plan.samples, account)))
            scores += truth.signed_excess(_answers(truth, model))
            yield LeaderRound(number=past + 1, model=model, drawn=drawn[-1])
            if playing is not None:
                since = -training.recent if training.recent else 0
                payoffs = Payoffs(heads, _signed_queries(truth, drawn[since:]))
                for _ in range(training.training_steps):
                    playing.step(payoffs)
            bar.update()


def regret_certificate(
    truth: ExactAnswers, plan: DualQueryPlan, played: Sequence[LeaderRound], account: Account
) -> dict[str, float]:
    """A bound on the error of the mixture: the noisy mean payoff of the game, plus the regret of the weights.

    For all signed queries at once, with V = q(S) - q(g) in [-1, 1] and N draws in T rounds,

        max_q V(q, mixture) <= mean payoff + ln(2|Q|) / (eta T) + eta / 2 + sqrt(2 ln(1 / u) / N):

    regret of multiplicative weights (Freund and Schapire 1999), and Azuma's bound on drawn payoffs about their means,
    which holds because each generator was fixed before its queries were drawn. The mean of payoffs in counts moves by
    at most 1 if one record does.
    """
    mechanism, std = answer_noise(account, 1)
    payoffs = [
        truth.signed_excess(_answers(truth, past.model))[list(past.drawn)] for past in played
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
    for index in (query for round_draws in drawn for query in round_draws):
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

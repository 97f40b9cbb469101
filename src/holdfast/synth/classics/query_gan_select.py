"""QueryGAN against player A: select the table that the generator answers worst, measure it, train on all measured.

Fine 2020 with the query player that soundness, section 10, puts in the place of its discriminator: the exponential
mechanism selects, Gaussian noise measures (Hardt, Ligett and McSherry 2012; with a neural generator Liu, Vietri and Wu
2021). The generator sees noisy values only: what it is, how it is trained and when it stops costs no privacy, and that
it converges is not promised. The rows have their certificate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.data._sensitivity import counts_l1
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import selection_epsilon
from holdfast.privacy._mechanisms.selection import Exponential
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.generator.heads import Heads, Singles
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth._models.generator.targets import Targets
from holdfast.synth._models.generator.training import (
    COMPONENTS,
    MOST_STEPS,
    Form,
    gaussian_thinning,
    new_generator,
    require_generator,
    train_generator,
)
from holdfast.synth._models.model import Measurement, on_simplex
from holdfast.synth._rows.coded_rows import row_coins
from holdfast.synth._rows.fit_rows import ReconciledModel
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import Columns
from holdfast.synth.methods.measure import ROUNDING, measure_tables, total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod
from holdfast.synth.methods.query_gan import LEAST_CHANCE, components_for
from holdfast.synth.methods.residuals import wanted_tables

FOR_ONE_WAY, FOR_SELECTIONS = 0.1, 0.1
ROUNDS_PER_COLUMN = 4
"""Rounds, unless told: so many for each column, and no more than there are tables."""
STEPS = 10
"""Of descent between two rounds."""
THEOREM = (
    "one-way tables; then tables selected by their L1 error (exponential mechanism, sensitivity 1, or 2 under replace) "
    "and measured with Gaussian noise (soundness, section 10 A)"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectTurn:
    """A round as it was played: the generator's move, the table asked about, and what noise left of it. Public."""

    number: int
    model: MixtureModel
    """Before the round's table was known."""
    asked: Columns
    measured: Measurement

    @property
    def noisy_error(self) -> float:
        """Half the L1 distance of the model from the new noisy table: an estimate, too large by its noise."""
        gap = np.abs(self.model.project(self.asked) - self.measured.values).sum()
        return float(gap) / (2.0 * self.model.total)

    @property
    def within_noise(self) -> bool:
        """Whether the new table could have come from the model: the model had not seen it, so no thinning is needed."""
        gap = (self.model.project(self.asked) - self.measured.values) / self.measured.noise_std
        return float((gap**2).sum()) <= gap.size + 2.0 * math.sqrt(2.0 * gap.size)


def query_gan_select(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    rounds: int | None = None,
    patience: int | None = None,
    release: Literal["last", "average"] = "last",
    generator: Form = "mixture",
    components: int = COMPONENTS,
    training_steps: int = STEPS,
    most_steps: int = MOST_STEPS,
) -> Synthesis:
    """Measure every column; then select the table that the generator answers worst, measure it, train on all so far.

    Private for rows and for users, whose rows multiply every sensitivity. The game ends when its budget is spent, which
    is after `rounds`, or after `patience` rounds in a row whose tables told nothing new; what is left then stays in
    the account. `release="last"` trains once more on all that was measured, for as long as Gaussian thinning says;
    "average" is the mixture of the generators of all rounds, each as it was before it saw the round's table.
    """
    require_generator(generator)
    require(components >= 1, "components", components, ">= 1")
    require(training_steps >= 1, "training_steps", training_steps, ">= 1")
    require(most_steps >= 0, "most_steps", most_steps, ">= 0")
    require(patience is None or patience >= 1, "patience", patience, "None or >= 1")
    require(rounds is None or rounds >= 1, "rounds", rounds, "a whole number >= 1")
    components = components_for(data.domain, components)
    first, *game = account.split(FOR_ONE_WAY, FOR_SELECTIONS, round(1.0 - FOR_ONE_WAY - FOR_SELECTIONS, 12))
    measured = list(
        measure_tables(data, [(name,) for name in data.names], account=first, label="one-way tables")
    )
    total = total_of(data, measured)
    turns, idle = [], 0
    for turn in select_rounds(
        data,
        workload,
        measured,
        total,
        game,
        rounds=rounds,
        form=generator,
        components=components,
        steps=training_steps,
    ):
        turns.append(turn)
        idle = idle + 1 if turn.within_noise else 0
        if patience is not None and idle >= patience:
            break
    known = [*measured, *(turn.measured for turn in turns)]
    facts: dict[str, float] = {}
    if release == "average" and turns:
        model = average_mixture([turn.model for turn in turns])
    else:
        model, facts = _last(data, known, total, form=generator, components=components, most_steps=most_steps)
    tables = {
        columns: on_simplex(model.project(columns), total=total) for columns in wanted_tables(workload)[0]
    }
    return Synthesis(
        model=ReconciledModel(base=model, tables=tables),
        theorem=THEOREM,
        measurements=tuple(known),
        parameters={
            "player": "select",
            "rounds": len(turns),
            "release": release,
            "generator": generator,
            "components": components,
            "tables": [" x ".join(turn.asked) for turn in turns],
            "noisy_errors": [round(turn.noisy_error, 5) for turn in turns],
            **facts,
        },
    )


def select_rounds(
    data: ExactCounts,
    workload: Workload,
    measured: Sequence[Measurement],
    total: float,
    accounts: Sequence[Account],
    *,
    rounds: int | None,
    form: str,
    components: int,
    steps: int,
) -> Iterator[SelectTurn]:
    """The game, round by round: each is charged when it is asked for, its selection before its measurement."""
    wanted, weights = wanted_tables(workload)
    tables = {columns: weight for columns, weight in zip(wanted, weights, strict=True) if len(columns) > 1}
    heads = Heads.of(data.domain)
    if not tables or not heads.names:
        return
    times = min(len(tables), ROUNDS_PER_COLUMN * len(data.names) if rounds is None else rounds)
    selecting, measuring = accounts
    shares = measuring.split(*[1.0 / (times * (1 + 1e-12))] * times)
    epsilon = selection_epsilon(selecting, times)
    reach = counts_l1(data.adjacency, data.unit) * max(tables.values()) * ROUNDING
    permit = selecting.permit(
        Exponential(epsilon=epsilon, sensitivity=reach, adjacency=selecting.adjacency),
        times=times,
        label="worst tables",
    )
    known, left = list(measured), dict(tables)
    start = row_coins(known, key="game").words(1)[0]
    playing = new_generator(
        form,
        heads,
        components=components,
        source=Source(seed=int(start)),
        columns=column_shares(data, known, total),
    )
    with progress(desc="query_gan_select", total=times) as bar:
        for number in range(times):
            model = MixtureModel.of_heads(data.domain, heads, playing.probabilities(), total=total)
            candidates = list(left)
            scores = [
                left[columns] * float(np.abs(exact - model.project(columns)).sum())
                for columns, exact in zip(candidates, data.counts(candidates), strict=True)
            ]
            chosen = candidates[permit.release(np.array(scores))]
            known += measure_tables(data, [chosen], account=shares[number], label=f"table {number + 1}")
            del left[chosen]
            yield SelectTurn(number=number + 1, model=model, asked=chosen, measured=known[-1])
            # Historical play: the generator answers all that was asked so far, not the last question alone.
            targets = Targets(heads, known, np.eye, total=total)
            for _ in range(steps):
                playing.step(targets)
            bar.update()


def _last(
    data: ExactCounts,
    known: Sequence[Measurement],
    total: float,
    *,
    form: str,
    components: int,
    most_steps: int,
) -> tuple[MixtureModel, dict[str, float]]:
    """A new generator, trained on everything for as long as values held back say."""
    heads = Heads.of(data.domain)
    if not heads.names:
        return averaged_columns(data, heads, total), {}
    coins = row_coins(known, key="last")
    start = int(coins.words(1)[0])
    playing, stopping = train_generator(
        lambda values: new_generator(
            form,
            heads,
            components=components,
            source=Source(seed=start),
            columns=column_shares(data, values, total),
        ),
        known,
        lambda values: Targets(heads, values, np.eye, total=total),
        halves=gaussian_thinning(known, coins),
        most_steps=most_steps,
    )
    model = MixtureModel.of_heads(data.domain, heads, playing.probabilities(), total=total)
    return model, {"steps": stopping.steps, "held_back": round(stopping.distance, 4)}


def averaged_columns(data: ExactCounts, heads: Heads, total: float) -> MixtureModel:
    """One possible record: nothing to learn."""
    alone: Singles = np.ones((1, 0), dtype=np.float32)
    return MixtureModel.of_heads(data.domain, heads, alone, total=total)


def average_mixture(models: Sequence[MixtureModel]) -> MixtureModel:
    """The mixture of all of them in equal parts: a uniform choice of the round, then of the component."""
    names = models[0].columns
    return MixtureModel(
        columns={name: np.concatenate([model.columns[name] for model in models]) for name in names},
        total=models[0].total,
    )


def column_shares(data: ExactCounts, known: Sequence[Measurement], total: float) -> dict[str, Floats]:
    """Each column's distribution as its noisy table says, no cell without a chance."""
    values = {
        measurement.columns[0]: measurement.values for measurement in known if len(measurement.columns) == 1
    }
    return {
        name: np.maximum(on_simplex(values[name], total=total) / total, LEAST_CHANCE / cells)
        for name, cells in data.domain.items()
    }


METHOD = SynthesisMethod(
    name="query_gan_select",
    run=query_gan_select,
    paper="Fine 2020; Liu, Vietri and Wu 2021",
    seconds=(20.0, 200.0),
)

"""QueryGAN with selected tables: select the table that the generator answers worst, measure it, train on all measured.

A game after Fine 2020, in which the query player takes the place of the discriminator (soundness, section 10 A): the
exponential mechanism selects, Gaussian noise measures (Hardt, Ligett and McSherry 2012; with a neural generator Liu,
Vietri and Wu 2021). The generator sees noisy values only, so its form, its training and its stopping cost no privacy.
That it converges is not promised; the certificate says how accurate the rows are.
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
from holdfast.synth.methods.query_gan import LEAST_CELL_SHARE, components_for
from holdfast.synth.methods.residuals import wanted_tables

ONE_WAY_SHARE, SELECTION_SHARE = 0.1, 0.1
"""Shares of the budget for one-way tables and for selections; the rest measures the selected tables."""
ROUNDS_PER_COLUMN = 4
"""Rounds for each column where `rounds` is not given; never more than there are tables."""
STEPS_PER_ROUND = 10
"""Steps of gradient descent between two rounds."""
THEOREM = (
    "one-way tables; then tables selected by their L1 error (exponential mechanism, sensitivity 1, or 2 under replace) "
    "and measured with Gaussian noise (soundness, section 10 A)"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class SelectionRound:
    """One round of the game: the generator's model, the selected table's columns, and its noisy counts. Public."""

    number: int
    model: MixtureModel
    """The generator's model before the round's table was measured."""
    selected: Columns
    measured: Measurement

    @property
    def noisy_error(self) -> float:
        """Half the L1 distance of the model from the new noisy table: an estimate, too large by its noise."""
        gap = np.abs(self.model.project(self.selected) - self.measured.values).sum()
        return float(gap) / (2.0 * self.model.total)

    @property
    def within_noise(self) -> bool:
        """Whether the model differs from the new noisy table no more than noise does; it was not trained on it."""
        gap = (self.model.project(self.selected) - self.measured.values) / self.measured.noise_std
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
    training_steps: int = STEPS_PER_ROUND,
    most_steps: int = MOST_STEPS,
) -> Synthesis:
    """Measure every column; then select the table that the generator answers worst, measure it, train on all so far.

    Private for rows and for users, whose rows multiply every sensitivity. The game ends after `rounds`, when its budget
    is spent, or after `patience` rounds in a row whose tables were within the noise of the model; what is left then
    stays in the account. `release="last"` trains a new generator on all measured tables, for as long as Gaussian
    thinning says; "average" is the mixture of the generators of all rounds, each as it was before the round's table.
    """
    require_generator(generator)
    require(components >= 1, "components", components, ">= 1")
    require(training_steps >= 1, "training_steps", training_steps, ">= 1")
    require(most_steps >= 0, "most_steps", most_steps, ">= 0")
    require(patience is None or patience >= 1, "patience", patience, "None or >= 1")
    require(rounds is None or rounds >= 1, "rounds", rounds, "a whole number >= 1")
    components = components_for(data.domain, components)
    first, *game = account.split(
        ONE_WAY_SHARE, SELECTION_SHARE, round(1.0 - ONE_WAY_SHARE - SELECTION_SHARE, 12)
    )
    measured = list(
        measure_tables(data, [(name,) for name in data.names], account=first, label="one-way tables")
    )
    total = total_of(data, measured)
    played, idle = [], 0
    for past in select_rounds(
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
        played.append(past)
        idle = idle + 1 if past.within_noise else 0
        if patience is not None and idle >= patience:
            break
    known = [*measured, *(past.measured for past in played)]
    facts: dict[str, float] = {}
    if release == "average" and played:
        model = average_mixture([past.model for past in played])
    else:
        model, facts = _final_model(
            data, known, total, form=generator, components=components, most_steps=most_steps
        )
    tables = {
        columns: on_simplex(model.project(columns), total=total) for columns in wanted_tables(workload)[0]
    }
    return Synthesis(
        model=ReconciledModel(base=model, tables=tables),
        theorem=THEOREM,
        measurements=tuple(known),
        parameters={
            "player": "select",
            "rounds": len(played),
            "release": release,
            "generator": generator,
            "components": components,
            "tables": [" x ".join(past.selected) for past in played],
            "noisy_errors": [round(past.noisy_error, 5) for past in played],
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
) -> Iterator[SelectionRound]:
    """The game, round by round: each is charged when the caller asks for it, its selection before its measurement."""
    wanted, weights = wanted_tables(workload)
    tables = {columns: weight for columns, weight in zip(wanted, weights, strict=True) if len(columns) > 1}
    heads = Heads.of(data.domain)
    if not tables or not heads.names:
        return
    times = min(len(tables), ROUNDS_PER_COLUMN * len(data.names) if rounds is None else rounds)
    selecting, measuring = accounts
    shares = measuring.split(*[1.0 / (times * (1 + 1e-12))] * times)
    epsilon = selection_epsilon(selecting, times)
    sensitivity = counts_l1(data.adjacency, data.unit) * max(tables.values()) * ROUNDING
    permit = selecting.permit(
        Exponential(epsilon=epsilon, sensitivity=sensitivity, adjacency=selecting.adjacency),
        times=times,
        label="worst tables",
    )
    known, unmeasured = list(measured), dict(tables)
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
            candidates = list(unmeasured)
            scores = [
                unmeasured[columns] * float(np.abs(exact - model.project(columns)).sum())
                for columns, exact in zip(candidates, data.counts(candidates), strict=True)
            ]
            chosen = candidates[permit.release(np.array(scores))]
            known += measure_tables(data, [chosen], account=shares[number], label=f"table {number + 1}")
            del unmeasured[chosen]
            yield SelectionRound(number=number + 1, model=model, selected=chosen, measured=known[-1])
            # Historical play: the generator is trained on all tables measured so far, not on the last one alone.
            targets = Targets(heads, known, np.eye, total=total)
            for _ in range(steps):
                playing.step(targets)
            bar.update()


def _final_model(
    data: ExactCounts,
    known: Sequence[Measurement],
    total: float,
    *,
    form: str,
    components: int,
    most_steps: int,
) -> tuple[MixtureModel, dict[str, float]]:
    """A new generator, trained on all noisy tables for as many steps as validation says."""
    heads = Heads.of(data.domain)
    if not heads.names:
        return single_record_model(data, heads, total), {}
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
        thinned=gaussian_thinning(known, coins),
        most_steps=most_steps,
    )
    model = MixtureModel.of_heads(data.domain, heads, playing.probabilities(), total=total)
    return model, {"steps": stopping.steps, "held_back": round(stopping.distance, 4)}


def single_record_model(data: ExactCounts, heads: Heads, total: float) -> MixtureModel:
    """The model of a domain with only one possible record."""
    no_heads: Singles = np.ones((1, 0), dtype=np.float32)
    return MixtureModel.of_heads(data.domain, heads, no_heads, total=total)


def average_mixture(models: Sequence[MixtureModel]) -> MixtureModel:
    """The mixture of all models in equal parts: a uniform choice of the model, then of the component."""
    names = models[0].columns
    return MixtureModel(
        columns={name: np.concatenate([model.columns[name] for model in models]) for name in names},
        total=models[0].total,
    )


def column_shares(data: ExactCounts, known: Sequence[Measurement], total: float) -> dict[str, Floats]:
    """Each column's distribution from its noisy table; no cell has probability 0."""
    values = {
        measurement.columns[0]: measurement.values for measurement in known if len(measurement.columns) == 1
    }
    return {
        name: np.maximum(on_simplex(values[name], total=total) / total, LEAST_CELL_SHARE / cells)
        for name, cells in data.domain.items()
    }


METHOD = SynthesisMethod(
    name="query_gan_select",
    run=query_gan_select,
    paper="Fine 2020; Liu, Vietri and Wu 2021",
    seconds=(20.0, 200.0),
)

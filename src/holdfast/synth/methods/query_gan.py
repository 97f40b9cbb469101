"""QueryGAN in one round: the whole workload is measured once, and a generator is trained on the noisy values.

After Fine, "Certifiably accurate private data release with generative adversarial networks" (2020), as far as it
holds (soundness, section 10). The generator is a mixture of products of independent columns, whose marginals are exact
and differentiable. All queries are measured together in the residual basis (`gaussian`): there noise is least, and
independent from one coordinate to the next, so that the squared distance over sigma^2 is minus twice the
log-likelihood. A junction tree that held all tables of many columns would be too large; a generator needs none.

Gaussian thinning splits the noisy values into two independent parts, one to train on and one for validation.
Validation decides when training stops. It also decides whether a junction tree takes the generator's place, which is
more accurate where few tables hold all dependences. The certificate says how accurate the rows are; that training
converges is not promised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import Literal, get_args

import numpy as np

from holdfast._arrays import Floats
from holdfast.errors import require
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.generator.heads import Heads
from holdfast.synth._models.generator.mixture import MixtureModel
from holdfast.synth._models.generator.targets import Targets
from holdfast.synth._models.generator.training import (
    COMPONENTS,
    MOST_STEPS,
    TRAINING_NOISE_FACTOR,
    Form,
    Generator,
    gaussian_thinning,
    new_generator,
    require_generator,
    share_of_model,
    train_generator,
    validation_error,
)
from holdfast.synth._models.graphical.growing import GrownTree, grown_trees
from holdfast.synth._models.model import Measurement, Model, on_simplex
from holdfast.synth._rows.coded_rows import row_coins
from holdfast.synth._rows.fit_rows import ReconciledModel, limit_deviations
from holdfast.synth._workload import Workload
from holdfast.synth._workload.residual_basis import helmert, residual_table, restored_table
from holdfast.synth.methods.measure import total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask
from holdfast.synth.methods.residuals import FACTORISED, NoisyResiduals, measure_residuals, wanted_tables

MOST_BLENDED = 20_000
"""The most residuals for which noisy tables and the model are averaged: projecting the model on each takes time."""
LEAST_CELL_SHARE = 0.01
"""The first model gives each cell of a column at least this fraction of an even share."""
COMPONENTS_PER_RECORD = 4
"""The most components of a mixture for each possible record."""
Decoder = Literal["either", "generator", "tree"]
"""Which model is fitted to the noisy residuals: a generator, a junction tree, or the one with the smaller validation
error."""
MOST_ERROR_RATIO, LEAST_TREE_SHARE = 0.85, 0.25
"""A tree takes the generator's place if its squared validation error is at most this fraction of the generator's, and
if it has at least this share in the tables that rows are fitted to. Both errors are estimates, and squares weigh large
errors in few cells more than an average does; with a smaller share it is the noisy tables that are accurate, not the
tree."""
ThinnedParts = tuple[Sequence[Measurement], Sequence[Measurement]]
"""The training part and the validation part of noisy values (`gaussian_thinning`)."""


def query_gan(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    objective: Literal["max", "sum"] = "max",
    generator: Form = "mixture",
    components: int = COMPONENTS,
    most_steps: int = MOST_STEPS,
    decoder: Decoder = "either",
) -> Synthesis:
    """Noise on every residual of the workload, once; then a mixture of products that agrees with all of them.

    Private for rows and for users: one release, the rest is post-processing, with coins that are a function of what
    was released. Rows are sampled from the mixture and then changed until they agree with its marginals, or with a
    mean of these and the noisy tables where validation says that this is more accurate. `generator="network"` trains a
    network from noise to the mixture (JAX, the extra `gan`) in place of free logits. `decoder="either"` lets a junction
    tree take the mixture's place where its validation error is smaller.
    """
    require_generator(generator)
    require(decoder in get_args(Decoder), "decoder", decoder, f"one of {', '.join(get_args(Decoder))}")
    require(components >= 1, "components", components, ">= 1")
    require(most_steps >= 0, "most_steps", most_steps, ">= 0")
    tables, weights = wanted_tables(workload)
    residuals = measure_residuals(data, tables, weights=weights, objective=objective, account=account)
    measured = residuals.tables(tables)
    total = total_of(data, measured)
    coins = row_coins(measured, key="generator")
    components = components_for(data.domain, components)
    result = decode_residuals(
        residuals, total, coins, decoder, form=generator, components=components, most_steps=most_steps
    )
    wanted = blended_tables(measured, result.model, result.share, total)
    return Synthesis(
        model=ReconciledModel(base=result.model, tables=wanted),
        theorem=FACTORISED,
        measurements=measured,
        parameters={
            "objective": objective,
            **residuals.parameters(tables),
            "generator": generator,
            "components": components,
            **result.facts,
            "share_of_model": round(result.share, 4),
        },
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DecodedModel:
    """A model fitted to noisy residuals, and its validation error."""

    model: Model
    share: float = 1.0
    """The model's share in the tables that rows are fitted to; the noisy tables have the rest."""
    distance: float = 0.0
    """Squared distance of that mean from the validation values, in units of their noise, before they were used."""
    facts: Mapping[str, int | float | str]
    """What the release says about how the model came about."""


def blended_tables(
    measured: Sequence[Measurement], model: Model, share: float, total: float
) -> dict[tuple[str, ...], Floats]:
    """The tables that rows are fitted to: a mean of the model's and the noisy ones, never far from the noisy ones."""
    return {
        tuple(measurement.columns): on_simplex(
            limit_deviations(
                share * model.project(measurement.columns) + (1.0 - share) * measurement.values, measurement
            ),
            total=total,
        )
        for measurement in measured
    }


def components_for(domain: Mapping[str, int], most: int) -> int:
    """As many components as asked for, or fewer where few records are possible.

    A distribution over R possible records needs no more than R components; a few times as many are easier to train.
    """
    return min(most, COMPONENTS_PER_RECORD * math.prod(domain.values()))


def decode_residuals(
    residuals: NoisyResiduals,
    total: float,
    coins: Source,
    decoder: Decoder = "either",
    *,
    form: str,
    components: int,
    most_steps: int,
) -> DecodedModel:
    """The model whose residuals agree best with the released ones, judged by validation. Post-processing."""
    domain = residuals.strategy.domain
    heads = Heads.of(domain)
    start = int(coins.words(1)[0])
    if not heads.names:  # one possible record
        ones = np.ones((components, 0), dtype=np.float32)
        alone = MixtureModel.of_heads(domain, heads, ones, total=total)
        return DecodedModel(model=alone, facts={"steps": 0, "held_back": 0.0})
    thinned = gaussian_thinning(residuals.measurements(), coins)
    if decoder == "tree":
        return _fit_tree(residuals, total, thinned)

    def untrained_generator(values: Sequence[Measurement]) -> Generator:
        columns = _column_distributions(domain, values, total)
        return new_generator(form, heads, components=components, source=Source(seed=start), columns=columns)

    result = _fit_generator(residuals, total, thinned, untrained_generator, most_steps)
    if decoder == "generator" or len(residuals.strategy.sets) > MOST_BLENDED:
        return result
    return _fit_tree(residuals, total, thinned, instead=result)


def _fit_generator(
    residuals: NoisyResiduals,
    total: float,
    thinned: ThinnedParts,
    untrained_generator: Callable[[Sequence[Measurement]], Generator],
    most_steps: int,
) -> DecodedModel:
    """The mixture of products, trained for as many steps as validation says."""
    domain, measurements = residuals.strategy.domain, residuals.measurements()
    heads = Heads.of(domain)
    generator, stopping = train_generator(
        untrained_generator,
        measurements,
        lambda values: Targets(heads, values, helmert, total=total),
        thinned=thinned,
        most_steps=most_steps,
    )
    share, distance = 1.0, stopping.distance
    if len(measurements) <= MOST_BLENDED:
        learnt = MixtureModel.of_heads(domain, heads, stopping.best, total=total)
        expected = [residual_table(learnt.project(measurement.columns)) for measurement in measurements]
        share = share_of_model(expected, *thinned)
        distance = validation_error(expected, share, *thinned, _error_weights(residuals))
    return DecodedModel(
        model=MixtureModel.of_heads(domain, heads, generator.probabilities(), total=total),
        share=share,
        distance=distance,
        facts={"steps": stopping.steps, "held_back": round(stopping.distance, 4)},
    )


def _fit_tree(
    residuals: NoisyResiduals, total: float, thinned: ThinnedParts, instead: DecodedModel | None = None
) -> DecodedModel:
    """A junction tree, grown for as many rounds as validation says, then once more from all values.

    Returns the model `instead`, where one is given and the tree is not clearly better.
    """
    train = replace(
        residuals,
        factor=residuals.factor * TRAINING_NOISE_FACTOR,
        values={**residuals.values, **{tuple(part.columns): part.values for part in thinned[0]}},
    )
    shares, distances = [], []
    weights = _error_weights(residuals)
    for tree in _growing_trees(train, total):
        shares.append(share_of_model(tree.residuals, *thinned, weights))
        distances.append(validation_error(tree.residuals, shares[-1], *thinned, weights))
        if distances[-1] > min(distances):
            break
    best = int(np.argmin(distances))
    if instead and not (
        distances[best] < MOST_ERROR_RATIO * instead.distance and shares[best] >= LEAST_TREE_SHARE
    ):
        return instead
    *_, grown = islice(_growing_trees(residuals, total), best + 1)
    return DecodedModel(
        model=grown.model,
        share=shares[best],
        distance=distances[best],
        facts={"decoder": "tree", "held": len(grown.held), "held_back": round(distances[best], 4)},
    )


def _error_weights(residuals: NoisyResiduals) -> list[float]:
    """For each residual, what an error in one coordinate adds to the summed squared errors of the workload's tables."""
    domain = residuals.strategy.domain
    weights = dict.fromkeys(residuals.strategy.sets, 0.0)
    for columns in residuals.strategy.marginals:
        for size in range(len(columns) + 1):
            for inner in combinations(columns, size):
                if inner in weights:
                    weights[inner] += 1.0 / math.prod(domain[name] for name in columns if name not in inner)
    return [weights[tuple(measurement.columns)] for measurement in residuals.measurements()]


def _growing_trees(residuals: NoisyResiduals, total: float) -> Iterator[GrownTree]:
    return grown_trees(
        residuals.strategy.domain,
        residuals.measurements(),
        lambda columns: residuals.tables([columns])[0],
        residual_table,
        total=total,
    )


def _column_distributions(
    domain: Mapping[str, int], measurements: Sequence[Measurement], total: float
) -> dict[str, Floats]:
    """Each column's distribution from its noisy residual, uniform where there is none; no cell has probability 0."""
    residual = {
        measurement.columns[0]: restored_table(measurement.values)
        for measurement in measurements
        if len(measurement.columns) == 1
    }
    shares = {}
    for name, cells in domain.items():
        counts = total / cells + residual.get(name, np.zeros(cells))
        shares[name] = np.maximum(on_simplex(counts, total=total) / total, LEAST_CELL_SHARE / cells)
    return shares


METHOD = SynthesisMethod(
    name="query_gan",
    run=query_gan,
    paper="Fine 2020",
    currency="gdp",
    ranks=(
        SynthesisRank(
            place=0.9,
            reason="small tables, or all stand out of the noise of measuring them at once: a generator holds them all",
            when=SynthesisTask.shows_every_table,
        ),
    ),
    seconds=(10.0, 400.0),
)

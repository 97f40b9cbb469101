"""QueryGAN, in one shot: the whole workload is measured once, and a generator is trained on what came out.

After Fine, "Certifiably accurate private data release with generative adversarial networks" (2020), as far as it
holds (soundness, section 10). The generator is a mixture of products, whose answers to marginals are exact and have
derivatives; the query player asks every query at once, in the residual basis (`gaussian`), where noise is least and
independent from one coordinate to the next, so that the squared distance over sigma^2 is the likelihood. A junction
tree that held all tables of many columns would be too large; a generator needs none. Training stops where values held
back by Gaussian thinning say so. Where few tables say something of their own, a junction tree of just those knows more:
the same values choose between the two decoders. What is promised of the rows is their certificate; that training
converges is not.
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
    TRAIN_WIDER,
    Form,
    Generator,
    distance_held_back,
    gaussian_thinning,
    new_generator,
    require_generator,
    share_of_model,
    train_generator,
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
"""Residuals beyond which the noisy tables are not held against the model: projecting it on each takes too long."""
LEAST_CHANCE = 0.01
"""Of an even share, what the first model gives each cell of a column at least."""
SPARE = 4
"""Components for each possible record, at most."""
Decoder = Literal["either", "generator", "tree"]
"""What the measurement is decoded by: whichever the values held back are nearer to, or one of the two."""
WORTH_IT, LEAST_SHARE = 0.85, 0.25
"""A tree takes the generator's place with at most so much of its squared error, and at least such a share in what rows
are fitted to. Both errors are estimates, and few cells weigh more in squares than in the average that people read;
with a smaller share it is the noisy tables that are near, not the tree."""
Halves = tuple[Sequence[Measurement], Sequence[Measurement]]


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
    was released. Rows are dealt out by the mixture and then moved towards its own marginals, or towards a mean of
    these and the noisy tables where the values held back say that the tables know more. `generator="network"` trains a
    network from noise to the mixture (JAX, the extra `gan`) in place of free logits. `decoder="either"` lets a junction
    tree take the mixture's place where the values held back are nearer to it.
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
            **result.told,
            "share_of_model": round(result.share, 4),
        },
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Decoded:
    """A model of what was measured, and what the values held back say of it."""

    model: Model
    share: float = 1.0
    """Of the model in what rows are fitted to; the rest is the noisy tables' own."""
    distance: float = 0.0
    """From the values held back to that mean, as it was without them: squared, in units of their noise."""
    told: Mapping[str, int | float | str]
    """What a reader is told of how it came about."""


def blended_tables(
    measured: Sequence[Measurement], model: Model, share: float, total: float
) -> dict[tuple[str, ...], Floats]:
    """The tables that rows are fitted to: the model's in part, and nowhere far from what was measured."""
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
    """No distribution over few records needs more components; a few times as many are easier to train."""
    return min(most, SPARE * math.prod(domain.values()))


def decode_residuals(
    residuals: NoisyResiduals,
    total: float,
    coins: Source,
    decoder: Decoder = "either",
    *,
    form: str,
    components: int,
    most_steps: int,
) -> Decoded:
    """The model whose residuals agree best with the released ones, as far as thinning can tell. Post-processing."""
    domain = residuals.strategy.domain
    heads = Heads.of(domain)
    start = int(coins.words(1)[0])
    if not heads.names:  # one possible record
        ones = np.ones((components, 0), dtype=np.float32)
        alone = MixtureModel.of_heads(domain, heads, ones, total=total)
        return Decoded(model=alone, told={"steps": 0, "held_back": 0.0})
    halves = gaussian_thinning(residuals.parts(), coins)
    if decoder == "tree":
        return _by_tree(residuals, total, halves)

    def begin(values: Sequence[Measurement]) -> Generator:
        columns = _columns(domain, values, total)
        return new_generator(form, heads, components=components, source=Source(seed=start), columns=columns)

    result = _by_generator(residuals, total, halves, begin, most_steps)
    if decoder == "generator" or len(residuals.strategy.sets) > MOST_BLENDED:
        return result
    return _by_tree(residuals, total, halves, instead=result)


def _by_generator(
    residuals: NoisyResiduals,
    total: float,
    halves: Halves,
    begin: Callable[[Sequence[Measurement]], Generator],
    most_steps: int,
) -> Decoded:
    """The mixture of products, trained for as long as the values held back say."""
    domain, parts = residuals.strategy.domain, residuals.parts()
    heads = Heads.of(domain)
    generator, stopping = train_generator(
        begin,
        parts,
        lambda values: Targets(heads, values, helmert, total=total),
        halves=halves,
        most_steps=most_steps,
    )
    share, distance = 1.0, stopping.distance
    if len(parts) <= MOST_BLENDED:
        learnt = MixtureModel.of_heads(domain, heads, stopping.best, total=total)
        expected = [residual_table(learnt.project(part.columns)) for part in parts]
        share = share_of_model(expected, *halves)
        distance = distance_held_back(expected, share, *halves, _care(residuals))
    return Decoded(
        model=MixtureModel.of_heads(domain, heads, generator.probabilities(), total=total),
        share=share,
        distance=distance,
        told={"steps": stopping.steps, "held_back": round(stopping.distance, 4)},
    )


def _by_tree(
    residuals: NoisyResiduals, total: float, halves: Halves, instead: Decoded | None = None
) -> Decoded:
    """The junction tree of as many turns as the values held back say, grown again from all values.

    Where they are too near to what it would stand `instead` of, that is handed back: nothing is grown again.
    """
    train = replace(
        residuals,
        factor=residuals.factor * TRAIN_WIDER,
        values={**residuals.values, **{tuple(part.columns): part.values for part in halves[0]}},
    )
    shares, distances = [], []
    care = _care(residuals)
    for tree in _trees(train, total):
        shares.append(share_of_model(tree.residuals, *halves, care))
        distances.append(distance_held_back(tree.residuals, shares[-1], *halves, care))
        if distances[-1] > min(distances):
            break
    turns = int(np.argmin(distances))
    if instead and not (distances[turns] < WORTH_IT * instead.distance and shares[turns] >= LEAST_SHARE):
        return instead
    *_, grown = islice(_trees(residuals, total), turns + 1)
    return Decoded(
        model=grown.model,
        share=shares[turns],
        distance=distances[turns],
        told={"decoder": "tree", "held": len(grown.held), "held_back": round(distances[turns], 4)},
    )


def _care(residuals: NoisyResiduals) -> list[float]:
    """What an error in a coordinate of each residual adds to the squared errors of all tables that were asked for."""
    domain = residuals.strategy.domain
    care = dict.fromkeys(residuals.strategy.sets, 0.0)
    for columns in residuals.strategy.marginals:
        for size in range(len(columns) + 1):
            for inner in combinations(columns, size):
                if inner in care:
                    care[inner] += 1.0 / math.prod(domain[name] for name in columns if name not in inner)
    return [care[tuple(part.columns)] for part in residuals.parts()]


def _trees(residuals: NoisyResiduals, total: float) -> Iterator[GrownTree]:
    return grown_trees(
        residuals.strategy.domain,
        residuals.parts(),
        lambda columns: residuals.tables([columns])[0],
        residual_table,
        total=total,
    )


def _columns(domain: Mapping[str, int], parts: Sequence[Measurement], total: float) -> dict[str, Floats]:
    """Each column's distribution as its residual says, no cell without a chance; even where it was not measured."""
    residual = {part.columns[0]: restored_table(part.values) for part in parts if len(part.columns) == 1}
    shares = {}
    for name, cells in domain.items():
        counts = total / cells + residual.get(name, np.zeros(cells))
        shares[name] = np.maximum(on_simplex(counts, total=total) / total, LEAST_CHANCE / cells)
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

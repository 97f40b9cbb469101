"""QueryGAN, in one shot: the whole workload is measured once, and a generator is trained on what came out.

After Fine, "Certifiably accurate private data release with generative adversarial networks" (2020), as far as it
holds (soundness, section 10). The generator is a mixture of products, whose answers to marginals are exact and have
derivatives; the query player asks every query at once, in the residual basis (`gaussian`), where noise is least and
independent from one coordinate to the next, so that the squared distance over sigma^2 is the likelihood. A junction
tree that held all tables of many columns would be too large; a generator needs none. Training stops where values held
back by Gaussian thinning say so. What is promised of the rows is their certificate; that training converges is not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from holdfast.errors import require
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.synth.exact_counts import ExactCounts
from holdfast.synth.methods.gaussian import FACTORISED, NoisyResiduals, measure_residuals, wanted_tables
from holdfast.synth.methods.measure import total_of
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask
from holdfast.synth.models.generator.heads import Heads
from holdfast.synth.models.generator.mixture import MixtureModel
from holdfast.synth.models.generator.targets import Targets
from holdfast.synth.models.generator.training import (
    COMPONENTS,
    MOST_STEPS,
    Form,
    gaussian_thinning,
    new_generator,
    require_generator,
    share_of_model,
    trained,
)
from holdfast.synth.models.model import Floats, Measurement, on_simplex
from holdfast.synth.rows.coded_rows import row_coins
from holdfast.synth.rows.fit_rows import ReconciledModel, limited
from holdfast.synth.workload import Workload
from holdfast.synth.workload.residual_basis import helmert, residual_table, restored_table

MOST_BLENDED = 20_000
"""Residuals beyond which the noisy tables are not held against the model: projecting it on each takes too long."""
LEAST_CHANCE = 0.01
"""Of an even share, what the first model gives each cell of a column at least."""
SPARE = 4
"""Components for each possible record, at most."""


def query_gan(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    objective: Literal["max", "sum"] = "max",
    generator: Form = "mixture",
    components: int = COMPONENTS,
    most_steps: int = MOST_STEPS,
) -> Synthesis:
    """Noise on every residual of the workload, once; then a mixture of products that agrees with all of them.

    Private for rows and for users: one release, the rest is post-processing, with coins that are a function of what
    was released. Rows are dealt out by the mixture and then moved towards its own marginals, or towards a mean of
    these and the noisy tables where the values held back say that the tables know more. `generator="network"` trains a
    network from noise to the mixture (JAX, the extra `gan`) in place of free logits.
    """
    require_generator(generator)
    require(components >= 1, "components", components, ">= 1")
    require(most_steps >= 0, "most_steps", most_steps, ">= 0")
    tables, weights = wanted_tables(workload)
    residuals = measure_residuals(data, tables, weights=weights, objective=objective, account=account)
    measured = residuals.tables(tables)
    total = total_of(data, measured)
    coins = row_coins(measured, key="generator")
    components = components_for(data.domain, components)
    made = decoded(residuals, total, coins, form=generator, components=components, most_steps=most_steps)
    wanted = {
        tuple(one.columns): on_simplex(
            limited(made.share * made.model.project(one.columns) + (1.0 - made.share) * one.values, one),
            total=total,
        )
        for one in measured
    }
    return Synthesis(
        model=ReconciledModel(base=made.model, tables=wanted),
        theorem=FACTORISED,
        measurements=measured,
        parameters={
            "objective": objective,
            **residuals.parameters(tables),
            "generator": generator,
            "components": components,
            "steps": made.steps,
            "held_back": round(made.distance, 4),
            "share_of_model": round(made.share, 4),
        },
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class DecodedMixture:
    """A mixture of products, how long it was trained, and what the values held back said of it."""

    model: MixtureModel
    steps: int
    distance: float
    share: float
    """Of the model in what rows are fitted to; the rest is the noisy tables' own."""


def components_for(domain: Mapping[str, int], most: int) -> int:
    """No distribution over few records needs more components; a few times as many are easier to train."""
    return min(most, SPARE * math.prod(domain.values()))


def decoded(
    residuals: NoisyResiduals, total: float, coins: Source, *, form: str, components: int, most_steps: int
) -> DecodedMixture:
    """The mixture whose residuals agree best with the released ones, as far as thinning can tell. Post-processing."""
    domain = residuals.strategy.domain
    heads = Heads.of(domain)
    start = int(coins.words(1)[0])
    if not heads.names:  # one possible record
        ones = np.ones((components, 0), dtype=np.float32)
        alone = MixtureModel.of_heads(domain, heads, ones, total=total)
        return DecodedMixture(model=alone, steps=0, distance=0.0, share=1.0)
    parts = residuals.parts()
    halves = gaussian_thinning(parts, coins)
    generator, stopping = trained(
        lambda values: new_generator(
            form,
            heads,
            components=components,
            source=Source(seed=start),
            columns=_columns(domain, values, total),
        ),
        parts,
        lambda values: Targets(heads, values, helmert, total=total),
        halves=halves,
        most_steps=most_steps,
    )
    share = 1.0
    if len(parts) <= MOST_BLENDED:
        learnt = MixtureModel.of_heads(domain, heads, stopping.best, total=total)
        share = share_of_model([residual_table(learnt.project(one.columns)) for one in parts], *halves)
    return DecodedMixture(
        model=MixtureModel.of_heads(domain, heads, generator.probabilities(), total=total),
        steps=stopping.steps,
        distance=stopping.distance,
        share=share,
    )


def _columns(domain: Mapping[str, int], parts: Sequence[Measurement], total: float) -> dict[str, Floats]:
    """Each column's distribution as its residual says, no cell without a chance; even where it was not measured."""
    found = {one.columns[0]: restored_table(one.values) for one in parts if len(one.columns) == 1}
    made = {}
    for name, cells in domain.items():
        counts = total / cells + found.get(name, np.zeros(cells))
        made[name] = np.maximum(on_simplex(counts, total=total) / total, LEAST_CHANCE / cells)
    return made


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
    seconds=(5.0, 60.0),
)

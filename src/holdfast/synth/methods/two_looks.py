"""Two looks: all tables measured roughly, then measured again, either all of them or the few that matter most.

Where every table holds a dependence of its own, it is best to measure all of them at once; where few tables explain all
others (a chain, a sparse network), a budget spent on those few leaves several times less noise. Public numbers do not
tell the two cases apart, so 15 % of the budget pays for a trial on the private table:

1. The first look: the whole workload is measured in the residual basis. This budget is not lost, since the precisions
   of two measurements add up.
2. A forest of tables is selected as in MST (McKenna, Miklau and Sheldon 2021): the exponential mechanism selects
   tables in which independent columns have the largest error, each joining columns that no other has joined. These
   tables are measured.
3. Two models are fitted: a junction tree of the forest, and the generator of `query_gan`. The mean error of each is a
   number that one row moves by at most 1 / n; both are released with noise.
4. The error of each at the end is forecast. That of the tree has a part due to its structure, which stays, and a part
   due to noise, which is simulated: the tree is taken for the truth, given noise and fitted again. The generator's
   error falls with the cube root of the budget.
5. The second look spends the rest where the smaller error is forecast: on all tables once more, or on the tables of
   the forest that stand out of the noise and on those in which the tree has the largest error.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from holdfast.errors import require
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import fractions_of_rest
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.generator.training import COMPONENTS, MOST_STEPS
from holdfast.synth._models.graphical.growing import MOST_FOREST_CELLS
from holdfast.synth._rows.coded_rows import row_coins
from holdfast.synth._rows.fit_rows import ReconciledModel
from holdfast.synth._workload import Workload
from holdfast.synth.methods.adaptive import downward_closure
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisRank, SynthesisTask
from holdfast.synth.methods.query_gan import components_for, decode_residuals, query_gan
from holdfast.synth.methods.residuals import FACTORISED
from holdfast.synth.methods.trial import WorkloadMeasurement, choose_tables, single_table_noise

THEOREM = (
    FACTORISED
    + ", in two looks; between them exponential-mechanism selections (bounded range as Gaussian DP: "
    "soundness, section 0) and the mean L1 error of two models, whose sensitivity is that of one table"
)
FIRST_SHARE, CHOOSING_SHARE, TRYING_SHARE, COMPARING_SHARE = 0.2, 0.04, 0.06, 0.05
LAST_SHARE = 1.0 - FIRST_SHARE - CHOOSING_SHARE - TRYING_SHARE - COMPARING_SHARE
"""Shares of the budget: the first look, selecting a forest, measuring it, the errors of two models, the second look."""
SELECTING_MORE_SHARE = 0.05
"""Share of the whole budget: selecting further tables, where the second look is at few tables."""
ERROR_EXPONENT = 1.0 / 3.0
"""A generator's average error falls with this power of the budget: between 1/2, noise alone, and 0."""
FAVOURED_RATIO = 1.1
"""Few tables are measured again even if their forecast error is this many times that of all tables: the tables that
the tree gets most wrong will still be added to it, which the forecast leaves out."""
LEAST_NOISE = 0.22
"""A trial is made where the noise of all tables at once is at least this many mean counts of a cell. Below, measuring
few tables saves less than the trial costs where all of them matter."""
MOST_FOREST_NOISE, MOST_ERROR_NOISE = 2.4, 0.025
"""A trial is decisive up to this noise of the forest's tables, in mean counts of a cell, and of the two mean errors."""
MOST_TRIAL_TABLES, MOST_MEAN_CELLS = 10_000, 64
"""A trial is made up to so many tables, a bound on time, and up to so many cells of a table on average, because it was
not studied on larger ones."""


def two_looks(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    components: int = COMPONENTS,
    most_steps: int = MOST_STEPS,
) -> Synthesis:
    """Measure the whole workload roughly, compare two models, and measure again what the better one needs.

    Private for rows and for users: Gaussian releases of residuals and of two mean errors, and selections by scores,
    each with the sensitivity that it declares (soundness, sections 18 and 20), composed adaptively. Which tables are
    measured again depends on released values only.
    """
    require(components >= 1, "components", components, ">= 1")
    require(most_steps >= 0, "most_steps", most_steps, ">= 0")
    choices = {
        columns: weight
        for columns, weight in downward_closure(workload, data.domain).items()
        if all(data.domain[name] > 1 for name in columns)
        and math.prod(data.domain[name] for name in columns) <= MOST_FOREST_CELLS
    }
    if not choices:  # no table of two columns: nothing to select, so one measurement of all tables is best
        return query_gan(data, workload, account=account, components=components, most_steps=most_steps)
    shares = fractions_of_rest(
        account, FIRST_SHARE, CHOOSING_SHARE, TRYING_SHARE, COMPARING_SHARE, LAST_SHARE
    )
    first, choosing, trying, comparing, last = account.split(*shares)
    measured = WorkloadMeasurement(data, workload, first)
    times = len(measured.singles) - 1
    noise_std = math.sqrt(times + 1) * single_table_noise((trying, last), data)
    independent = measured.fit_tree([])
    forest = choose_tables(
        data, choices, independent, times=times, apart=True, noise_std=noise_std, account=choosing
    )
    measured.measure([*measured.singles, *forest], trying, "a look at the forest")

    coins = row_coins(measured.noisy_tables(), key="trial")
    train = partial(
        decode_residuals,
        form="mixture",
        components=components_for(data.domain, components),
        most_steps=most_steps,
    )
    tree = measured.fit_tree(forest)
    generator = train(measured.residuals, measured.total, coins, "generator")
    generator_tables = measured.reconciled_tables(generator.model, generator.share)
    errors = measured.mean_errors([tree.project, generator_tables.__getitem__], comparing)
    few = measured.forecast_tree_error(errors[0], tree, forest, last, coins)
    everything = errors[1] * (FIRST_SHARE / (FIRST_SHARE + LAST_SHARE)) ** ERROR_EXPONENT
    facts: dict[str, Any] = {"error_of_tree": errors[0], "error_of_generator": errors[1]}
    facts |= {"expected_of_few": few.total, "expected_of_all": everything}
    facts = {name: round(value, 5) for name, value in facts.items()}

    if few.total < FAVOURED_RATIO * everything:
        independent = measured.fit_tree([])
        held = [columns for columns in forest if measured.stands_out(columns, independent)]
        part = SELECTING_MORE_SHARE / LAST_SHARE
        selecting, last = last.split(*fractions_of_rest(last, part, 1.0 - part))
        times = max(1, times // (2 if few.structure > few.noise else 4))
        held = measured.with_worst_tables(held, choices, times, choosing=selecting, measuring=last)
        measured.measure([*measured.singles, *held], last, "second look: few tables")
        model, share = measured.fit_tree(held), 1.0
        facts |= {"second_look": "few tables", "held": [list(columns) for columns in held]}
    else:
        measured.measure(measured.tables, last, "second look: all tables", measured.weights)
        coins = row_coins(measured.noisy_tables(), key="generator")
        decoded = train(measured.residuals, measured.total, coins, "either")
        model, share = decoded.model, decoded.share
        facts |= {"second_look": "all tables", **decoded.facts}
    return Synthesis(
        model=ReconciledModel(base=model, tables=measured.reconciled_tables(model, share)),
        theorem=THEOREM,
        measurements=measured.noisy_tables(),
        parameters={
            **measured.residuals.parameters(measured.tables),
            "tried": [list(columns) for columns in forest],
            **facts,
            "share_of_model": round(share, 4),
        },
    )


def worth_a_trial(task: SynthesisTask) -> bool:
    """Whether all tables would be measured at once, few would have much less noise, and a trial would be decisive.

    K tables at once have sqrt(K) times the noise of one. Where the largest error counts, and where the number of rows
    is private, there is no trial.
    """
    columns, cells = len(task.domain), task.table_cells()
    tables = len(cells)
    if not task.rows or task.objective != "average" or not task.shows_every_table():
        return False
    if tables > MOST_TRIAL_TABLES or sum(cells) > MOST_MEAN_CELLS * tables:
        return False
    error_noise = math.sqrt(2.0 / COMPARING_SHARE) * task.rough_noise(1) / (2.0 * task.rows)
    return (
        task.noise_in_counts(tables) >= LEAST_NOISE
        and task.noise_in_counts(columns) / math.sqrt(TRYING_SHARE) <= MOST_FOREST_NOISE
        and error_noise <= MOST_ERROR_NOISE
    )


METHOD = SynthesisMethod(
    name="two_looks",
    run=two_looks,
    paper="Xiao et al. 2023; McKenna, Miklau and Sheldon 2021; Fine 2020",
    currency="gdp",
    ranks=(
        SynthesisRank(
            place=0.85,
            reason="small tables under much noise: a first look at all of them, and a trial that tells whether few of "
            "them say all",
            when=worth_a_trial,
        ),
    ),
    seconds=(10.0, 800.0),
)

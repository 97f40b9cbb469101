"""Look at everything roughly; then at everything again, or at the few tables that say most: what a trial tells.

Where every table says something of its own, all of them are best measured at once; where few say all (a chain, a sparse
network), a budget spent on those few leaves several times less noise. Public numbers do not tell one from the other, so
the table is asked, for 15 % of the budget:

1. A first look at the whole workload, in the residual basis. Nothing is lost by it: precisions of two looks add up.
2. A forest, as MST chooses one (McKenna, Miklau and Sheldon 2021): by the exponential mechanism the tables in which
   independent columns are most wrong, each joining columns that no other has joined; and a look at these.
3. Two models of what was seen: a junction tree of the forest, and the generator of `query_gan`. How far each is from
   the table on average is a number that one row moves by 1 / n: two such numbers are bought.
4. What each would be at the end. The tree's error is that of its structure, which stays, and that of its noise, which
   is known: the tree is taken for the truth, measured again and fitted again. The generator's falls with the cube root
   of the budget.
5. What is left goes where the smaller error is expected: to everything once more, or to the forest's tables that
   stood out and to those that the tree gets most wrong.
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
from holdfast.synth.methods.trial import Looks, choose_tables, noise_of_one

THEOREM = (
    FACTORISED
    + ", in two looks; between them exponential-mechanism selections (bounded range as Gaussian DP: "
    "soundness, section 0) and the mean L1 error of two models, whose sensitivity is that of one table"
)
FIRST_SHARE, CHOOSING_SHARE, TRYING_SHARE, COMPARING_SHARE = 0.2, 0.04, 0.06, 0.05
LAST_SHARE = 1.0 - FIRST_SHARE - CHOOSING_SHARE - TRYING_SHARE - COMPARING_SHARE
"""Of the budget: the first look, choosing a forest, a look at it, the errors of two models, and the second look."""
CHOOSING_MORE = 0.05
"""Of the whole budget: the choice of further tables, where few are looked at again."""
GROWTH = 1.0 / 3.0
"""A generator's average error falls with this power of the budget: between 1/2, noise alone, and 0."""
FAVOURED_RATIO = 1.1
"""Few tables may be expected to be so many times worse: those that the tree gets most wrong are yet to join it."""
LEAST_NOISE = 0.22
"""In mean counts of a cell: the noise of all tables at once from which on a trial is worth its price. Below, few tables
save less than a trial costs where all of them matter."""
MOST_IN_TRIAL, MOST_IN_ERRORS = 2.4, 0.025
"""A trial can tell: the noise of the forest's tables, in mean counts of a cell, and that of the two mean errors."""
MOST_TRIED, MOST_IN_TABLE = 10_000, 64
"""Tables up to which a trial is made, a bound on time; and cells of a table on average: larger ones were not tried."""


def two_looks(
    data: ExactCounts,
    workload: Workload,
    *,
    account: Account,
    components: int = COMPONENTS,
    most_steps: int = MOST_STEPS,
) -> Synthesis:
    """A first look at the whole workload, a trial of two models, and a second look where the trial says.

    Private for rows and for users: Gaussian releases of residuals and of two mean errors, and selections by scores,
    each with the sensitivity that it declares (soundness, sections 18 and 20), composed adaptively. Which tables are
    looked at again depends on released values only.
    """
    require(components >= 1, "components", components, ">= 1")
    require(most_steps >= 0, "most_steps", most_steps, ">= 0")
    choices = {
        columns: weight
        for columns, weight in downward_closure(workload, data.domain).items()
        if all(data.domain[name] > 1 for name in columns)
        and math.prod(data.domain[name] for name in columns) <= MOST_FOREST_CELLS
    }
    if not choices:  # nothing depends on anything: one look is all there is
        return query_gan(data, workload, account=account, components=components, most_steps=most_steps)
    shares = fractions_of_rest(
        account, FIRST_SHARE, CHOOSING_SHARE, TRYING_SHARE, COMPARING_SHARE, LAST_SHARE
    )
    first, choosing, trying, comparing, last = account.split(*shares)
    looks = Looks(data, workload, first)
    times = len(looks.singles) - 1
    noise_std = math.sqrt(times + 1) * noise_of_one((trying, last), data)
    independent = looks.tree([])
    forest = choose_tables(
        data, choices, independent, times=times, apart=True, noise_std=noise_std, account=choosing
    )
    looks.look([*looks.singles, *forest], trying, "a look at the forest")

    coins = row_coins(looks.known_tables(), key="trial")
    train = partial(
        decode_residuals,
        form="mixture",
        components=components_for(data.domain, components),
        most_steps=most_steps,
    )
    tree, generator = looks.tree(forest), train(looks.residuals, looks.total, coins, "generator")
    by_generator = looks.reconciled_tables(generator.model, generator.share)
    errors = looks.mean_errors([tree.project, by_generator.__getitem__], comparing)
    few = looks.foretold(errors[0], tree, forest, last, coins)
    everything = errors[1] * (FIRST_SHARE / (FIRST_SHARE + LAST_SHARE)) ** GROWTH
    facts: dict[str, Any] = {"error_of_tree": errors[0], "error_of_generator": errors[1]}
    facts |= {"expected_of_few": few.together, "expected_of_all": everything}
    facts = {name: round(value, 5) for name, value in facts.items()}

    if few.together < FAVOURED_RATIO * everything:
        independent = looks.tree([])
        held = [columns for columns in forest if looks.stands_out(columns, independent)]
        part = CHOOSING_MORE / LAST_SHARE
        more, last = last.split(*fractions_of_rest(last, part, 1.0 - part))
        times = max(1, times // (2 if few.structure > few.noise else 4))
        held = looks.with_more(held, choices, times, choosing=more, measuring=last)
        looks.look([*looks.singles, *held], last, "second look: few tables")
        model, share = looks.tree(held), 1.0
        facts |= {"second_look": "few tables", "held": [list(columns) for columns in held]}
    else:
        looks.look(looks.tables, last, "second look: all tables", looks.weights)
        result = train(
            looks.residuals, looks.total, row_coins(looks.known_tables(), key="generator"), "either"
        )
        model, share = result.model, result.share
        facts |= {"second_look": "all tables", **result.told}
    return Synthesis(
        model=ReconciledModel(base=model, tables=looks.reconciled_tables(model, share)),
        theorem=THEOREM,
        measurements=looks.known_tables(),
        parameters={
            **looks.residuals.parameters(looks.tables),
            "tried": [list(columns) for columns in forest],
            **facts,
            "share_of_model": round(share, 4),
        },
    )


def worth_a_trial(task: SynthesisTask) -> bool:
    """Whether all tables would be measured at once, with noise that few would not have, and a trial can tell.

    K tables at once have sqrt(K) times the noise of one. Where the largest error counts, and where the number of rows
    is private, all are measured at once without a trial.
    """
    columns, cells = len(task.domain), task.table_cells()
    tables = len(cells)
    if not task.rows or task.objective != "average" or not task.shows_every_table():
        return False
    if tables > MOST_TRIED or sum(cells) > MOST_IN_TABLE * tables:
        return False
    in_errors = math.sqrt(2.0 / COMPARING_SHARE) * task.rough_noise(1) / (2.0 * task.rows)
    return (
        task.noise_in_counts(tables) >= LEAST_NOISE
        and task.noise_in_counts(columns) / math.sqrt(TRYING_SHARE) <= MOST_IN_TRIAL
        and in_errors <= MOST_IN_ERRORS
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

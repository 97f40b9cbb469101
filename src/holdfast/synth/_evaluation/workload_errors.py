"""Errors of a released distribution over a workload, and of four baselines. Not noised: never to publish.

The baselines are a uniform table, independent columns, Gaussian answers and a tree; an error says little without them.
What may be published about errors is the certificate.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._arrays import Floats
from holdfast._progress import progress
from holdfast.data._sensitivity import counts_l1, counts_l2
from holdfast.data._table import Table
from holdfast.errors import NotPrivateWarning
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import limit_of, open_account
from holdfast.privacy._mechanisms.gaussian import Gaussian
from holdfast.privacy._mechanisms.laplace import Laplace
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.synth._choice import find_synthesis_method
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import on_simplex
from holdfast.synth._models.product import ProductModel
from holdfast.synth._rows.coded_rows import CodedRows, row_coins
from holdfast.synth._workload import Workload

#: A function from columns to their joint count, which the evaluation normalises.
Tables = Callable[[Sequence[str]], Floats]
LINES = ("uniform", "independent", "gaussian answers", "tree")


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Evaluation:
    """Errors of proportions, one entry per group of the workload.

    These are exact functions of the private table, for whoever holds it.

    Parameters
    ----------
    total_variation : ndarray
        For each group, half the L1 distance between its proportions in the two tables.
    max_errors : ndarray
        For each group, the largest difference of one of its proportions.
    name : str
        What was evaluated, for the summary.
    audience : {'internal'}
        Always internal: nothing here is noised.

    Examples
    --------
    >>> errors = Evaluation(total_variation=np.array([0.1, 0.3]), max_errors=np.array([0.02, 0.01]))
    >>> round(errors.average_total_variation, 3), errors.max_error
    (0.2, 0.02)
    """

    total_variation: Floats
    max_errors: Floats
    name: str = ""
    audience: Literal["internal"] = "internal"

    @property
    def average_total_variation(self) -> float:
        """The mean over groups of half the L1 distance."""
        return float(self.total_variation.mean())

    @property
    def max_error(self) -> float:
        """The largest error of any query."""
        return float(self.max_errors.max())

    def summary(self) -> str:
        """One line, with its audience.

        >>> Evaluation(total_variation=np.array([0.1, 0.3]), max_errors=np.array([0.02, 0.01]), name="tree").summary()
        'tree: average total variation 0.2, largest error 0.02 (internal: not noised, do not publish)'
        """
        return (
            f"{self.name or 'release'}: average total variation {self.average_total_variation:.4g}, largest error "
            f"{self.max_error:.4g} ({self.audience}: not noised, do not publish)"
        )


@checked
def evaluate(truth: Tables, released: Tables, workload: Workload, *, name: str = "") -> Evaluation:
    """Compare two sources of joint counts over a workload, a group at a time.

    Parameters
    ----------
    truth : callable
        The exact table: a function that takes names of columns and returns their joint counts.
    released : callable
        The same of the table that is compared with it.
    workload : Workload
        The groups of queries that are compared.
    name : str
        What was evaluated, for the summary.

    Returns
    -------
    Evaluation
        The errors of each group. They are exact, hence internal.

    Examples
    --------
    >>> from holdfast.synth import Marginal
    >>> truth, released = (lambda columns: [30, 70]), (lambda columns: [40, 60])
    >>> evaluate(truth, released, Workload([Marginal(("ill",))])).summary()
    'release: average total variation 0.1, largest error 0.1 (internal: not noised, do not publish)'
    """
    variation, largest = [], []
    with progress(desc="evaluating", total=len(workload.groups)) as bar:
        for group in workload.groups:
            exact, approximate = (
                np.asarray(tables(group.columns), dtype=np.float64) for tables in (truth, released)
            )
            gap = group.answers(shares(exact)) - group.answers(shares(approximate))
            variation.append(0.5 * float(np.abs(gap).sum()))
            largest.append(float(np.abs(gap).max()))
            bar.update()
    return Evaluation(total_variation=np.array(variation), max_errors=np.array(largest), name=name)


def shares(counts: Floats) -> Floats:
    """Counts as proportions; zeros for an empty table."""
    total = float(counts.sum())
    return counts / total if total else counts


def reference_lines(
    table: Table | ExactCounts,
    workload: Workload,
    *,
    epsilon: float,
    delta: float,
    rows: int | None = None,
    random_state: Seed | None = 0,
    options: Sequence[str] = LINES,
) -> tuple[Evaluation, ...]:
    """Errors of the four baselines on this table, with this budget: internal, not noised.

    `gaussian answers` are noisy counts of every marginal of the workload, each made non-negative on its own: they
    are answers without rows. The others are measured on `rows` rows (as many as the table has, by default). The
    noise is seeded: none of this is a release.

    >>> from holdfast.data import Categorical, Schema, open_table
    >>> schema = Schema([Categorical("a", ["x", "y"]), Categorical("b", ["x", "y"])])
    >>> table = open_table({"a": ["x", "y"] * 50, "b": ["x", "y"] * 50}, schema)
    >>> lines = reference_lines(table, Workload.of([("a", "b")]), epsilon=1.0, delta=1e-6, options=("uniform",))
    >>> lines[0].name, lines[0].max_error, lines[0].audience
    ('uniform', 0.25, 'internal')
    """
    data = table if isinstance(table, ExactCounts) else ExactCounts(table)
    count = data.table.count() if rows is None else rows
    lines = []
    for name in options:
        if name == "uniform":
            # Exact expectations, without sampling rows.
            model = ProductModel.uniform(data.domain, total=float(max(count, 1)))
            lines.append(evaluate(data_of(data), model.project, workload, name=name))
        elif name == "gaussian answers":
            lines.append(_gaussian_answers(data, workload, epsilon=epsilon, delta=delta, seed=random_state))
        else:
            lines.append(
                _method_line(
                    name, data, workload, epsilon=epsilon, delta=delta, rows=count, seed=random_state
                )
            )
    return tuple(lines)


def data_of(data: ExactCounts) -> Any:
    """The exact joint counts as a function of a list of columns, as `evaluate` takes them."""
    return lambda columns: data(*columns)


def _method_line(
    name: str,
    data: ExactCounts,
    workload: Workload,
    *,
    epsilon: float,
    delta: float,
    rows: int,
    seed: Seed | None,
) -> Evaluation:
    method = find_synthesis_method(name)
    account = open_account(
        limit_of(epsilon, delta), method, adjacency=data.adjacency, unit=data.unit, seed=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)
        synthesis = method.fit(data, workload, account=account)
    source = row_coins(synthesis.measurements, key=name)
    drawn = CodedRows(domain=dict(synthesis.model.domain), codes=synthesis.model.sample(max(rows, 1), source))
    return evaluate(data_of(data), drawn, workload, name=name)


def _gaussian_answers(
    data: ExactCounts, workload: Workload, *, epsilon: float, delta: float, seed: Seed | None
) -> Evaluation:
    """One release of all tables together: L2 sensitivity sqrt(G) (soundness, section 20)."""
    limit = limit_of(epsilon, delta)
    currency = "pure" if delta == 0 else "gdp"
    account = Account(limit, adjacency=data.adjacency, unit=data.unit, currency=currency, seed=seed)
    tables = list(dict.fromkeys(tuple(group.columns) for group in workload.groups))
    l1 = counts_l1(data.adjacency, data.unit, marginals=len(tables))
    l2 = counts_l2(data.adjacency, data.unit, marginals=len(tables))
    mechanism: Mechanism = (
        Laplace.within(limit, l1_sensitivity=l1)
        if delta == 0
        else Gaussian.within(account.remaining(), l2_sensitivity=l2)
    )
    permit = account.permit(mechanism, times=1)
    exact = data.counts(tables)
    noisy = permit.release(np.concatenate([table.reshape(-1) for table in exact]).astype(np.int64))
    parts = np.split(noisy.astype(np.float64), np.cumsum([table.size for table in exact])[:-1])
    total = float(data.public_rows or max(1.0, np.mean([part.sum() for part in parts])))
    answers = {
        columns: on_simplex(part, total=total).reshape(table.shape)
        for columns, part, table in zip(tables, parts, exact, strict=True)
    }
    return evaluate(data_of(data), lambda columns: answers[tuple(columns)], workload, name="gaussian answers")

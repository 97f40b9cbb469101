"""SynthesisMethod: what a private synthesiser declares about itself, and `fit`, which checks a task and runs it.

A method is a function in a file of its own, whose keywords are its options, and a `METHOD` that says what its proof
covers and how it ranks where `method="auto"` chooses. Whatever can be refused is refused in `fit`, in the same way for
all methods and before anything is charged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from holdfast._arguments import checked
from holdfast._assumption import Assumption
from holdfast._options import Option, check_options, keywords_of, options_of
from holdfast.data._sensitivity import counts_l2
from holdfast.errors import ParameterError
from holdfast.privacy._account import Account
from holdfast.privacy._account.request import admit
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._models.model import Measurement, Model
from holdfast.synth._workload import Workload


@dataclass(frozen=True, kw_only=True, eq=False)
class Synthesis:
    """What a method releases: a model, the noisy tables it was fitted to, and facts about the run. Nothing exact."""

    model: Model
    theorem: str
    measurements: tuple[Measurement, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    assumptions: tuple[Assumption, ...] = ()


#: Currencies of an account in which Gaussian noise on real numbers can be charged, and integer noise cannot.
MEASURING_CURRENCIES = ("gdp", "renyi")
MOST_TRAINED_CELLS = 100_000
"""The most cells, of all tables of a workload together, for which `auto` chooses a generator. A bound on time, not a
tuned value: it lies between tables of small columns (up to 20,000 cells in the panel of benchmarks) and those of Adult
(148,000 in pairs)."""
MOST_SMALL_TABLE_CELLS = 1_500_000
"""The same bound where tables are small: all triples of 100 binary columns. Where so many columns all depend on each
other, no junction tree is small enough: on 240 binary columns made from eight hidden numbers, its error was seven
times that of the generator."""
SMALL_TABLE_CELLS = 32
"""Tables of at most this many cells on average are all measured at once, however large the noise. Chosen on three
tables kept for tuning, location_20, latent_16_triples and gss (4, 8 and 26 cells), with noise 2 to 16 times the mean
count of a cell: the generator was at most 1.16 times worse than a selection, the selection up to 1.9 times worse."""
MOST_RELATIVE_NOISE = 2.5
"""Larger tables are all measured at once while the noise of a cell is at most this multiple of its mean count. Chosen
on coarse tables of Adult and GSS, pairs and triples: up to there the generator's average error was within 1.09 of a
selection's, and a selection's largest error up to 1.9 times the generator's."""
OBJECTIVES = ("average", "largest")
LARGE_EPSILON = 500.0
"""A limit's delta at this epsilon is taken as its delta in rules of thumb."""
RunSynthesis = Callable[..., Synthesis]
"""A method's function, `run(data, workload, *, account, ...)`: exact counts in, noise only through the account.

It spends all that remains in the account, unless its options say otherwise.
"""


@dataclass(frozen=True, kw_only=True)
class SynthesisTask:
    """What is public about a synthesis before it begins: all that `method="auto"` may read."""

    domain: Mapping[str, int]
    workload: Workload
    limit: PrivacyCurve
    adjacency: Adjacency = Adjacency.replace
    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    rows_are_public: bool = True
    """Whether the number of rows is public: declared, or the same in all neighbouring tables."""
    currency: str | None = None
    """The currency of the account that was given; None where one is opened that suits the method."""
    rows: int | None = None
    """The number of rows, where it is public and known."""
    objective: str = "average"
    """Which error is to be small: that of the workload's tables on average, or the largest of all answers."""

    @property
    def universe_size(self) -> int:
        """The number of possible records."""
        return math.prod(self.domain.values())

    def column_count(self) -> int:
        """The number of columns."""
        return len(self.domain)

    def is_any(self) -> bool:
        """True: the condition of a rank that is about every task."""
        return True

    def is_pure(self) -> bool:
        """Whether the limit is pure differential privacy, so that delta must be 0."""
        return self.limit.as_pure() is not None

    def cannot_select(self) -> bool:
        """Whether the integer noise of methods that select has no cost in the account's currency."""
        return self.currency in MEASURING_CURRENCIES

    def wants_largest(self) -> bool:
        """Whether the largest error is to be small: then every table of the workload has to be measured."""
        return self.objective == "largest" and not self.is_pure()

    def shows_every_table(self) -> bool:
        """Whether all tables are better measured at once than selected.

        A selection is better where the budget is enough for few of many tables: the others are left out, and so
        is what a junction tree has no room for. K tables at once have sqrt(K) times the noise of one. Where that
        is no more than a few times the mean count of a cell (`MOST_RELATIVE_NOISE`), a generator learns as much
        of all tables as a selection learns of some. Where tables are small (`SMALL_TABLE_CELLS`), this holds with
        far more noise, and for a private number of rows too. A generator goes through every cell at every step
        of its training, so their number is bounded: `MOST_TRAINED_CELLS`, of small tables
        `MOST_SMALL_TABLE_CELLS`.
        """
        tables = self.table_cells()
        cells = sum(tables)
        small = cells <= SMALL_TABLE_CELLS * len(tables)
        if (
            self.is_pure()
            or len(tables) <= len(self.domain)
            or cells > (MOST_SMALL_TABLE_CELLS if small else MOST_TRAINED_CELLS)
        ):
            return False
        if self.wants_largest() or small:
            return True
        if self.rows is None:
            return False
        return self.noise_in_counts(len(tables)) <= MOST_RELATIVE_NOISE

    def one_shot_error(self) -> float | None:
        """About the largest error that noise leaves where the whole workload is measured at once, as a proportion."""
        tables = self.table_cells()
        if not self.rows or self.is_pure():
            return None
        # The median of the largest absolute value of so many standard normal numbers.
        quantile = NormalDist().inv_cdf(1.0 - math.log(2.0) / (2.0 * max(2, sum(tables))))
        return min(1.0, quantile * self.rough_noise(len(tables)) / self.rows)

    def table_cells(self) -> list[int]:
        """The number of cells of each joint table that the workload reads."""
        sets = {frozenset(group.columns) for group in self.workload.groups}
        return [math.prod(self.domain[name] for name in columns) for columns in sets]

    def noise_in_counts(self, tables: int) -> float:
        """About the noise of a cell if so many tables are measured at once, as a multiple of a cell's mean count."""
        cells = self.table_cells()
        return self.rough_noise(tables) * sum(cells) / (max(1, self.rows or 0) * len(cells))

    def rough_noise(self, tables: int) -> float:
        """About the noise of a cell if so many tables are measured at once: a rule of thumb, only used to choose."""
        delta = max(1e-9, self.limit.delta(LARGE_EPSILON))
        epsilon = self.limit.epsilon(delta)
        l2 = counts_l2(self.adjacency, self.unit, marginals=tables)
        return l2 * math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon if epsilon > 0 else math.inf

    def has_one_column(self) -> bool:
        """Whether no column can depend on another."""
        return len(self.domain) == 1


def one_table(task: SynthesisTask) -> int:
    """1 for every `task`: a method that chooses what it measures may spend nearly all of the budget on one table."""
    return 1


@dataclass(frozen=True, kw_only=True)
class SynthesisRank:
    """A place in the order in which `method="auto"` prefers methods, the smallest first, and the reason."""

    place: float
    reason: str
    when: Callable[[SynthesisTask], bool] = SynthesisTask.is_any
    """The tasks that this rank is about."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options that the method runs with where it is chosen by this rank."""


@checked
@dataclass(frozen=True, kw_only=True)
class SynthesisMethod:
    """An entry of SYNTHESISERS, or one of your own: `Synthesizer(method=...)` takes the object as well as a name.

    Parameters
    ----------
    name : str
        The name, which releases store.
    run : callable
        The function that does the work, `run(data, workload, *, account, ...) -> Synthesis`. Its further keywords
        are the method's options.
    paper : str
        Where the method was published.
    pure : bool
        Whether it works without delta.
    currency : str
        The currency of an account that is opened for it, where delta > 0.
    adjacencies : tuple of str
        The neighbour relations that its proof covers.
    single_rows : str
        Empty where the proof covers units of several rows; else what to do about them.
    most_cells : int, optional
        The largest universe (product of all domain sizes) that it can hold, where it holds all of it.
    divides_within : float
        The largest universe for which it divides by the number of rows, which must then be public; 0 for none.
    zeros : bool
        Whether `run` takes `constraints`: declared impossible cells, which then never get any weight.
    ranks : tuple of SynthesisRank
        How it ranks for `method='auto'`: the first rank that is about the task counts. A method without ranks only
        runs where it is named.
    seconds : tuple of float
        CPU seconds, for estimates: a fixed part, and one per million cells of the workload.
    tables : callable
        How many tables of single columns it cannot do without measuring, for a task: they share the budget.
    selects : bool
        Whether it measures only what may stand above the noise, so that a small budget takes less time.

    Examples
    --------
    >>> from holdfast.synth import SYNTHESISERS
    >>> next(method for method in SYNTHESISERS if method.name == "independent").pure
    True
    >>> def learn_nothing(data, workload, *, account):
    ...     raise NotImplementedError
    >>> SynthesisMethod(name="mine", run=learn_nothing, paper="").currencies
    ('zcdp',)
    """

    name: str
    run: RunSynthesis
    paper: str
    pure: bool = False
    currency: str = "zcdp"
    adjacencies: tuple[str, ...] = ("replace", "zero_out", "add_remove")
    single_rows: str = ""
    most_cells: int | None = None
    divides_within: float = 0.0
    zeros: bool = False
    ranks: tuple[SynthesisRank, ...] = ()
    seconds: tuple[float, float] = (10.0, 100.0)
    tables: Callable[[SynthesisTask], int] = one_table
    selects: bool = False

    @property
    def instead_of_pure(self) -> str:
        """The advice given where delta must be 0 and the method needs delta > 0."""
        return "use method='auto' for pure privacy"

    @property
    def options(self) -> tuple[Option, ...]:
        """The options of its function: its keywords, and the fields of groups of options."""
        return options_of(self.run)

    @property
    def currencies(self) -> tuple[str, ...]:
        """The currencies of the accounts that can pay for it."""
        return (
            "zcdp",
            *(("pure",) if self.pure else ()),
            *(MEASURING_CURRENCIES if self.currency == "gdp" else ()),
        )

    def takes(self, task: SynthesisTask) -> bool:
        """Whether the method can do such a task, whatever the table holds."""
        return (
            (self.pure or not task.is_pure())
            and task.adjacency.value in self.adjacencies
            and (task.unit.max_rows == 1 or not self.single_rows)
            and (self.most_cells is None or task.universe_size <= self.most_cells)
            and (task.currency is None or task.currency in self.currencies)
            and (task.rows_are_public or task.universe_size > self.divides_within)
        )

    def rank(self, task: SynthesisTask) -> SynthesisRank | None:
        """How it ranks for this task; None where it is not chosen."""
        return next((rank for rank in self.ranks if self.takes(task) and rank.when(task)), None)

    def fit(self, data: ExactCounts, workload: Workload, *, account: Account, **options: Any) -> Synthesis:
        """Check everything that can be refused, then run: nothing is charged before.

        Parameters
        ----------
        data : ExactCounts
            The exact counts of the private table.
        workload : Workload
            The queries that the model is to answer.
        account : Account
            What pays; the method spends all that remains in it, unless its options say otherwise.
        **options
            Keywords of `run`.

        Returns
        -------
        Synthesis
            The model, and the noisy tables that it rests on.
        """
        if options:
            check_options(options, self.options, method=self.name)
        admit(data, account, self)
        self._require_currency(account)
        self._require_universe_fits(data.domain)
        workload.check(data.table.schema)
        return self.run(data, workload, account=account, **keywords_of(options, self.options))

    def _require_currency(self, account: Account) -> None:
        """An account that cannot pay for a method's selections would stop it after its measurements were paid."""
        currency = account.currency.name
        if currency == "gdp" and self.currency != "gdp":
            raise ParameterError(
                f"currency must be {self.currency!r} for method={self.name!r}, got an account of currency 'gdp', in "
                f"which its integer noise has no cost; open one of {self.currency!r}, or use method='gaussian'"
            )
        if currency == "pure" and not self.pure:
            raise ParameterError(
                f"currency must be {self.currency!r} for method={self.name!r}, got an account of currency 'pure'; "
                f"open one with delta > 0 and currency={self.currency!r}, or use method='auto'"
            )

    def _require_universe_fits(self, domain: Mapping[str, int]) -> None:
        cells = math.prod(domain.values())
        if self.most_cells is not None and cells > self.most_cells:
            raise ParameterError(
                f"method={self.name!r} holds every possible record, at most {self.most_cells:,}; the domain has "
                f"{cells:.3g}; declare fewer columns or bins, or use method='auto'"
            )

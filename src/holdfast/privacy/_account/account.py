"""Account: a privacy budget. `release` charges a mechanism first and draws its noise then, in one call."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING, Any

from holdfast._arguments import Seed, checked
from holdfast._assumption import Assumption
from holdfast.errors import AlreadyReleased, BudgetExceeded, require
from holdfast.noise._source import Source
from holdfast.privacy._account.currency import (
    BasicCurrency,
    ConcentratedCurrency,
    Cost,
    Currency,
    GaussianCurrency,
    PlanCurrency,
    PureCurrency,
    RenyiCurrency,
)
from holdfast.privacy._account.journal import Charge, Entry, Journal, MemoryJournal, Process, require_here
from holdfast.privacy._account.payload import decode_payload, encode_payload
from holdfast.privacy._account.witness import Witness
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._guarantee import Guarantee
from holdfast.privacy._mechanisms import MECHANISMS, SubsampledPure, stored_mechanism
from holdfast.privacy._mechanisms.mechanism import Mechanism
from holdfast.privacy._rounding import as_written

if TYPE_CHECKING:
    from holdfast.privacy._account.shared import SharedAccount

_SIMPLE_MECHANISMS = frozenset(MECHANISMS) - {SubsampledPure}
"""Holdfast's own mechanisms that hold no other one; these are stored by `to_json` alone."""


@checked
class Account:
    """A budget with its adjacency, privacy unit and currency, fixed at opening; it charges first and draws after.

    Parameters
    ----------
    limit : PrivacyCurve
        What all releases together may cost.
    adjacency : Adjacency or str
        Which tables are neighbours; mechanisms whose sensitivity was derived for others are refused.
    unit : PrivacyUnit, optional
        Who is protected: one row, unless said otherwise.
    currency : {'pure', 'basic', 'zcdp', 'renyi', 'gdp', 'plan'} or Currency, optional
        What costs are counted in. By default 'plan' where there is a plan, else what fits the limit.
    order : float, optional
        In the currency 'renyi', the order at which costs are counted; by default one that suits the limit.
    plan : sequence of (Mechanism, int), optional
        In the currency 'plan', the mechanisms that will be charged and how often each of them.
    journal : Journal, optional
        Where charges are written down; in memory by default. A ledger hands in one on disk.
    translated : Cost, optional
        The limit in the currency's terms, where a ledger wrote it down when the account was first opened.
    seed : int, optional
        Noise that can be drawn again, for tests and figures: nothing that is released with it is private.

    Formal guarantees
    -----------------
    * Neighbours: `adjacency`, for the data of one `unit`.
    * Privacy: whatever mechanisms are charged, in whatever order, each chosen after seeing the results of those
      before, all results together satisfy the limit as the currency proves it (`guarantee()`, which names the
      theorem; soundness, section 19).
    * Order: a charge is in the journal before its noise is drawn; one that does not fit is refused, and then nothing
      is drawn.
    * Public: every parameter, every charge and what is left.
    * Assumed: each mechanism's sensitivity bounds what one unit can change; without a seed and without a `Witness`.

    Examples
    --------
    >>> from holdfast.privacy import ApproxDP, Gaussian
    >>> account = Account(ApproxDP(1.0, 1e-6), adjacency="replace", currency="gdp", seed=1)
    >>> noisy = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), [12, 30])
    >>> noisy.shape
    (2,)
    """

    within: Account | None = None
    """For an account of a part of the rows: the account that paid once for all parts."""
    release_parameters: Mapping[str, Any] = {}
    """Parameters that are added to a release which this account paid for."""

    def __init__(
        self,
        limit: PrivacyCurve,
        *,
        adjacency: Adjacency | str = Adjacency.replace,
        unit: PrivacyUnit | None = None,
        currency: str | Currency | None = None,
        order: float | None = None,
        plan: Sequence[tuple[Mechanism, int]] | None = None,
        journal: Journal | None = None,
        translated: Cost | None = None,
        seed: Seed | None = None,
    ) -> None:
        self.limit = limit
        point = limit.as_approximate()
        self.read_at: float | None = None if point is None else float(point[1])
        """The delta at which the limit names an epsilon; of a share, that of the whole account."""
        self.adjacency = Adjacency.of(adjacency)
        self.unit = PrivacyUnit() if unit is None else unit
        self.currency = _currency(currency, limit, order, plan)
        for mechanism, _ in plan or ():
            mechanism.require_adjacency(self.adjacency)
        self.source: Source = Source(seed)
        self.journal: Journal = MemoryJournal() if journal is None else journal
        # A limit is translated once: a ledger passes the amount that it stored when the account was opened.
        cap = self.currency.limit(limit) if translated is None else translated
        self._caps: tuple[tuple[str, Cost], ...] = (("", cap),)
        self._share_numbers: dict[str, count[int]] = {}
        """For each share, the number of the next share that is split off, so that all have different names."""

    # Spending.

    def release(self, mechanism: Mechanism, value: Any, *, key: str | None = None, label: str = "") -> Any:
        """Charge the mechanism, then draw from it. A refused charge changes nothing and draws nothing.

        Parameters
        ----------
        mechanism : Mechanism
            What is charged and drawn.
        value : array_like
            The exact value, which is private.
        key : str, optional
            A name for this release: a job that was killed and runs again neither pays twice nor draws twice,
            and a value that was already released is given back as it was.
        label : str
            What the ledger calls the charge.

        Returns
        -------
        numpy.ndarray
            The noisy value, which is public.

        Raises
        ------
        BudgetExceeded
            If the charge does not fit into what is left.
        """
        require(isinstance(mechanism, Mechanism), "mechanism", type(mechanism).__name__, "a Mechanism")
        mechanism.require_adjacency(self.adjacency)
        checked = mechanism.check(value)
        process, source = Process(), self.source
        entry = self._pay(self._charge(mechanism, 1, source, key=key, label=label), source)
        if entry.state == "charged":
            try:
                noisy = _draw(self, mechanism, checked, source)
                payload = None if key is None else encode_payload(noisy)
            except BaseException:
                self.journal.settle(entry.number, "abandoned", None)
                raise
            require_here(process, mechanism.name)
            # Only what the journal holds as released leaves: of two runs with one key, one value.
            entry = self.journal.settle(entry.number, "released", payload)
            if key is None and entry.state == "released":
                return noisy
        if entry.state == "released" and entry.payload is not None:
            return decode_payload(entry.payload)
        raise AlreadyReleased(
            f"key {key!r} is {entry.state} and its value is not kept here; use a new key, which is charged again"
        )

    def permit(
        self,
        mechanism: Mechanism,
        *,
        times: int,
        parts: int = 1,
        delta: float | None = None,
        key: str | None = None,
        label: str = "",
    ) -> Permit:
        """Charge a number of uses of one mechanism at once, for a loop whose length is fixed in advance.

        In the currency 'basic' the uses are charged together at one (epsilon, delta) point.

        Parameters
        ----------
        mechanism : Mechanism
            What is charged and drawn.
        times : int
            How many uses are charged.
        parts : int
            A use may be drawn once on each of so many disjoint parts of the units, if who is in which part is
            decided unit by unit and not by values: then one unit is in one draw only (parallel composition,
            soundness, section 19).
        delta : float, optional
            In the currency 'basic', the delta at which the uses are charged.
        key : str, optional
            A name for the permit, which is never drawn from twice.
        label : str
            What the ledger calls the charge.

        Returns
        -------
        Permit
            What the uses are drawn from.
        """
        require(isinstance(times, int) and times >= 1, "times", times, "a whole number >= 1")
        require(isinstance(parts, int) and parts >= 1, "parts", parts, "a whole number >= 1")
        require(isinstance(mechanism, Mechanism), "mechanism", type(mechanism).__name__, "a Mechanism")
        mechanism.require_adjacency(self.adjacency)
        source = self.source
        charge = self._charge(mechanism, times, source, delta=delta, key=key, label=label)
        entry = self._pay(charge, source)
        if entry.state != "charged":
            raise AlreadyReleased(
                f"the permit of key {key!r} was already drawn from; use a new key, which is charged again"
            )
        return Permit(self, mechanism, times * parts, entry.number, source)

    def split(self, *shares: float) -> tuple[Account, ...]:
        """Accounts of their own limits, spent from this one.

        However often an account is split, each share is counted by itself. One that is opened again, and split
        again in the same way, has the same shares: what they spent before, they have spent.

        Parameters
        ----------
        *shares : float
            Fractions of the limit, which sum to at most 1.

        Returns
        -------
        tuple of Account
            One for each share.

        Examples
        --------
        >>> from holdfast.privacy import ZCDP
        >>> a, b = Account(ZCDP(1.0)).split(0.25, 0.75)
        >>> a.remaining()
        ZCDP(rho=0.25)
        """
        return tuple(self._child(share, self._share_numbers) for share in self._fractions(shares))

    def shared_by(self, fits: int, *, scores: float = 0.2) -> SharedAccount:
        """For a search or cross-validation of scikit-learn: every fit spends an equal share of it, and every score.

        `fits` is settings x folds, and 1 for the refit. Give `cv=shared.folds(3)` to the search and
        `account=shared` to its `fit`; `scores` is the part of the account that pays for scores, which are
        noisy.
        """
        from holdfast.privacy._account.shared import SharedAccount

        return SharedAccount.of(self, fits, scores=scores)

    def watch(self, witness: Witness) -> None:
        """From now on a witness sees every charge and every draw of this account, of its shares and of its parts.

        Values leave to the witness, so nothing drawn from here on is private: charges and releases say
        `seeded`. Shares that were split off before keep their own source.
        """
        require(isinstance(witness, Witness), "witness", type(witness).__name__, "a Witness")
        self.source = witness

    # Reading.

    def remaining(self) -> PrivacyCurve:
        """What is left of the limit, as a curve in the account's currency."""
        left = [limit - (self.journal.spent(share) or self.currency.nothing) for share, limit in self._caps]
        # The account above a share may have less left than the share.
        return self.currency.promise(
            Cost(
                tuple(
                    max(Fraction(0), min(cost.amounts[i] for cost in left))
                    for i in range(self.currency.parts)
                ),
                min(cost.total_variation for cost in left),
                min(cost.failure for cost in left),
            )
        )

    def spent(self) -> PrivacyCurve:
        """An odometer reading: what the charges so far add up to. The guarantee is the limit (section 19)."""
        return self.currency.promise(self.journal.spent(self._caps[-1][0]) or self.currency.nothing)

    def guarantee(self, *, assumptions: Sequence[Assumption] = ()) -> Guarantee:
        """What everything released through this account satisfies together, however it was chosen.

        Parameters
        ----------
        assumptions : sequence of Assumption
            What the promise rests on besides the mechanisms.

        Returns
        -------
        Guarantee
            The limit with its neighbours, its unit and the theorem of the currency.
        """
        return Guarantee(
            curve=self.promised,
            adjacency=self.adjacency,
            unit=self.unit,
            theorem=self.currency.theorem,
            assumptions=tuple(assumptions),
            noise="seeded" if self.seeded else "secure",
            read_at=self.read_at,
        )

    @property
    def promised(self) -> PrivacyCurve:
        """The limit, as the curve that the account's currency proves for it."""
        return self.currency.promise(self._caps[-1][1])

    @property
    def seeded(self) -> bool:
        """Whether any of its noise came from a seed, or the next would: then it protects nobody."""
        return self.source.provenance == "seeded" or any(
            entry.charge.noise == "seeded" and entry.charge.share.startswith(self.share)
            for entry in self.journal.entries
        )

    @property
    def pays_at_once(self) -> bool:
        """Whether a permit is paid for when it is given, and not as its uses are drawn."""
        return True

    @property
    def share(self) -> str:
        """Which part of the whole account this is; empty for the whole."""
        return self._caps[-1][0]

    def _charge(
        self,
        mechanism: Mechanism,
        times: int,
        source: Source,
        *,
        delta: float | None = None,
        key: str | None,
        label: str,
    ) -> Charge:
        return Charge(
            mechanism=mechanism.to_json()
            if type(mechanism) in _SIMPLE_MECHANISMS
            else stored_mechanism(mechanism),
            curve=mechanism.curve.to_json(),
            times=times,
            cost=self.currency.cost(mechanism, times, delta=delta),
            arithmetic=mechanism.arithmetic,
            noise=source.provenance,
            key=key,
            label=label,
            share=self._caps[-1][0],
        )

    def _fractions(self, shares: Sequence[float]) -> list[Fraction]:
        require(
            not isinstance(self.currency, PlanCurrency),
            "currency",
            "plan",
            "one that adds up; a plan is not split",
        )
        require(bool(shares) and all(s > 0 for s in shares), "shares", shares, "positive fractions")
        exact = [as_written(share) for share in shares]
        require(sum(exact) <= 1, "shares", shares, "fractions that sum to at most 1")
        return exact

    def _pay(self, charge: Charge, source: Source) -> Entry:
        """Record the charge in the journal, under every cap, and with the witness, if there is one."""
        entry = self.journal.charge(charge, self._caps)
        if isinstance(source, Witness):
            source.record_charge(self, charge)
        return entry

    def _child(self, share: Fraction, share_numbers: dict[str, count[int]], mark: str = "") -> Account:
        child = object.__new__(Account)
        child.__dict__.update(self.__dict__)
        name, limit = self._caps[-1]
        cap = limit.times_factor(share)
        child._caps = (
            *self._caps,
            (self._next_share_name(cap, share_numbers.setdefault(name, count()), mark), cap),
        )
        child.limit = self.currency.promise(cap)
        return child

    def _next_share_name(self, cap: Cost, share_numbers: count[int], mark: str) -> str:
        """The next name that no share of another limit has; the journal may hold some of an earlier run."""
        while True:
            name = f"{self._caps[-1][0]}{next(share_numbers)}{mark}/"
            charged_cap = self.journal.cap(name)
            if charged_cap is None or charged_cap == cap:
                return name


@checked
class Permit:
    """A number of uses of one mechanism, already charged; never copied, and of one process only.

    `Account.permit` makes one.

    Parameters
    ----------
    account : Account
        The account that was charged.
    mechanism : Mechanism
        What it was charged for.
    times : int
        How often the mechanism may be drawn from.
    number : int
        The number of the charge in the account's journal.
    source : Source
        The randomness that the charge named.

    Examples
    --------
    >>> from holdfast.privacy import Account, Gaussian, ZCDP
    >>> permit = Account(ZCDP(1.0)).permit(Gaussian(sigma=4.0, l2_sensitivity=1.0), times=2)
    >>> sums = [permit.release([12, 30]) for _ in range(permit.left)]
    >>> permit.left
    0
    """

    def __init__(
        self, account: Account, mechanism: Mechanism, times: int, number: int, source: Source
    ) -> None:
        self._account = account
        self._mechanism = mechanism
        self._left = times
        self._journal = account.journal
        self._number = number
        self._source = source  # the source that the charge names, whatever the account draws from later
        self._drawn = False
        self._lock = threading.RLock()
        self._counting = False
        self._process = Process()

    @property
    def mechanism(self) -> Mechanism:
        """What was paid for."""
        return self._mechanism

    @property
    def left(self) -> int:
        """How many uses are left."""
        return self._left

    def release(self, value: Any) -> Any:
        """Draw once around `value`; refused when all uses are drawn."""
        # Checking a value may run the caller's code, which may draw as well, so it comes before a use is counted.
        checked = self.mechanism.check(value)
        self._count_one_use()
        noisy = _draw(self._account, self.mechanism, checked, self._source)
        require_here(self._process, self.mechanism.name)
        self._settle()
        return noisy

    def _count_one_use(self) -> None:
        """Count one use, or refuse if none is left; this is safe for many threads."""
        require_here(self._process, self.mechanism.name)
        with self._lock:
            if self._counting:
                # A signal handler or a finaliser, in the thread that counts.
                raise BudgetExceeded(
                    f"a use of this permit for {self.mechanism.name} is being counted; nothing was drawn. "
                    "Draw where the program goes on, not in a signal handler"
                )
            try:
                self._counting = True
                if self._left < 1:
                    raise BudgetExceeded(
                        f"all uses of this permit for {self.mechanism.name} are drawn; nothing was drawn now"
                    )
                self._left -= 1
            finally:
                self._counting = False

    def _settle(self) -> None:
        """Record, before the first value leaves, that values leave; a draw that was interrupted stays `charged`.

        From then on a resumed job must pay again, since nobody knows how many values were seen.
        """
        with self._lock:
            if not self._drawn:
                token = secrets.token_hex(8)
                if self._journal.settle(self._number, "released", token).payload != token:
                    raise AlreadyReleased("another process draws from the permit of this key; use a new key")
                self._drawn = True

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError(
            "a Permit is never copied or stored: a use counted twice is noise drawn without a charge"
        )


def _currency(
    currency: str | Currency | None,
    limit: PrivacyCurve,
    order: float | None,
    plan: Sequence[tuple[Mechanism, int]] | None,
) -> Currency:
    """The currency of this name, or the one that fits the limit."""
    if isinstance(currency, Currency):
        return currency
    if currency is None:
        currency = "plan" if plan is not None else limit.default_currency
    names = ("pure", "basic", "zcdp", "renyi", "gdp", "plan")
    require(currency in names, "currency", currency, "one of " + ", ".join(names))
    if currency == "plan":
        return PlanCurrency(tuple((mechanism, times) for mechanism, times in plan or ()))
    if currency == "renyi":
        return RenyiCurrency.of(limit, order)
    currencies_by_name: dict[str, type[Currency]] = {
        "pure": PureCurrency,
        "basic": BasicCurrency,
        "zcdp": ConcentratedCurrency,
        "gdp": GaussianCurrency,
    }
    return currencies_by_name[currency]()


def _draw(account: Account, mechanism: Mechanism, checked: Any, source: Source) -> Any:
    """Draw the noise of a charge; no other code does."""
    if isinstance(source, Witness):
        return source.draw_and_record(account, mechanism, checked)
    return mechanism.sample(checked, source)

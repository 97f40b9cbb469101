"""Dataset: a limit for everything that is ever released about one body of data.

An account takes a part of what is left of that limit, and its neighbours, unit and currency are those of the dataset.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from holdfast._arguments import checked
from holdfast.errors import AdjacencyError, BudgetExceeded, LedgerError, require
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._budget import RunningBudget
from holdfast.ledger._chain import AccountRow, Chain
from holdfast.ledger._entry import LedgerEntry, canonical
from holdfast.ledger._holder import abandoned_accounts
from holdfast.ledger._journal import require_text
from holdfast.privacy._account import Account
from holdfast.privacy._account.currency import (
    BasicCurrency,
    ConcentratedCurrency,
    Cost,
    Currency,
    GaussianCurrency,
    PureCurrency,
    RenyiCurrency,
)
from holdfast.privacy._account.request import LEAST_SHARE_LEFT
from holdfast.privacy._account.weak_limit import warn_weak_limit
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.privacy._wording import least_text, point_text


@checked
@dataclass(frozen=True, kw_only=True)
class Dataset:
    """What the ledger fixed when a dataset was opened; accounts share it and may not differ.

    `Dataset.declare` makes one.

    Parameters
    ----------
    name : str
        What the dataset is called.
    limit : PrivacyCurve
        The limit for everything ever released about it.
    amount : Cost
        The limit in the currency, exactly.
    adjacency : Adjacency
        The neighbour relation.
    unit : PrivacyUnit
        Who is protected.
    currency : Currency
        In what charges are added up.
    purpose, approver, version : str
        Texts for whoever reads the ledger: what the data are for, who answers for the limit, which version of
        the data.

    Examples
    --------
    >>> from holdfast.privacy import ZCDP
    >>> Dataset.declare("visits", limit=ZCDP(1.0)).unit.summary()
    'one row'
    """

    name: str
    limit: PrivacyCurve
    amount: Cost
    adjacency: Adjacency
    unit: PrivacyUnit
    currency: Currency
    purpose: str = ""
    approver: str = ""
    version: str = ""

    @classmethod
    def declare(
        cls,
        name: str,
        *,
        limit: PrivacyCurve,
        adjacency: Adjacency | str | None = None,
        unit: PrivacyUnit | None = None,
        currency: str | None = None,
        order: float | None = None,
        purpose: str = "",
        approver: str = "",
        version: str = "",
    ) -> Dataset:
        """A dataset that no ledger holds yet; bad values are refused here, before any file is touched.

        Parameters
        ----------
        name : str
            What the dataset is called.
        limit : PrivacyCurve
            The limit for everything ever released about it.
        adjacency : Adjacency or str, optional
            The neighbour relation; `replace` by default.
        unit : PrivacyUnit, optional
            Who is protected; one row by default.
        currency : str, optional
            In what charges are added up; the one that fits the limit by default.
        order : float, optional
            The order of a limit in the currency 'renyi'.
        purpose, approver, version : str
            Texts for whoever reads the ledger.

        Returns
        -------
        Dataset
            What `Ledger.create` takes.
        """
        for what, text in (
            ("name", name),
            ("purpose", purpose),
            ("approver", approver),
            ("version", version),
        ):
            require_text(what, text)
        require(bool(name), "name", name, "a non-empty text")
        warn_weak_limit(limit)
        # The account is opened only to translate the limit, by the rules that all accounts follow.
        model = Account(
            limit,
            adjacency=Adjacency.replace if adjacency is None else adjacency,
            unit=unit,
            currency=_default_currency(limit) if currency is None else currency,
            order=order,
        )
        return cls(
            name=name,
            limit=limit,
            amount=model.currency.limit(limit),
            adjacency=model.adjacency,
            unit=model.unit,
            currency=currency_of(model.currency.to_json()),
            purpose=purpose,
            approver=approver,
            version=version,
        )

    @property
    def read_at(self) -> float | None:
        """The delta at which the limit names an epsilon; None for a limit that names none."""
        point = self.limit.as_approximate()
        return None if point is None else float(point[1])

    @property
    def terms(self) -> dict[str, Any]:
        """What an account of this dataset must agree on, as plain data."""
        return {
            "adjacency": self.adjacency.value,
            "unit": {"column": self.unit.column, "max_rows": self.unit.max_rows},
            "currency": self.currency.to_json(),
        }

    def free_words(self, free: Cost) -> str:
        """The amount that is left, `free`, as a sentence names it: in the terms of the limit, rounded down."""
        if not any(free.amounts):
            return "nothing"
        curve = self.currency.promise(free)
        if self.read_at is None:
            return repr(curve)
        named = curve.as_approximate()
        epsilon, delta = (
            (float(named[0]), float(named[1])) if named else (curve.epsilon(self.read_at), self.read_at)
        )
        return point_text(least_text(epsilon), delta)

    def to_body(self) -> dict[str, Any]:
        """The body of the entry that opens the dataset."""
        return self.terms | {
            "dataset": self.name,
            "limit": self.limit.to_json(),
            "amount": self.amount.to_json(),
            "purpose": self.purpose,
            "approver": self.approver,
            "version": self.version,
        }

    @classmethod
    def of(cls, entry: LedgerEntry) -> Dataset:
        """The dataset that an entry opened."""
        from holdfast.privacy._curves.stored import curve_from_json

        body = entry.body
        return cls(
            name=body["dataset"],
            limit=curve_from_json(body["limit"]),
            amount=cost_of(body["amount"]),
            adjacency=Adjacency.of(body["adjacency"]),
            unit=PrivacyUnit(**body["unit"]),
            currency=currency_of(body["currency"]),
            purpose=body["purpose"],
            approver=body["approver"],
            version=body["version"],
        )


_MOST_LOOKED_AT = 100
"""Open accounts, the oldest first, whose processes are looked for when one more is refused."""


def _default_currency(limit: PrivacyCurve) -> str:
    """The currency of a dataset that names none: its limit's own, but 'zcdp' for (epsilon, delta).

    A dataset outlasts the releases that it was opened for, and 'zcdp' pays for selections and integer noise too.
    """
    point = limit.as_approximate()
    return "zcdp" if point is not None and point[1] > 0 else limit.default_currency


def currency_of(data: Any) -> Currency:
    """The currency that `to_json` wrote; refused for a fixed plan, whose costs do not add up."""
    simple: dict[str, type[Currency]] = {
        "pure": PureCurrency,
        "basic": BasicCurrency,
        "zcdp": ConcentratedCurrency,
        "gdp": GaussianCurrency,
    }
    if data["name"] == "renyi":
        return RenyiCurrency.from_json(data)
    if data["name"] not in simple:
        raise LedgerError(
            f"currency {data['name']!r} cannot be shared by the accounts of a ledger; use "
            "pure, basic, zcdp, gdp or renyi, and spend a fixed plan with account.permit"
        )
    return simple[data["name"]]()


def known_dataset(chain: Chain, name: str) -> Dataset:
    """The dataset of this name, which must be open."""
    row = chain.dataset(name)
    if row is None:
        raise LedgerError(
            f"the ledger has no dataset {name!r}; open it with ledger.dataset({name!r}, limit=...)"
        )
    return Dataset.of(chain.opening("dataset", name))


def _terms_text(dataset: Dataset, adjacency: Adjacency | str | None, unit: PrivacyUnit | None) -> str:
    relation = dataset.adjacency if adjacency is None else Adjacency.of(adjacency)
    return f"adjacency {relation.value!r} and {(dataset.unit if unit is None else unit).summary()}"


def require_terms(dataset: Dataset, adjacency: Adjacency | str | None, unit: PrivacyUnit | None) -> None:
    """Refuse an account whose neighbour relation or privacy unit is not that of its dataset."""
    same = adjacency is None or Adjacency.of(adjacency) is dataset.adjacency
    if not same or (unit is not None and unit != dataset.unit):
        raise AdjacencyError(
            f"dataset {dataset.name!r} is kept for adjacency {dataset.adjacency.value!r} and "
            f"{dataset.unit.summary()}; an account with other terms cannot share its limit, and this one is for "
            f"{_terms_text(dataset, adjacency, unit)}: declare the dataset so (holdfast ledger init --adjacency, "
            "--user, --max-rows)"
        )


def free_share(
    chain: Chain, dataset: Dataset, limit: PrivacyCurve | None
) -> tuple[Cost, BudgetExceeded | None]:
    """The amount that a new account takes, and the refusal where the dataset has not that much left."""
    free = RunningBudget.of(chain, dataset.name, dataset.amount).free
    if limit is None:
        if not _is_spent(free, dataset):
            return free, None
        return free, BudgetExceeded(
            f"nothing is left of dataset {dataset.name!r}{_rest_text(free)}{_way_out(chain, dataset)}"
        )
    cost = cost_of(dataset.currency.limit(limit).to_json())
    if cost.fits(free):
        return cost, None
    return cost, BudgetExceeded(
        f"an account of {limit.words(dataset.read_at)} asks for more than {dataset.free_words(free)}, "
        f"which is what is left of dataset {dataset.name!r}; nothing was opened{_way_out(chain, dataset)}"
    )


def _is_spent(free: Cost, dataset: Dataset) -> bool:
    """Whether what is free is a rounding error of the limit, so that a release paid from it would be noise alone."""
    if not any(free.amounts):
        return True
    promise = dataset.currency.promise
    return promise(free).delta(0.0) <= LEAST_SHARE_LEFT * promise(dataset.amount).delta(0.0)


def _rest_text(free: Cost) -> str:
    return " but a thousandth of its limit or less, which buys noise alone" if any(free.amounts) else ""


def _way_out(chain: Chain, dataset: Dataset) -> str:
    """What can be done where processes that are gone hold accounts open; nothing where there are none."""
    names = list(islice(abandoned_accounts(chain, dataset.name, most=_MOST_LOOKED_AT), 4))
    if not names:
        return ""
    shown = ", ".join(map(repr, names[:3])) + (" and others" if len(names) > 3 else "")
    return (
        f". The processes of {shown} are gone: 'holdfast ledger close --abandoned' gives back what they hold"
    )


def opening_to_resume(
    chain: Chain, row: AccountRow, *, name: str, dataset: str, limit: PrivacyCurve | None
) -> LedgerEntry:
    """The entry that opened an account; refused unless a caller with this dataset and limit may go on with it."""
    if not row.is_open:
        raise LedgerError(f"account {name!r} is closed; choose another name")
    opening = chain.opening("account", name)
    other_limit = limit is not None and canonical(limit.to_json()) != canonical(opening.body["limit"])
    if row.dataset != dataset or other_limit:
        raise LedgerError(
            f"account {name!r} was opened on another dataset or with another limit; choose another name"
        )
    return opening


def require_all_closed(chain: Chain, dataset: str) -> None:
    """Refuse a new period while accounts of the dataset are open, and may still be charged."""
    known_dataset(chain, dataset)
    still_open = [name for name, _, _ in islice(chain.accounts(dataset, only_open=True), 5)]
    if still_open:
        raise LedgerError(f"close the open accounts of {dataset!r} first: {', '.join(still_open)}")

"""A rehearsal of a search on null rows, with a copy of the account: every error is found before anything is spent.

A candidate may raise an error for many reasons: its proof has no price in the account's currency, its options are out
of range, a part has fewer rows than its batch. All of them follow from public quantities, so a table with the public
number of null rows gives the same errors. Whatever a rehearsal draws comes from a seed and a copy of the account, and
is discarded.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np

from holdfast.errors import HoldfastError, ParameterError
from holdfast.learn._rows.examples import ArrayExamples, Examples
from holdfast.privacy._account import Account

COMMON_CURRENCIES = ("gdp", "zcdp", "renyi")
"""Currencies that pay for methods of several kinds, the tightest first; the last one has a price for all of ours."""

Search = Callable[[Examples, Account], object]
"""A whole search: every candidate, within an account."""


def rehearse_search(search: Search, examples: Examples, account: Account) -> None:
    """Raise whatever the search would refuse; the account itself is only read."""
    copy = Account(
        account.remaining(), adjacency=account.adjacency, unit=account.unit, currency=account.currency, seed=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a copy with a seed is warned of is not true of the account
        search(null_rows(examples), copy)


def null_rows(examples: Examples) -> ArrayExamples:
    """As many null rows as the public count says: no row of the table is looked at."""
    return ArrayExamples(
        features=np.zeros((examples.public_count, examples.dimension)),
        labels=np.zeros(examples.public_count),
        adjacency=examples.adjacency,
        public_count=examples.public_count,
        unit=examples.unit,
    )


def first_that_pays(
    search: Search, examples: Examples, opened: Callable[[str], Account], currencies: Iterable[str]
) -> Account:
    """An account in the first of these currencies in which every candidate is accepted."""
    refusals: dict[str, HoldfastError] = {}
    for currency in dict.fromkeys(currencies):
        try:
            account = opened(currency)
            rehearse_search(search, examples, account)
        except HoldfastError as refusal:
            refusals[currency] = refusal
        else:
            return account
    if len({str(refusal) for refusal in refusals.values()}) == 1:
        raise next(iter(refusals.values()))
    reasons = "; ".join(f"in {currency!r}: {refusal}" for currency, refusal in refusals.items())
    raise ParameterError(
        f"candidates must all be accepted in one currency, and none of {', '.join(refusals)} will do; nothing was "
        f"spent. Search among methods of one currency, or use delta=0. {reasons}"
    )

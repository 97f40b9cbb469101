"""Usefulness: whether a release can be of any use, judged from public numbers before anything is paid.

Noise is there to hide one unit (a row or a user). Where it hides all of them, the release cannot be of use, which can
be known without the data: by the triangle inequality the outputs for two tables that differ in m units are at most m
delta(0) apart in total variation. A table of n units and one that anybody could have made up beforehand differ in n
units, so where n delta(0) <= 1/2 the release is, at least every other time, one that the made-up table would have
given. Methods that know more about their own noise add further prospects. The library warns with
`UselessReleaseWarning`; commands refuse.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from holdfast._caution import warn
from holdfast._stored_fields import require_fields
from holdfast.errors import FormatError, UselessRelease, UselessReleaseWarning, require
from holdfast.privacy._curves.curve import PrivacyCurve

MOST_UNITS = 10**10
"""The number of units to assume where it is private: more than there are people, so no table has more."""
Quantity = Literal["influence", "weights", "counts", "certificate"]
"""What the noise of a prospect is compared with: everything that units can change (influence), what they can change in
one weight, the counts of single columns, or the claim of the certificate."""


@dataclass(frozen=True, kw_only=True)
class Prospect:
    """How many units the noise hides in one quantity of a release, and how many the table has. All of it is public.

    Parameters
    ----------
    quantity
        What the noise is in.
    hidden
        The number of units up to which the noise hides what they change.
    units
        The public number of units, or an upper bound on it.
    noun
        What the units are called, such as "rows".

    >>> Prospect(quantity="influence", hidden=384.2, units=200).useless
    True
    """

    quantity: Quantity
    hidden: float
    units: int
    noun: str = "rows"

    def __post_init__(self) -> None:
        require(self.quantity in get_args(Quantity), "quantity", self.quantity, "a known quantity")
        require(self.hidden >= 0, "hidden", self.hidden, ">= 0")
        require(self.units >= 0, "units", self.units, ">= 0")

    @property
    def useless(self) -> bool:
        """Whether the noise hides as many units as there are."""
        return self.hidden >= self.units

    def sentence(self) -> str:
        """The prospect as a sentence with its numbers.

        >>> Prospect(quantity="influence", hidden=384.2, units=200).sentence()
        'its noise hides what up to 384 rows change, and the table has 200: at least every other time ...
        """
        size = "any number of" if math.isinf(self.hidden) else f"{math.floor(self.hidden):,}"
        has = f"the table has {self.units:,}" if self.units < MOST_UNITS else f"no table has {MOST_UNITS:,}"
        return {
            "influence": f"its noise hides what up to {size} {self.noun} change, and {has}: at least every other time "
            "the result is one that a table without them could have given",
            "weights": f"the noise in each weight is as large as what {size} {self.noun} can change in it, and {has}",
            "counts": f"the noise in each count of a single column is as large as {size} {self.noun}, and {has}",
            "certificate": f"the noise of its certificate reaches {size} {self.noun}, and {has}: at least every other "
            "time it claims nothing (100 %)",
        }[self.quantity]

    def to_json(self) -> dict[str, Any]:
        """Plain data; a hidden number without bound is None."""
        return asdict(self) | {"hidden": None if math.isinf(self.hidden) else self.hidden}

    @classmethod
    def from_json(cls, data: Any) -> Prospect:
        """The prospect that `to_json` wrote; `FormatError` for anything else."""
        data = require_fields("prospect", data, ("quantity", "hidden", "units", "noun"))
        try:
            hidden = math.inf if data["hidden"] is None else float(data["hidden"])
            return cls(
                quantity=data["quantity"], hidden=hidden, units=int(data["units"]), noun=str(data["noun"])
            )
        except (KeyError, TypeError, ValueError) as error:
            raise FormatError("a stored prospect lacks a field or has one of the wrong kind") from error


def units_hidden(curve: PrivacyCurve) -> float:
    """How many units can change before a test can tell the two tables apart in more than three of four cases.

    >>> from holdfast.privacy import PureDP
    >>> round(units_hidden(PureDP(0.01)))
    100
    """
    total_variation = curve.delta(0.0)
    return 0.5 / total_variation if total_variation > 0 else math.inf


def influence(left: PrivacyCurve, units: int | None, *, noun: str = "rows") -> Prospect:
    """The prospect of anything that is released within a promise, whatever the method.

    `left` is what may be spent; `units` is the number of units, None where that is private.
    """
    public_units = MOST_UNITS if units is None else units
    return Prospect(quantity="influence", hidden=units_hidden(left), units=public_units, noun=noun)


def announce(prospects: Iterable[Prospect]) -> tuple[Prospect, ...]:
    """Warn of a release that cannot be of use, before it is paid for; returns the prospects that say so."""
    useless = tuple(prospect for prospect in prospects if prospect.useless)
    if useless:
        reasons = "; ".join(prospect.sentence() for prospect in useless)
        warn(
            f"this release cannot be of use: {reasons}. Nothing is spent yet; it takes a larger epsilon, more rows, or "
            "a unit of fewer rows",
            UselessReleaseWarning,
        )
    return useless


@contextmanager
def useful_only(*, unless: bool = False) -> Iterator[None]:
    """Raise `UselessRelease` where `announce` would warn, before anything is charged.

    With `unless` true it only warns, as everywhere else.
    """
    with warnings.catch_warnings():
        if not unless:
            warnings.simplefilter("error", UselessReleaseWarning)
        try:
            yield
        except UselessReleaseWarning as warning:
            raise UselessRelease(f"{warning}. --even-if-useless makes it all the same") from None

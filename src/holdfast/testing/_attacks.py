"""The contract of an attack: what every attack declares, and what an attack of its kind must find and must not see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from holdfast._arguments import checked
from holdfast.attack._attack import Attack, Kind
from holdfast.testing._attributes import attribute_checks
from holdfast.testing._contract import Check, ensure
from holdfast.testing._disclosures import disclosure_checks
from holdfast.testing._membership import membership_checks

CHECKS_BY_KIND: dict[Kind, Callable[[Attack], Iterator[Check]]] = {
    "model": membership_checks,
    "rows": membership_checks,
    "attribute": attribute_checks,
    "disclosure": disclosure_checks,
}


def says_what_it_is(attack: Attack) -> None:
    """An attack declares a name, a paper, a guess, what it knows and for which tasks it is made."""
    ensure(bool(attack.name) and bool(attack.paper), "name and paper must be given")
    ensure(callable(attack.guess), "guess must be a function of the case")
    ensure(bool(attack.knows), "knows must not be empty: say in `knows` what it reads")
    ensure(bool(attack.tasks), "tasks must not be empty")


@checked
def attack_checks(attack: Attack) -> Iterator[Check]:
    """What must hold of an attack, on everything that it says it is made for.

    Parameters
    ----------
    attack : Attack
        Of any kind.

    Returns
    -------
    iterator of Check
        One for each statement.

    Examples
    --------
    >>> from holdfast.attack import ATTACKS
    >>> next(attack_checks(ATTACKS[0])).name
    'says_what_it_is'
    """
    yield Check(name=says_what_it_is.__name__, run=partial(says_what_it_is, attack))
    yield from CHECKS_BY_KIND[attack.kind](attack)

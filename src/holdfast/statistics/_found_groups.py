"""Groups that are found first: what is paid for their keys, and the questions about them once the keys are public.

Keys are paid in (epsilon, delta). Each list of unknown keys gets its part of both; what is left pays for all other
questions, as pure noise. A count that comes with the keys costs nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from holdfast._arrays import Floats
from holdfast.data._conditions import Condition
from holdfast.data._key_counts import FoundKey, IsListed
from holdfast.data._table import Table
from holdfast.errors import ParameterError, require
from holdfast.privacy._account import Account
from holdfast.privacy._rounding import as_written
from holdfast.statistics._contents import GroupTable, key_labels
from holdfast.statistics._key_intervals import count_estimates
from holdfast.statistics._measures.found_keys import FoundKeys, KeyPurse, find_keys
from holdfast.statistics._plan import demands
from holdfast.statistics._questions.count import Count, DistinctUnits
from holdfast.statistics._questions.grouping import Grouping, asked_of
from holdfast.statistics._questions.question import Estimate, TableQuestion
from holdfast.statistics._table_facts import TableFacts
from holdfast.statistics._unknown_keys import UnknownKeys

Entry = TableQuestion | Grouping


@dataclass(frozen=True, kw_only=True)
class UnknownGroups:
    """A grouping by unknown keys: the count that comes with the keys, if it is asked for, and all other questions."""

    unknown: UnknownKeys
    grouping: Grouping
    counted: TableQuestion | None
    rest: tuple[TableQuestion, ...]

    @classmethod
    def of(cls, grouping: Grouping, facts: TableFacts) -> UnknownGroups:
        """The first count of units without a condition of its own is the one that comes with the keys."""
        unknown = grouping.unknown
        assert unknown is not None
        unknown.check(facts)
        counts = [entry for entry in grouping.questions if _counts_units(entry, unknown, facts)]
        counted = counts[0] if counts and len(grouping.keys) == 1 else None
        rest = tuple(entry for entry in grouping.questions if entry is not counted)
        return cls(unknown=unknown, grouping=grouping, counted=counted, rest=rest)

    @property
    def label(self) -> str:
        """What ledgers and plans call it."""
        return f"keys of {', '.join(self.unknown.names)}{'' if self.counted is None else ' with counts'}"

    def entry(self, key: FoundKey) -> Grouping | None:
        """The other questions, about released keys; None where there are none, or no group to ask about."""
        if not self.rest or not (key.keys or key.other is not None):
            return None
        asked = (
            self.rest
            if key.other is not None
            else tuple(
                replace(question, where=_both(question.where, IsListed(key.columns, key.keys)))
                for question in self.rest
            )
        )
        return Grouping((key, *self.grouping.keys[1:]), asked)

    def entry_of_other(self, key: FoundKey) -> Grouping | None:
        """The count of all other rows, where they are a group."""
        if self.counted is None or key.other is None:
            return None
        where = _both(self.counted.where, ~IsListed(key.columns, key.keys))
        return Grouping((replace(key, keys=()),), (replace(self.counted, where=where),))


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundGroups:
    """Unknown groups whose keys are public now."""

    groups: UnknownGroups
    found: FoundKeys
    epsilon: Fraction
    delta: Fraction

    @property
    def key(self) -> FoundKey:
        """The key by which its rows are grouped."""
        return FoundKey(self.groups.unknown.names, self.found.keys, self.groups.unknown.other)

    def entries(self) -> list[Grouping]:
        """What is asked about it."""
        entries = (self.groups.entry(self.key), self.groups.entry_of_other(self.key))
        return [entry for entry in entries if entry is not None]

    def to_json(self) -> dict[str, Any]:
        """As a plan lists a step."""
        counted = self.groups.counted
        return {
            "measurement": f"{self.groups.label}: {self.found.rule}",
            "currency": "basic",
            "share": float(self.epsilon),
            "delta": float(self.delta),
            "questions": [] if counted is None else [counted.describe()],
        }

    def joined(
        self, tables: Sequence[GroupTable], facts: TableFacts, confidence: float
    ) -> tuple[GroupTable, ...]:
        """Tables of answers: counts of keys go into the table of the keys, and that of all other rows to its end."""
        keys, labels = self.key.columns, key_labels(self.key, facts.schema)
        own = GroupTable(keys=keys, labels=(labels,), columns=self._counts(tables, confidence))
        rest = []
        for table in tables:
            if table.keys == keys and table.labels == (labels,) and not self._is_other(table):
                own = replace(own, columns=(*own.columns, *table.columns))
            elif not self._is_other(table):
                rest.append(table)
        if own.columns or len(self.groups.grouping.keys) == 1:
            return (own, *rest)
        return tuple(rest)

    def _is_other(self, table: GroupTable) -> bool:
        if self.groups.counted is None or self.key.other is None:
            return False
        names = [column.name for column in table.columns]
        return table.keys == self.key.columns and table.rows == 1 and names == [self.groups.counted.title]

    def _counts(self, tables: Sequence[GroupTable], confidence: float) -> tuple[Estimate, ...]:
        counted = self.groups.counted
        if counted is None:
            return ()
        other = next((table.columns[0] for table in tables if self._is_other(table)), None)
        cells = len(self.key.labels)
        estimates = count_estimates(counted.title, self.found, confidence, cells)
        if other is None:
            return estimates
        return tuple(
            replace(
                estimate,
                value=_ending(estimate.value, other.value),
                low=_ending(estimate.low, other.low),
                high=_ending(estimate.high, other.high),
            )
            for estimate in estimates
        )


def _ending(values: Floats, last: Floats) -> Floats:
    return np.concatenate([values[:-1], last])


def unknown_groups(
    questions: Sequence[Entry], facts: TableFacts
) -> tuple[list[Entry], tuple[UnknownGroups, ...]]:
    """Questions about declared groups, and those about groups that have to be found; both are checked."""
    found = [entry for entry in questions if isinstance(entry, Grouping) and entry.unknown is not None]
    rest = [entry for entry in questions if entry not in found]
    groups = tuple(UnknownGroups.of(entry, facts) for entry in found)
    if groups:
        # With a key that is made up, so that nothing is refused once keys were paid for.
        tried = [entry for group in groups for entry in _tried(group)]
        if rest or tried:
            demands(asked_of([*rest, *tried], facts), facts)
    return rest, groups


def _tried(group: UnknownGroups) -> list[Grouping]:
    key = FoundKey(group.unknown.names, (("",) * len(group.unknown.names),), group.unknown.other)
    return [entry for entry in (group.entry(key), group.entry_of_other(key)) if entry is not None]


def find_groups(
    table: Table, groups: Sequence[UnknownGroups], rest: Sequence[Entry], account: Account, facts: TableFacts
) -> list[FoundGroups]:
    """Pay for the keys of all lists, one after the other."""
    if account.currency.name != "basic":
        raise ParameterError(
            f"account must count in 'basic' to pay for unknown keys, got one of {account.currency.name!r}: their delta "
            "adds up with epsilon; open it with currency='basic'"
        )
    amounts = account.currency.amounts(account.remaining())
    assert amounts is not None
    require(amounts[1] > 0, "delta", 0, "> 0: keys that are not declared can only be found with a delta")
    more = bool(rest) or any(_tried(group) for group in groups)
    equal = Fraction(1, len(groups) + more)
    shares = [equal if group.unknown.share is None else as_written(group.unknown.share) for group in groups]
    most = sum(shares)
    require(
        most < 1 if more else most <= 1,
        "share",
        float(most),
        "below 1 in all where other questions are asked, too",
    )
    found = []
    for group, share in zip(groups, shares, strict=True):
        purse = KeyPurse(
            account=account,
            epsilon=amounts[0] * share,
            delta=amounts[1] / len(groups),
            label=group.label,
        )
        keys = find_keys(table, group.unknown, purse, facts, counted=group.counted is not None)
        found.append(FoundGroups(groups=group, found=keys, epsilon=purse.epsilon, delta=purse.delta))
    return found


def _counts_units(question: TableQuestion, unknown: UnknownKeys, facts: TableFacts) -> bool:
    counts = isinstance(question, DistinctUnits) or (isinstance(question, Count) and not facts.users)
    return counts and question.where == unknown.where and question.bound is None


def _both(first: Condition | None, second: Condition) -> Condition:
    return second if first is None else first & second

"""NIST's national excerpt of the American Community Survey: what is public of it, and how its ages are binned.

Categories and impossible combinations come from the data dictionary and from the rules that NIST's scorer publishes
(`sdnist.metrics.inconsistency`), never from the rows. The scorer cuts ages at the target's own 20-quantiles, which are
private: so a small share of the budget buys a noisy histogram of ages, and its 20-quantiles are the bins.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
from numpy.typing import NDArray
from studies.benchmarks.public_data import data_file

from holdfast.data import Categorical, Numeric, Schema, Table, open_table
from holdfast.data._sensitivity import counts_l2
from holdfast.privacy import Account, Gaussian, PrivacyCurve
from holdfast.synth import Workload, Zeros
from holdfast.synth._models.model import on_simplex

Floats = NDArray[np.float64]
AGE, GROUP = "AGEP", "PUMA"
OLDEST, QUANTILES = 99, 20
TEN = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
LEFT_OUT = ("INDP", "PINCP", "POVPIP", "DENSITY", "PWGTP", "WGTP")
TURNS = (3, 5, 15, 16)
"""Ages at which some rule of the dictionary begins or ends: bins never straddle one."""
Test = Callable[[str], bool]


def folder() -> Path:
    """The scorer's own layout of files."""
    return data_file("nist_acs")


def dictionary() -> dict[str, Any]:
    """The published data dictionary."""
    found: dict[str, Any] = json.loads((folder() / "data_dictionary.json").read_text(encoding="utf-8"))
    return found


def columns_of(part: str) -> tuple[str, ...]:
    """The columns of one board, `ten` or `eighteen`."""
    return TEN if part == "ten" else tuple(name for name in dictionary() if name not in LEFT_OUT)


def categories(name: str, described: Mapping[str, Any]) -> list[str]:
    """The labels of a column; a range of the dictionary is every whole number in it.

    >>> categories("NPF", {"values": {"N": "not a family", "min": 2, "max": 4}})
    ['N', '2', '3', '4']
    """
    values = described["values"]
    labels = [label for label in values if label not in ("min", "max")]
    if "min" in values:
        labels += [str(number) for number in range(values["min"], values["max"] + 1)]
    return labels


def schema_of(names: Sequence[str], edges: Sequence[int] | None = None) -> Schema:
    """What is declared: categories of the dictionary, ages in these bins or in single years."""
    known = dictionary()
    places = json.loads((folder() / "national" / "national2019.json").read_text(encoding="utf-8"))
    known[GROUP]["values"] = {label: "" for label in places["schema"][GROUP]["values"]}
    made = [
        Numeric(name, 0, OLDEST, bins=edges, integer=True)
        if name == AGE
        else Categorical(name, categories(name, known[name]))
        for name in names
    ]
    return Schema(made, adjacency="add_remove")


def frame_of(names: Sequence[str]) -> pa.Table:
    """The rows as they were published: texts, and ages as whole numbers."""
    texts = csv.ConvertOptions(
        include_columns=list(names),
        column_types={name: pa.int64() if name == AGE else pa.string() for name in names},
        strings_can_be_null=False,
    )
    return csv.read_csv(folder() / "national" / "national2019.csv", convert_options=texts)


def opened(names: Sequence[str], edges: Sequence[int] | None = None, *, every: int = 1) -> Table:
    """The table behind its schema; `every` keeps one row of so many, for tests."""
    frame = frame_of(names)
    frame = frame.take(list(range(0, frame.num_rows, every)))
    return open_table(frame, schema_of(names, edges), n_public=frame.num_rows)


def workload(schema: Schema) -> Workload:
    """The scorer's own queries: all pairs of columns, and each of them by PUMA where that is there."""
    others = [name for name in schema.names if name != GROUP]
    by = (GROUP,) if GROUP in schema.names else ()
    return Workload.of([(*by, *pair) for pair in combinations(others, 2)])


def measured(schema: Schema, limit: PrivacyCurve, rows: int) -> Workload:
    """What is worth measuring for them: the queries themselves, or all pairs of columns where noise would drown them.

    All tables at once are worth it where noise is no more than the mean count of a cell, the rule of `auto`
    (docs/synth.md). Public quantities only.
    """
    asked = workload(schema)
    tables = [schema.cells(*group.columns) for group in asked.groups]
    noise = Gaussian.within(limit, l2_sensitivity=math.sqrt(len(tables))).sigma
    return asked if noise <= rows * len(tables) / sum(tables) else Workload.marginals(schema, 2)


# Ages.


@dataclass(frozen=True, kw_only=True, eq=False)
class NoisyAges:
    """A released histogram of single years: no count below 0, and a sum that is the number of rows."""

    counts: Floats

    @classmethod
    def measured(cls, table: Table, account: Account) -> NoisyAges:
        """All that is left in the account, on one table of counts."""
        l2 = counts_l2(table.adjacency, table.unit)
        mechanism = Gaussian.within(account.remaining(), l2_sensitivity=l2, adjacency=account.adjacency)
        exact = np.rint(table.counts([(AGE,)])[0]).astype(np.int64)
        noisy = np.asarray(account.release(mechanism, exact, label="ages in single years"), dtype=np.float64)
        assert table.n_public is not None
        return cls(counts=on_simplex(noisy, total=float(table.n_public)))

    def edges(self) -> tuple[int, ...]:
        """Bins that the scorer would make of these ages: int(20 rank / n), ties at their mean rank; and `TURNS`."""
        middle = (np.cumsum(self.counts) - self.counts / 2.0) / self.counts.sum()
        quantile = np.minimum((QUANTILES * middle).astype(int), QUANTILES - 1)
        return tuple(sorted({0, OLDEST, *TURNS, *(1 + np.flatnonzero(np.diff(quantile))).tolist()}))

    def drawn(self, ages: NDArray[np.int64], edges: Sequence[int], seed: int) -> NDArray[np.int64]:
        """The same ages bin by bin, with the years inside a bin as the histogram has them. Post-processing."""
        random, made = np.random.default_rng(seed), ages.copy()
        ends = [*edges[:-1], edges[-1] + 1]  # the last bin is closed
        for first, last in pairwise(ends):
            inside = random.permutation(np.flatnonzero((ages >= first) & (ages < last)))
            share = self.counts[first:last] + 1e-9
            points = (np.arange(inside.size) + random.random()) / max(1, inside.size)
            made[inside] = first + np.minimum(
                np.searchsorted(np.cumsum(share) / share.sum(), points), last - first - 1
            )
        return made


# Impossible combinations.


def impossible(schema: Schema) -> tuple[Zeros, ...]:
    """What the dictionary and the scorer's rules exclude, as far as the schema has the columns: one entry per pair."""
    cells: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for (name, holds), (other, also), _ in RULES:
        if name in schema.names and other in schema.names:
            cells.setdefault((name, other), set()).update(
                (first, second)
                for first, label in enumerate(_labels(schema, name))
                for second, beside in enumerate(_labels(schema, other))
                if holds(label) and also(beside)
            )
    if {"NOC", "NPF"} <= set(schema.names):  # a family has at least one more member than own children
        children, family = _labels(schema, "NOC"), _labels(schema, "NPF")
        cells["NOC", "NPF"] = {
            (first, second)
            for first, some in enumerate(children)
            for second, of in enumerate(family)
            if "N" not in (some, of) and int(some) >= int(of)
        }
    return tuple(Zeros(columns, sorted(found)) for columns, found in cells.items())


def _labels(schema: Schema, name: str) -> list[str]:
    """Of a category its label, of a bin of ages its first year."""
    column = schema[name]
    return [f"{edge:g}" for edge in column.edges[:-1]] if isinstance(column, Numeric) else list(column.labels)


def _below(age: int) -> Test:
    return lambda label: int(label) < age


def _from(age: int) -> Test:
    return lambda label: int(label) >= age


def _is(*labels: str) -> Test:
    return lambda label: label in labels


def _is_not(*labels: str) -> Test:
    return lambda label: label not in labels


def _applies(name: str, age: int) -> list[tuple[tuple[str, Test], tuple[str, Test], str]]:
    """A column that is N, "not applicable", below an age and never from it on."""
    said = f"{name} is N below {age} and only there"
    return [((AGE, _below(age)), (name, _is_not("N")), said), ((AGE, _from(age)), (name, _is("N")), said)]


HOUSE, QUARTERS = _is("1"), _is_not("1")
RULES: tuple[tuple[tuple[str, Test], tuple[str, Test], str], ...] = (
    *_applies("MSP", 15),
    *_applies("PINCP_DECILE", 15),
    *_applies("EDU", 3),
    *_applies("DREM", 5),
    *_applies("DPHY", 5),
    ((AGE, _below(16)), ("INDP_CAT", _is_not("N")), "nobody below 16 has an industry"),
    ((AGE, _below(15)), ("DVET", _is_not("N")), "nobody below 15 is a veteran"),
    ((AGE, _below(5)), ("EDU", _is_not("N", "1", "2", "3", "4")), "nobody below 5 has a diploma"),
    ((AGE, _below(15)), ("EDU", _is("12")), "nobody below 15 has a doctorate"),
    (("HOUSING_TYPE", HOUSE), ("OWN_RENT", _is("0")), "a house is owned or rented"),
    (("HOUSING_TYPE", QUARTERS), ("OWN_RENT", _is_not("0")), "group quarters are neither"),
    (("HOUSING_TYPE", HOUSE), ("NOC", _is("N")), "a house has a number of own children"),
    (("HOUSING_TYPE", QUARTERS), ("NOC", _is_not("N")), "group quarters have none"),
    (("HOUSING_TYPE", QUARTERS), ("NPF", _is_not("N")), "nor a family"),
)

"""What the frozen results share: small public data, deep names in one list, and values as plain JSON."""

from __future__ import annotations

import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from holdfast._arrays import Floats
from holdfast.data import Categorical, Identifier, Numeric, Schema
from holdfast.errors import HoldfastError
from holdfast.privacy import PrivacyUnit
from holdfast.release import Release

Plain = Any

DEEP: dict[str, str] = {
    "ArrayExamples": "holdfast.learn._rows.examples",
    "Problem": "holdfast.learn._problem.problem",
    "Logistic": "holdfast.learn._problem.losses",
    "Hinge": "holdfast.learn._problem.losses",
    "HuberHinge": "holdfast.learn._problem.losses",
    "Squared": "holdfast.learn._problem.losses",
    "Softmax": "holdfast.learn._problem.losses",
    "OneVsAll": "holdfast.learn._problem.losses",
    "Certificate": "holdfast.release._certificate",
}
"""Names that no room exports, with the file they live in: a move changes this list and nothing else here."""


def deep(name: str) -> Any:
    """A name of the list above."""
    return getattr(import_module(DEEP[name]), name)


@contextmanager
def quietly() -> Iterator[None]:
    """Seeds, refits and read counts are what frozen results are made of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def promise(release: Release[Any]) -> Plain:
    """The stored guarantee without the mark of a seed, which all of these runs bear: accounts and files freeze it."""
    return {name: value for name, value in release.guarantee.to_json().items() if name != "noise"}


# Data.


def rows(n: int = 240, d: int = 3, *, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows within the unit ball, and scores that a line explains."""
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.normal(size=(n, d))
    x = 0.95 * x / np.maximum(1.0, np.linalg.norm(x, axis=1))[:, None]
    return x, x @ np.linspace(3.0, -2.0, d) + 0.4 + 0.3 * rng.normal(size=n)


def clinic(n: int = 400, *, seed: int = 1) -> pa.Table:
    """A small table of every column kind; three rows of one person follow each other."""
    rng = np.random.Generator(np.random.PCG64(seed))
    age = rng.integers(0, 100, n)
    ill = np.where(age + rng.normal(0, 15, n) > 50, "yes", "no")
    stage = np.array(["a", "b", "c"])[np.clip(age // 34 + rng.integers(-1, 2, n), 0, 2)]
    dose = np.round(age / 10 + rng.normal(0, 1, n), 3)
    people = [f"p{place // 3}" for place in range(n)]
    return pa.table({"person": people, "age": age, "dose": dose, "stage": stage, "ill": ill})


def clinic_schema(*, users: bool = False, **declared: Any) -> Schema:
    """The declaration of `clinic`."""
    unit = PrivacyUnit.user("person", max_rows=3) if users else PrivacyUnit.row()
    columns: list[Any] = [
        Identifier("person"),
        Numeric("age", 0, 100, bins=4, integer=True),
        Numeric("dose", 0, 12, bins=3, null="low"),
        Categorical("stage", ["a", "b", "c"]),
        Categorical("ill", ["no", "yes"]),
    ]
    return Schema(columns, unit=unit, **declared)


# Values.

_FRACTION = re.compile(r"-?\d+/\d+")
LONG = 12


def plain(value: Any) -> Plain:
    """JSON whose numbers are rounded nowhere; long lists become a few numbers, or a hash where they are exact."""
    if hasattr(value, "item") and not isinstance(value, np.ndarray):
        value = value.item()
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else repr(value)
        case Fraction():
            return float(value)
        case str():
            return float(Fraction(value)) if _FRACTION.fullmatch(value) else value
        case np.ndarray():
            return {"shape": list(value.shape), "values": plain(value.ravel().tolist())}
        case pa.Table():
            return plain(value.to_pydict())
        case Mapping():
            return {str(name): plain(one) for name, one in value.items()}
        case Sequence():
            return _listed([plain(one) for one in value])
    return repr(value)


def _listed(values: list[Any]) -> Plain:
    if len(values) <= LONG:
        return values
    if all(isinstance(one, float) for one in values):
        squares = math.fsum(one * one for one in values)
        return {"floats": len(values), "sum": math.fsum(values), "squares": squares, "first": values[:4]}
    numbers = [one for one in values if isinstance(one, float)]
    if numbers or any(isinstance(one, dict | list) for one in values):
        return values
    return {"exact": len(values), "sha256": hashed(values)}


def raw(value: Any) -> str:
    """Canonical JSON as it is stored: exact fractions, every digit."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def hashed(value: Any) -> str:
    """A hash of integers and texts."""
    return hashlib.sha256(raw(value).encode()).hexdigest()


def without(value: Any, *names: str) -> Any:
    """The same tree without these fields."""
    if isinstance(value, Mapping):
        return {key: without(one, *names) for key, one in value.items() if key not in names}
    return [without(one, *names) for one in value] if isinstance(value, list | tuple) else value


def outcome(make: Callable[..., Any], *given: Any, **named: Any) -> Plain:
    """What comes out of a call, or that it was refused."""
    try:
        with quietly():
            return plain(make(*given, **named))
    except HoldfastError as refusal:
        return f"refused: {type(refusal).__name__}"


def pinned(release: Release[Any]) -> Release[Any]:
    """The same release made on a fixed day by fixed software."""
    software = {"python": "3.11.0", "holdfast": "0.1.0"}
    return replace(release, provenance=replace(release.provenance, created="2025-01-31", software=software))

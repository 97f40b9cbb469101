"""Every public callable, called with one argument made wrong: who is called is found, not listed.

Valid calls come from three places. `recorded` notes what the checked names of holdfast are really called with while
a small scene is played (`scene`); what was not called there is called with arguments drawn from its annotations, out
of the objects that were seen in the scene; estimators are fitted as in the scene, by other settings. Then one argument
after the other is replaced, and `verdict` judges how it ended.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import importlib
import inspect
import math
import signal
import typing
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from holdfast import _arguments as arguments
from holdfast.errors import HoldfastError
from holdfast.ledger import Ledger
from holdfast.noise import Source
from holdfast.privacy import Account, ApproxDP

ROOMS = (
    "",
    "privacy",
    "data",
    "learn",
    "synth",
    "attack",
    "audit",
    "dossier",
    "ledger",
    "release",
    "plan",
    "noise",
    "testing",
)
SECRET = "Wintergreen-8812"
"""Stands in rows, arrays and frames, and may never be printed."""
SECONDS = 5.0


class TooSlow(BaseException):
    """The seconds of one call are over; no part of holdfast may catch it."""


# Who is called.


@dataclass(frozen=True)
class Callee:
    """A public function, or a method of a public class by its name."""

    name: str
    owner: type | None
    function: Callable[..., Any]
    """The function itself, without its check; methods take their object first."""
    bound: str = ""
    """"self", "cls" or "" where it is called without either."""

    @property
    def parameters(self) -> list[inspect.Parameter]:
        every = list(inspect.signature(self.function).parameters.values())
        return every[1:] if self.bound else every


def public_names() -> dict[str, Any]:
    """Every public function and class, once, by the first name that it has."""
    names: dict[int, tuple[str, Any]] = {}
    for room in ROOMS:
        module = importlib.import_module("holdfast" + (f".{room}" if room else ""))
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value):
                names.setdefault(id(value), (f"{room}.{name}".strip("."), value))
    return dict(names.values())


def callees() -> list[Callee]:
    """All of them, constructors and methods that holdfast defines included."""
    every: list[Callee] = []
    for name, value in public_names().items():
        if not inspect.isclass(value):
            every.append(Callee(name, None, inspect.unwrap(value)))
            continue
        if issubclass(value, enum.Enum) or getattr(value, "_is_protocol", False):
            continue
        if inspect.isfunction(value.__init__) and not inspect.isabstract(value):
            every.append(Callee(name, value, inspect.unwrap(value.__init__), "self"))
        for method in dir(value):
            member = inspect.getattr_static(value, method)
            bound = (
                "cls"
                if isinstance(member, classmethod)
                else ""
                if isinstance(member, staticmethod)
                else "self"
            )
            function = inspect.unwrap(getattr(member, "__func__", member))
            if (
                method in getattr(value, "__dataclass_fields__", ())
                or method.startswith("_")
                or not inspect.isfunction(function)
                or inspect.isabstract(value)
            ):
                continue
            if function.__module__.startswith("holdfast"):
                every.append(Callee(f"{name}.{method}", value, function, bound))
    return every


# Valid calls.


@dataclass(frozen=True)
class Valid:
    """Arguments that a callee was called with, by name, and its object."""

    owner: Any
    arguments: Mapping[str, Any]


@dataclass
class Corpus:
    """What was seen: calls by function, and objects by the name of their class."""

    calls: dict[Callable[..., Any], list[tuple[tuple[Any, ...], dict[str, Any]]]] = field(
        default_factory=dict
    )
    objects: dict[str, list[Any]] = field(default_factory=dict)

    def note(self, function: Callable[..., Any], given: Sequence[Any], named: Mapping[str, Any]) -> None:
        calls = self.calls.setdefault(inspect.unwrap(function), [])
        if len(calls) < 3:
            calls.append((tuple(given), dict(named)))
        for value in (*given, *named.values()):
            self.keep(value)

    def keep(self, value: Any) -> None:
        """Remember an object under every class that it is of."""
        for kind in type(value).__mro__[:-1]:
            objects = self.objects.setdefault(kind.__name__, [])
            if len(objects) < 3 and not any(value is other for other in objects):
                objects.append(value)


@contextmanager
def recorded(corpus: Corpus) -> Iterator[None]:
    """Note every call of a checked name, with the arguments that it was given."""
    check = arguments.check_call

    def noted(
        function: Callable[..., Any],
        given: Sequence[Any],
        named: Mapping[str, Any],
        owner: type | None = None,
    ) -> tuple[Sequence[Any], Mapping[str, Any]]:
        taken = check(function, given, named, owner)
        corpus.note(function, given, named)
        return taken

    with mock.patch.object(arguments, "check_call", noted):
        yield


def fresh(value: Any, folder: Path) -> Any:
    """The object, or a new one of its kind where using it up would end all further calls."""
    if isinstance(value, Account):
        return Account(ApproxDP(1.0, 1e-5), adjacency=value.adjacency, unit=value.unit)
    if isinstance(value, Ledger):
        return _ledger(folder)
    if isinstance(value, Source):
        return Source(seed=1)
    if hasattr(value, "get_params") or isinstance(value, dict | list | np.ndarray):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return copy.copy(value)
    return value


def _ledger(folder: Path) -> Ledger:
    path = folder / "fuzz.db"
    path.unlink(missing_ok=True)
    ledger = Ledger.create(path)
    ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")
    return ledger


def valid_call(callee: Callee, corpus: Corpus, folder: Path) -> Valid | None:
    """One that was seen, else one drawn from the annotations; None where no object or argument is known."""
    for given, named in corpus.calls.get(callee.function, ()):
        owner = given[0] if callee.bound == "self" and given else None
        if callee.bound == "self" and callee.owner is not None and not isinstance(owner, callee.owner):
            continue
        bound = inspect.signature(callee.function).bind(*given, **named)
        seen = dict(bound.arguments)
        for name in ("self", "cls") if callee.bound else ():
            seen.pop(name, None)
        return Valid(owner, seen)
    owner = None
    if callee.bound == "self" and not callee.name.endswith(str(callee.owner and callee.owner.__name__)):
        assert callee.owner is not None
        same = [one for one in corpus.objects.get(callee.owner.__name__, ()) if isinstance(one, callee.owner)]
        if not same:
            return None
        owner = same[0]
    drawn: dict[str, Any] = {}
    for parameter in callee.parameters:
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        try:
            drawn[parameter.name] = example(parameter, callee, corpus)
        except (LookupError, HoldfastError):
            return None
    return Valid(owner, drawn)


NAMED: Mapping[str, Any] = {"path": "missing.file", "delta": 1e-6, "confidence": 0.9, "level": 0.9}


def example(parameter: inspect.Parameter, callee: Callee, corpus: Corpus) -> Any:
    """A value that the annotation of a parameter admits."""
    if parameter.name in NAMED:
        return NAMED[parameter.name]
    annotation = parameter.annotation
    if isinstance(annotation, str):
        annotation = eval(annotation, {}, arguments.annotation_names(callee.function, callee.owner))
    return _of(annotation, corpus)


def _of(annotation: Any, corpus: Corpus) -> Any:
    simple = {
        float: 0.5,
        int: 1,
        bool: False,
        str: "age",
        bytes: b"x",
        Any: 1.0,
        None: None,
        type(None): None,
    }
    if annotation in simple:
        return simple[annotation]
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return inner[0]
    if origin is np.ndarray:
        return np.array([0.25, 0.5])
    if origin is tuple:
        return () if not inner or Ellipsis in inner else tuple(_of(one, corpus) for one in inner)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return []
    if origin is not None and "Callable" in str(origin):
        return lambda *given: 0.5
    for one in (annotation, origin, *inner):
        found = corpus.objects.get(getattr(one, "__name__", ""), ())
        if found:
            return found[0]
    if origin is not None and inner:
        return _of(inner[0], corpus)
    if inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
        return next(iter(annotation))
    if dataclasses.is_dataclass(annotation) and isinstance(annotation, type):
        names = arguments.annotation_names(annotation.__init__, annotation)
        return annotation(
            **{
                one.name: _of(eval(one.type, {}, names) if isinstance(one.type, str) else one.type, corpus)
                for one in dataclasses.fields(annotation)
                if one.init
                and one.default is dataclasses.MISSING
                and one.default_factory is dataclasses.MISSING
            }
        )
    raise LookupError(str(annotation))


# Wrong arguments.


def hostile(folder: Path) -> list[Any]:
    """Values that are wrong in most places, and right in some."""
    closed = Ledger.create(folder / "closed.db")
    closed.close()
    frame = pd.DataFrame({"age": [1.0, 2.0], SECRET: [SECRET, SECRET]})
    (folder / "text").write_text(SECRET)
    (folder / "bytes").write_bytes(bytes(range(256)) + SECRET.encode())
    return [
        None,
        True,
        False,
        0,
        -1,
        1,
        2,
        3,
        10**12,
        2**64,
        10**400,
        0.0,
        -0.0,
        1e-320,
        0.5,
        1.0,
        1e308,
        -1.5,
        math.nan,
        math.inf,
        -math.inf,
        Fraction(1, 3),
        1j,
        "",
        " ",
        "x",
        "age",
        "1.0",
        "a" * 3000,
        "naïve 统计",
        "\x00",
        "\udcff",
        b"x",
        "auto",
        folder,
        str(folder),
        folder / "missing.x",
        str(folder / "text"),
        folder / "bytes",
        "/dev/null/x",
        np.float64("nan"),
        np.float64(0.5),
        np.int64(3),
        np.bool_(True),
        np.array(0.5),
        np.array([]),
        np.array([SECRET]),
        np.array([[1.0, math.nan]]),
        np.zeros((2, 3, 1)),
        np.array([1, 2, 3]),
        np.array([None, SECRET], dtype=object),
        [],
        [1],
        [1.0, 2.0, 3.0],
        ["nobody"],
        [None],
        [[1, 2], [3]],
        (1, 1e-5),
        (),
        ("a", "b"),
        {},
        {"age": 1},
        {1: 2},
        {"age": SECRET},
        {"nobody": [SECRET]},
        set(),
        {1},
        object(),
        ApproxDP(1, 1e-5),
        frame,
        frame["age"],
        frame[SECRET],
        frame.iloc[0],
        closed,
        Account(ApproxDP(1, 1e-5)),
        iter([1]),
        range(3),
        slice(None),
        Ellipsis,
        NotImplemented,
        np.random.default_rng(1),
        np.datetime64("nat"),
        pd.Timestamp("2020-01-01"),
        memoryview(b"x"),
        math,
        ValueError(SECRET),
    ]


# Verdicts.


@contextmanager
def time_limit() -> Iterator[None]:
    """Ends what takes longer."""

    def over(*_: object) -> None:
        raise TooSlow

    former = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def called(callee: Callee, valid: Valid, folder: Path, changed: Mapping[str, Any], dropped: str = "") -> str:
    """Call it, and say what was wrong with how it ended; nothing if nothing was."""
    given = {name: fresh(value, folder) for name, value in valid.arguments.items()} | dict(changed)
    given.pop(dropped, None)
    positional: list[Any] = []
    rest: dict[str, Any] = {}
    for parameter in callee.parameters:
        if parameter.name not in given:
            continue
        value = given.pop(parameter.name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += list(value) if isinstance(value, tuple) else [value]
        elif parameter.kind is parameter.VAR_KEYWORD:
            rest |= value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else {}
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        elif positional and any(one.kind is one.VAR_POSITIONAL for one in callee.parameters):
            rest[parameter.name] = value
        else:
            rest[parameter.name] = value
    owner = fresh(valid.owner, folder) if valid.owner is not None else None
    target = _target(callee, owner)
    accounts = [one for one in (owner, *positional, *rest.values()) if isinstance(one, Account)]
    before = [account.spent().delta(0.0) for account in accounts]
    try:
        with warnings.catch_warnings(), time_limit(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outcome = target(*positional, **rest)
            if inspect.isgenerator(outcome) or hasattr(outcome, "__next__"):
                next(outcome, None)
    except (Exception, TooSlow) as error:
        wrong = verdict(error, callee, tuple(changed) or (dropped,))
        if not wrong and [account.spent().delta(0.0) for account in accounts] != before:
            wrong = "charged before the error"
        return wrong
    finally:
        for one in (owner, *positional, *rest.values()):
            if isinstance(one, Ledger):
                one.close()
    return ""


def _target(callee: Callee, owner: Any) -> Callable[..., Any]:
    last = callee.name.rsplit(".", 1)[-1]
    if callee.name.endswith("()"):
        return callee.function
    if callee.owner is None:
        room, _, name = callee.name.rpartition(".")
        return getattr(importlib.import_module("holdfast" + (f".{room}" if room else "")), name)  # type: ignore[no-any-return]
    if callee.function.__name__ == "__init__" or last == callee.owner.__name__:
        return callee.owner
    return getattr(owner if callee.bound == "self" else callee.owner, last)  # type: ignore[no-any-return]


PRESCRIBED = ("sklearn/", "sklearn\\")


def verdict(error: BaseException, callee: Callee, names: Sequence[str]) -> str:
    """What is wrong with an error, if anything is."""
    text = str(error)
    annotations = " ".join(str(one.annotation) for one in callee.parameters if one.name in names)
    if isinstance(error, TooSlow):
        return ""  # much was asked for
    if isinstance(error, MemoryError):
        return ""
    if SECRET in text and "str" not in annotations:
        return f"says data: {type(error).__name__}: {text[:200]}"
    if isinstance(error, HoldfastError):
        if not text.strip():
            return "an error without a word"
        return ""
    if isinstance(error, AssertionError) and callee.name.startswith("testing.check_"):
        return ""  # what it says of whatever breaks its contract
    trace = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
    if isinstance(error, TypeError) and ("argument" in text) and len(trace) <= 3 and _signature_error(error):
        return ""
    if (
        isinstance(error, TypeError | ValueError)
        and trace
        and any(one in trace[-1].filename for one in PRESCRIBED)
    ):
        return ""
    place = " < ".join(f"{Path(one.filename).name}:{one.lineno}" for one in reversed(trace[-4:]))
    return f"{type(error).__name__}: {text[:160]} at {place}"


def _signature_error(error: TypeError) -> bool:
    text = str(error)
    return any(
        words in text
        for words in ("missing", "unexpected keyword", "positional argument", "multiple values", "takes no")
    )


def estimators(corpus: Corpus) -> list[tuple[Callee, Valid]]:
    """Each public estimator as a function of its settings, which `fit` looks at: scikit-learn sets them unseen."""
    found = []
    for name, value in public_names().items():
        if not (inspect.isclass(value) and hasattr(value, "get_params") and hasattr(value, "fit")):
            continue
        fits = [
            call for call in corpus.calls.get(inspect.unwrap(value.fit), ()) if isinstance(call[0][0], value)
        ]
        for given, named in fits[:1]:
            found.append((Callee(f"{name}()", value, _refitted(value, given, named)), Valid(None, {})))
    return found


def _refitted(kind: type, given: Sequence[Any], named: Mapping[str, Any]) -> Callable[..., Any]:
    """A function of the constructor's signature that fits what was fitted, by these settings."""

    def fit(**settings: Any) -> Any:
        model = copy.copy(given[0])
        for name, value in settings.items():
            setattr(model, name, value)
        return model.fit(*given[1:], **named)

    fit.__signature__ = inspect.Signature(list(inspect.signature(kind.__init__).parameters.values())[1:])  # type: ignore[attr-defined,misc]
    return fit

"""Registry: entries by name, holdfast's own first, then those that installed packages register by entry points.

    [project.entry-points."holdfast.mechanisms"]
    Staircase = "acme_noise.staircase:Staircase"

An entry point has the name of the entry that it loads. Nothing is looked up while a name is one of holdfast's own;
a package is imported when one of its names is asked for, or a list of everything is. A package that takes a name of
holdfast's own, or one that another package has, is refused. An object that no package registers may be passed, too:
whoever made it says that it is sound, and a release says whose word that is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Generic, TypeVar

from holdfast._assumption import Assumption
from holdfast.errors import ExtensionError, ParameterError

T = TypeVar("T")
OWN = "holdfast"
"""Stands as the package of everything that is holdfast's own."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


def mark_of(package: str) -> str:
    """What stands behind a name, wherever a release tells how it came about; nothing where it is holdfast's own.

    >>> mark_of("holdfast"), mark_of("acme 1.2"), mark_of("")
    ('', ' [package acme 1.2]', ' [unregistered]')
    """
    if package == OWN:
        return ""
    return f" [package {package}]" if package else " [unregistered]"


@dataclass(frozen=True, kw_only=True)
class Author:
    """Whose word it is that an entry which is none of holdfast's keeps its promise."""

    noun: str
    name: str
    promise: str
    package: str = ""
    """The installed package that registers it, with its version; empty where none does."""

    @property
    def assumption(self) -> Assumption:
        """What a release assumes; where no package registers the entry, nothing is left of the promise without it."""
        whose = f"is from the package {self.package}" if self.package else "is not registered"
        return Assumption(
            kind=f"{self.noun} by others",
            subject=self.name + mark_of(self.package),
            voids=not self.package,
            text=f"the {self.noun} {self.name!r} {whose}: that it {self.promise} is the claim of its author",
        )


@dataclass(frozen=True, kw_only=True)
class Registry(Generic[T]):
    """What users may call by name, and what an entry must have to be one.

    >>> from holdfast.learn._catalogue import REGISTRY
    >>> REGISTRY.named("output").paper, REGISTRY.named("magic")
    ('CMS11', None)
    """

    group: str
    """The group of entry points."""
    noun: str
    own: tuple[T, ...]
    kind: type | tuple[type, ...]
    """What an entry is an instance of, or a class below."""
    classes: bool = False
    """Whether entries are classes."""
    calls: tuple[str, ...] = ()
    """What can be called on an entry."""
    states: tuple[str, ...] = ()
    """What an entry says of itself, in a text or a list that is not empty."""
    promise: str = "is private"
    label: str = "name"

    def named(self, name: str) -> T | None:
        """The entry of that name, holdfast's own first; None where nobody has it."""
        mine = next((one for one in self.own if self.name_of(one) == name), None)
        return mine if mine is not None else next(iter(self.installed(name)), None)

    def everything(self) -> tuple[T, ...]:
        """Holdfast's own, then all that installed packages register, by name."""
        return (*self.own, *self.installed())

    def names(self) -> list[str]:
        """All names, sorted; of packages, too, which need not be imported for it."""
        return sorted({*map(self.name_of, self.own), *(point.name for point in _points(self.group))})

    def name_of(self, entry: T) -> str:
        """What users call it."""
        return str(attrgetter(self.label)(entry))

    def admit(self, entry: Any) -> T:
        """An entry that was passed, unless it lacks something or takes a name of holdfast's own."""
        if any(entry is one for one in self.own):
            return entry  # type: ignore[no-any-return]
        problem = self._problem(entry)
        if problem:
            raise ParameterError(f"the {self.noun} {problem}")
        return entry  # type: ignore[no-any-return]

    def author(self, entry: T) -> Author | None:
        """Whose word its promise is; None for holdfast's own, known by identity and not by name."""
        if any(entry is one for one in self.own):
            return None
        name, package = self.name_of(entry), ""
        for point in _points(self.group):
            if point.name == name:
                try:
                    package = package or (_package(point) if point.load() is entry else "")
                except (Exception, SystemExit):  # a package that does not load registers nothing
                    continue
        return Author(noun=self.noun, name=name, promise=self.promise, package=package)

    def installed(self, name: str | None = None) -> tuple[T, ...]:
        """What packages register, or what they register under this name."""
        found: dict[str, Any] = {}
        for point in _points(self.group):
            if name not in (None, point.name):
                continue
            if point.name in found:
                raise ExtensionError(
                    f"{_package(found[point.name])} and {_package(point)} both register the {self.noun} "
                    f"{point.name!r} in {self.group}; uninstall one of them"
                )
            found[point.name] = point
        return tuple(self._loaded(point) for _, point in sorted(found.items()))

    def _loaded(self, point: Any) -> T:
        registers = f"{_package(point)} registers {point.name!r} in {self.group}"
        try:
            entry = point.load()
        except (Exception, SystemExit) as error:  # whatever a package does while it is imported
            raise ExtensionError(
                f"{registers}, and it cannot be loaded: {type(error).__name__}: {error}; update or uninstall it"
            ) from error
        problem = self._problem(entry)
        if not problem and self.name_of(entry) != point.name:
            problem = f"calls itself {self.name_of(entry)!r}: the names must be one"
        if problem:
            raise ExtensionError(f"{registers}, and it {problem}; update or uninstall the package")
        return entry  # type: ignore[no-any-return]

    def _problem(self, entry: Any) -> str:
        """Why something is no entry; empty where it is one."""
        kinds = self.kind if isinstance(self.kind, tuple) else (self.kind,)
        fits = (
            (isinstance(entry, type) and issubclass(entry, kinds))
            if self.classes
            else isinstance(entry, kinds)
        )
        if not fits:
            what = " or ".join(kind.__name__ for kind in kinds)
            got = entry.__name__ if isinstance(entry, type) else f"one of {type(entry).__name__}"
            return f"must be {'a class below' if self.classes else 'an instance of'} {what}, got {got}"
        lacking = {
            *getattr(entry, "__abstractmethods__", ()),
            *(name for name in self.calls if not callable(getattr(entry, name, None))),
            *(name for name in self.states if not getattr(entry, name, None)),
        }
        name = self.name_of(entry)
        if lacking:
            return f"{name!r} lacks {', '.join(sorted(lacking))}"
        if not _NAME.fullmatch(name):
            return f"{name!r} must have a name of up to 64 letters, digits, '_', '.' and '-'"
        if any(self.name_of(one) == name for one in self.own):
            return f"{name!r} has a name of holdfast's own, which stays holdfast's; give it another one"
        return ""


@cache
def _points(group: str) -> tuple[Any, ...]:
    """The entry points of a group; looked up once in a process, when they are first needed."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _package(point: Any) -> str:
    """The package that registers it, with its version."""
    return "a package without metadata" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def forget_installed() -> None:
    """Look entry points up anew: for a program that installs packages while it runs."""
    _points.cache_clear()

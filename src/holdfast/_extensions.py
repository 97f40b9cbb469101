"""Registry: learners, mechanisms, attacks and so on by name, holdfast's own and those that packages register.

A package registers an entry by an entry point of the same name:

    [project.entry-points."holdfast.mechanisms"]
    Staircase = "acme_noise.staircase:Staircase"

Entry points are not looked up for a name of holdfast's own. A package is imported when one of its names is looked up,
or when all entries are listed. A package that registers a name of holdfast's own, or of another package, is refused.
Users may also pass an object that no package registers. The release then states that its privacy is the claim of its
author.
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
OWN_PACKAGE = "holdfast"
"""The package of holdfast's own entries."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


def package_mark(package: str) -> str:
    """The mark behind an entry's name in a release, which says where it is from; empty for holdfast's own.

    >>> package_mark("holdfast"), package_mark("acme 1.2"), package_mark("")
    ('', ' [package acme 1.2]', ' [unregistered]')
    """
    if package == OWN_PACKAGE:
        return ""
    return f" [package {package}]" if package else " [unregistered]"


@dataclass(frozen=True, kw_only=True)
class Author:
    """The author of an entry that is not holdfast's own, who claims that it keeps its promise."""

    noun: str
    name: str
    promise: str
    package: str = ""
    """The installed package that registers it, with its version; empty if none does."""

    @property
    def assumption(self) -> Assumption:
        """The assumption that the entry is sound; it voids the promise if no package registers the entry."""
        origin = f"is from the package {self.package}" if self.package else "is not registered"
        return Assumption(
            kind=f"{self.noun} by others",
            subject=self.name + package_mark(self.package),
            voids=not self.package,
            text=f"the {self.noun} {self.name!r} {origin}: that it {self.promise} is the claim of its author",
        )


@dataclass(frozen=True, kw_only=True)
class Registry(Generic[T]):
    """The entries of one kind that users choose by name, and what an object must have to be such an entry.

    >>> from holdfast.learn._catalogue import REGISTRY
    >>> REGISTRY.find("output").paper, REGISTRY.find("magic")
    ('CMS11', None)
    """

    group: str
    """The group of entry points."""
    noun: str
    own: tuple[T, ...]
    kind: type | tuple[type, ...]
    """The class, or classes, of which an entry is an instance or (see `classes`) a subclass."""
    classes: bool = False
    """Whether entries are classes."""
    calls: tuple[str, ...] = ()
    """The methods that an entry must have."""
    states: tuple[str, ...] = ()
    """The attributes that an entry must have, none of them empty."""
    promise: str = "is private"
    label: str = "name"

    def find(self, name: str) -> T | None:
        """The entry of that name, holdfast's own first; None if there is none."""
        own_entry = next((entry for entry in self.own if self.name_of(entry) == name), None)
        return own_entry if own_entry is not None else next(iter(self.installed_entries(name)), None)

    def everything(self) -> tuple[T, ...]:
        """Holdfast's own entries, then those of installed packages, by name."""
        return (*self.own, *self.installed_entries())

    def names(self) -> list[str]:
        """The names of all entries, sorted; packages are not imported for it."""
        return sorted({*map(self.name_of, self.own), *(point.name for point in _entry_points(self.group))})

    def name_of(self, entry: T) -> str:
        """The name of an entry."""
        return str(attrgetter(self.label)(entry))

    def admit(self, entry: Any) -> T:
        """The object that was passed as an entry; refused if it lacks something or has the name of an own entry."""
        if any(entry is own_entry for own_entry in self.own):
            return entry  # type: ignore[no-any-return]
        problem = self._problem(entry)
        if problem:
            raise ParameterError(f"the {self.noun} {problem}")
        return entry  # type: ignore[no-any-return]

    def author(self, entry: T) -> Author | None:
        """The author of an entry; None for holdfast's own, which are known by identity and not by name."""
        if any(entry is own_entry for own_entry in self.own):
            return None
        name, package = self.name_of(entry), ""
        for point in _entry_points(self.group):
            if point.name == name:
                try:
                    package = package or (_package(point) if point.load() is entry else "")
                except (Exception, SystemExit):  # a package that does not load registers nothing
                    continue
        return Author(noun=self.noun, name=name, promise=self.promise, package=package)

    def installed_entries(self, name: str | None = None) -> tuple[T, ...]:
        """The entries of installed packages, or the one of this name."""
        points_by_name: dict[str, Any] = {}
        for point in _entry_points(self.group):
            if name not in (None, point.name):
                continue
            if point.name in points_by_name:
                raise ExtensionError(
                    f"{_package(points_by_name[point.name])} and {_package(point)} both register the {self.noun} "
                    f"{point.name!r} in {self.group}; uninstall one of them"
                )
            points_by_name[point.name] = point
        return tuple(self._load(point) for _, point in sorted(points_by_name.items()))

    def _load(self, point: Any) -> T:
        registration = f"{_package(point)} registers {point.name!r} in {self.group}"
        try:
            entry = point.load()
        except (Exception, SystemExit) as error:  # whatever a package does while it is imported
            raise ExtensionError(
                f"{registration}, and it cannot be loaded: {type(error).__name__}: {error}; update or uninstall it"
            ) from error
        problem = self._problem(entry)
        if not problem and self.name_of(entry) != point.name:
            problem = f"calls itself {self.name_of(entry)!r}: the names must be one"
        if problem:
            raise ExtensionError(f"{registration}, and it {problem}; update or uninstall the package")
        return entry  # type: ignore[no-any-return]

    def _problem(self, entry: Any) -> str:
        """Why an object cannot be an entry; empty if it can."""
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
        if any(self.name_of(own_entry) == name for own_entry in self.own):
            return f"{name!r} has a name of holdfast's own, which stays holdfast's; give it another one"
        return ""


@cache
def _entry_points(group: str) -> tuple[Any, ...]:
    """The entry points of a group; looked up once in a process, when they are first needed."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


def _package(point: Any) -> str:
    """The package of an entry point, with its version."""
    return "a package without metadata" if point.dist is None else f"{point.dist.name} {point.dist.version}"


def forget_installed() -> None:
    """Forget the entry points that were looked up, for a program that installs packages while it runs."""
    _entry_points.cache_clear()

"""Public names tell what they take, what they give, how they are used and, where they release, what is guaranteed."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any

import pytest

from holdfast.privacy import Account, Mechanism
from tests.test_import import ROOMS

UNDERLINED = re.compile(r"^(?P<title>[A-Z][A-Za-z ]+)\n-{3,}$", re.MULTILINE)
LISTED = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: ?: ?.*)?$", re.MULTILINE)


def sections(docstring: str) -> dict[str, str]:
    """The text of each section of a numpydoc docstring; what stands before the first is ''."""
    titles = list(UNDERLINED.finditer(docstring))
    if not titles:
        return {"": docstring}
    ends = [title.start() for title in titles[1:]] + [len(docstring)]
    found = {title["title"]: docstring[title.end() : end] for title, end in zip(titles, ends, strict=True)}
    return {"": docstring[: titles[0].start()], **found}


def listed(text: str) -> set[str]:
    """The names that a section describes: those at the left margin."""
    return {name.strip(" *") for line in LISTED.finditer(text) for name in line["names"].split(",")}


def taken(thing: Any) -> set[str]:
    """The parameters of a call; an enumeration is called with a value, whatever the functional form takes."""
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return {"value"}
    return {name for name in inspect.signature(thing).parameters if name not in ("self", "cls")}


def releases(thing: Any) -> bool:
    """Whether it spends a budget: mechanisms, accounts, and what is fitted with an epsilon or an account."""
    if not inspect.isclass(thing):
        return False
    fitted = hasattr(thing, "fit") and bool({"epsilon", "account"} & taken(thing))
    return fitted or issubclass(thing, (Mechanism, Account))


def is_plain(thing: Any) -> bool:
    """A function or a class that is made by calling it; no constant, exception, protocol or alias."""
    if inspect.isclass(thing):
        return not issubclass(thing, BaseException) and not getattr(thing, "_is_protocol", False)
    return inspect.isfunction(thing)


def lacking(name: str, thing: Any) -> Iterator[str]:
    """What the docstring of a public name does not say."""
    docstring = inspect.getdoc(thing) or ""
    parts = sections(docstring)
    described = listed(parts.get("Parameters", "")) | listed(parts.get("Attributes", ""))
    if not docstring:
        yield f"{name} has no docstring"
    abstract = inspect.isclass(thing) and inspect.isabstract(thing)
    if not abstract and (left := taken(thing) - described):
        yield f"{name}: Parameters does not describe {', '.join(sorted(left))}"
    if strange := listed(parts.get("Parameters", "")) - taken(thing):
        yield f"{name}: Parameters describes {', '.join(sorted(strange))}, which it does not take"
    if not abstract and ">>>" not in docstring:
        yield f"{name} has no example"
    if not inspect.isclass(thing):
        gives = inspect.signature(thing).return_annotation
        if gives not in (None, "None") and not {"Returns", "Yields"} & set(parts):
            yield f"{name}: no section says what it returns"
    if releases(thing) and "Formal guarantees" not in parts:
        yield f"{name} releases and has no section Formal guarantees"
    if inspect.isclass(thing):
        for method, function in own_methods(thing):
            text = said_of(method, thing)
            unsaid = [
                parameter
                for parameter in taken(function)
                if not re.search(rf"\b{re.escape(parameter)}\b", text)
            ]
            if unsaid:
                yield f"{name}.{method} does not mention {', '.join(sorted(unsaid))}"


def said_of(method: str, kind: type) -> str:
    """What the docstrings of a method say, its own and those that it overrides, which describe its parameters once."""
    members = [vars(base)[method] for base in kind.__mro__ if method in vars(base)]
    return "\n".join(getattr(member, "__doc__", None) or "" for member in members)


def own_methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods that holdfast wrote; those that a dataclass or another library made are left out."""
    for name, member in inspect.getmembers(
        kind, predicate=lambda one: callable(one) and not inspect.isclass(one)
    ):
        function = inspect.unwrap(getattr(member, "__func__", member))
        ours = getattr(function, "__module__", None) or ""
        if (
            not name.startswith("_")
            and ours.startswith("holdfast")
            and not dataclasses.is_dataclass(function)
        ):
            yield name, function


def public_names() -> Iterator[tuple[str, str]]:
    """Room and name of all that rooms export."""
    for room in ("holdfast", *(f"holdfast.{room}" for room in ROOMS if room != "errors")):
        for name in getattr(import_module(room), "__all__", ()):
            if room != "holdfast" or name not in ROOMS:
                yield room, name


@pytest.mark.parametrize(
    ("room", "name"), list(public_names()), ids=lambda one: one.removeprefix("holdfast.")
)
def test_a_docstring_describes_every_parameter(room: str, name: str) -> None:
    thing = getattr(import_module(room), name)
    if is_plain(thing):
        assert not list(lacking(name, thing))


@pytest.mark.parametrize("room", [room for room in ROOMS if room != "errors"])
def test_a_room_says_what_is_in_it_and_what_is_public_knowledge(room: str) -> None:
    """The first screen of a room: its contents by task, and which of its values may be told to others."""
    docstring = inspect.getdoc(import_module(f"holdfast.{room}")) or ""
    assert {"Contents", "Public and private"} <= set(sections(docstring))

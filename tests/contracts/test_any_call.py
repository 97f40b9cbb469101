"""Whatever a public name is given, it ends in an answer, an error of holdfast's own or Python's for a wrong call.

Callables are found by walking the rooms, and their valid arguments by watching a scene (`scene`); each trial replaces
or drops one of them. Some hundred of all pairs of parameters and values are drawn here, many thousands by `make deep`.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast import _arguments as arguments
from holdfast._argument_kinds import Unimported, type_text
from holdfast.errors import ParameterError
from tests.contracts import any_call, scene
from tests.contracts.any_call import Callee, Corpus, Valid
from tests.studies.size import Study, deep

PER_CALLEE = 30 if deep() else 0
"""Trials of each callee in a run at full size, else none."""
DRAWN = 700
"""Trials in all, where callees are drawn."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("any_call")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


@pytest.fixture(scope="module")
def corpus(folder: Path) -> Corpus:
    return scene.play(folder)


def known(corpus: Corpus, folder: Path) -> list[tuple[Callee, Valid]]:
    pairs = [(callee, any_call.valid_call(callee, corpus, folder)) for callee in any_call.callees()]
    return [(callee, valid) for callee, valid in pairs if valid is not None] + any_call.estimators(corpus)


@pytest.mark.filterwarnings("ignore")
def test_whatever_a_public_name_is_given_it_ends_well(corpus: Corpus, folder: Path, study: Study) -> None:
    values, draw = any_call.hostile(folder), random.Random(2026)
    callees = [(callee, valid) for callee, valid in known(corpus, folder) if callee.parameters]
    count = PER_CALLEE * len(callees) or DRAWN
    wrong: dict[str, str] = {}
    for number in range(count):
        callee, valid = callees[number % len(callees)] if PER_CALLEE else draw.choice(callees)
        parameter = draw.choice(callee.parameters).name
        value = draw.choice(values)
        changed, dropped = ({}, parameter) if draw.random() < 0.05 else ({parameter: value}, "")
        ended = any_call.called(callee, valid, folder, changed, dropped)
        if ended:
            wrong[f"{callee.name}({parameter}={type_text(value)})"] = ended
    study.note(calls=count, callees=len(callees), wrong=len(wrong))
    assert not wrong, "\n".join(f"{call}: {ended}" for call, ended in wrong.items())


def test_nearly_every_public_name_is_called(corpus: Corpus, folder: Path) -> None:
    """Or the trials would say little: what has no valid call is a small part, whose arguments need whole runs."""
    every = any_call.callees()
    called = {callee.name for callee, _ in known(corpus, folder)}
    missing = [callee.name for callee in every if callee.name not in called]
    assert len(missing) <= 0.2 * len(every), missing


def test_every_public_name_checks_its_arguments() -> None:
    """A class or function that is made public and not `checked` is found here."""
    unchecked = []
    for name, value in any_call.public_names().items():
        if not inspect.isclass(value):
            unchecked += [] if getattr(value, "__checks_arguments__", False) else [name]
    for callee in any_call.callees():
        if callee.owner is None or (hasattr(callee.owner, "get_params") and callee.bound == "self"):
            continue
        method = callee.name.rsplit(".", 1)[-1] if callee.function.__name__ != "__init__" else "__init__"
        home = next((kind for kind in callee.owner.__mro__ if method in vars(kind)), callee.owner)
        member = inspect.getattr_static(home, method)
        function = getattr(member, "__func__", member)
        if not getattr(function, "__checks_arguments__", False):
            unchecked.append(callee.name)
    assert not unchecked


def test_every_annotation_of_a_public_name_is_understood() -> None:
    """A name that only the type checker imports must be a class: an alias would admit nothing."""
    classes = {kind.__name__ for kind in _classes()}
    for callee in any_call.callees():
        names = arguments.annotation_names(callee.function, callee.owner)
        for parameter in callee.parameters:
            if isinstance(parameter.annotation, str):
                for unknown in _unimported(eval(parameter.annotation, {}, names)):
                    assert unknown in classes, f"{callee.name}({parameter.name}: {unknown})"


def _unimported(annotation: object) -> Iterator[str]:
    if isinstance(annotation, type) and issubclass(annotation, Unimported):
        yield annotation.__name__
    for inner in getattr(annotation, "__args__", ()):
        yield from _unimported(inner)


def _classes() -> list[type]:
    found: list[Any] = []
    level: list[Any] = [object]
    while level:
        kind = level.pop()
        children = type.__subclasses__(kind) if kind is not type else []
        level += [child for child in children if child not in found]
        found += children
    return found


class _Plain:
    """Stands for a public class that somebody adds."""

    def share(self, rows: int, *names: str, of: tuple[float, float] | None = None) -> float:
        return rows * (1.0 if of is None else of[0])


@pytest.mark.parametrize(
    ("given", "named", "said"),
    [
        ((True,), {}, "rows must be a whole number, got rows=True"),
        ((1.5,), {}, "rows must be a whole number, got rows=1.5"),
        ((1, 2), {}, "names must be a text, got names=2"),
        ((1,), {"of": (1.0,)}, "of must be a pair of numbers or None, got of=a tuple"),
        ((1,), {"of": (1.0, "a")}, "of must be a pair of numbers or None, got of=a tuple"),
    ],
)
def test_a_wrong_kind_is_named_with_its_parameter(
    given: tuple[object, ...], named: dict[str, object], said: str
) -> None:
    plain: Any = arguments.checked(type("Plain", (_Plain,), {"share": _Plain.share}))()
    with pytest.raises(ParameterError) as caught:
        plain.share(*given, **named)
    assert str(caught.value) == said


def test_an_epsilon_and_a_delta_in_place_of_a_curve_say_how_it_is_written() -> None:
    from holdfast.audit import audit
    from holdfast.privacy import Account

    for claim in ((1, 1e-5), [1, 1e-5]):
        with pytest.raises(ParameterError, match=r"write privacy.ApproxDP\(1, 1e-05\)"):
            audit(lambda rows: rows, [[0.0]], claim=claim)  # type: ignore[arg-type]  # what users wrote
    with pytest.raises(
        ParameterError, match=r"limit must be a PrivacyCurve, got limit=1.0; write privacy.PureDP"
    ):
        Account(1.0)  # type: ignore[arg-type]

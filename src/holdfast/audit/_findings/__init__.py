"""Findings: what an audit counted, one small class for each design, which computes its own bound from the counts."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, get_type_hints

import numpy as np

from holdfast._stored_fields import require_fields
from holdfast.audit._bounds.multi_run import ErrorRates
from holdfast.audit._bounds.normal_scores import NormalScores
from holdfast.audit._findings.finding import Finding as Finding
from holdfast.audit._findings.one_run_guesses import FixedGuesses as FixedGuesses
from holdfast.audit._findings.one_run_guesses import GaussianGuesses as GaussianGuesses
from holdfast.audit._findings.one_run_guesses import GuessPath as GuessPath
from holdfast.audit._findings.trainings import AnytimeGuesses as AnytimeGuesses
from holdfast.audit._findings.trainings import Trainings as Trainings
from holdfast.audit._findings.transcripts import Transcripts as Transcripts
from holdfast.errors import FormatError

FINDINGS: tuple[type[Any], ...] = (
    FixedGuesses,
    GuessPath,
    GaussianGuesses,
    Trainings,
    AnytimeGuesses,
    Transcripts,
)


def bits_as_text(correct: Any) -> str:
    """Right and wrong guesses as a text of 1 and 0.

    >>> bits_as_text([True, False])
    '10'
    """
    return "".join("1" if bit else "0" for bit in np.asarray(correct, bool))


def finding_to_json(finding: Any) -> dict[str, Any]:
    """A finding as plain values, which `finding_from_json` reads."""
    return {"kind": finding.kind, **asdict(finding)}


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    """The finding that `finding_to_json` wrote; `FormatError` for anything else."""
    try:
        stored = dict(data)
        kind = stored.pop("kind")
        (finding_class,) = (known for known in FINDINGS if known.kind == kind)
        for name, part in (("errors", ErrorRates), ("against", ErrorRates), ("scores", NormalScores)):
            if name in stored:
                stored[name] = _restored_part(part, stored[name])
        finding: Finding = _restored_part(finding_class, stored)
    except (ArithmeticError, TypeError, ValueError, KeyError) as error:
        raise FormatError("a stored audit lacks a field or has one of the wrong kind") from error
    return finding


def _restored_part(kind: type[Any], stored: Mapping[str, Any]) -> Any:
    """An object of this class from its stored fields; whole numbers must be whole and floats finite."""
    declared = get_type_hints(kind)
    require_fields(kind.__name__, stored, [entry.name for entry in fields(kind)])
    for name, value in stored.items():
        if declared[name] is int and type(value) is not int:
            raise TypeError(f"{name} is a whole number")
        if declared[name] is float and not is_number(value):
            raise TypeError(f"{name} is a finite number")
    return kind(**stored)


def with_every_guess_right(finding: Finding) -> Finding | None:
    """The same design with every guess right: no audit of this size shows more. None where guesses do not decide.

    >>> with_every_guess_right(FixedGuesses(canaries=9, guesses=8, correct=3)).correct
    8
    """
    if isinstance(finding, FixedGuesses):
        return replace(finding, correct=finding.guesses)
    if isinstance(finding, GuessPath | AnytimeGuesses):
        return replace(finding, right="1" * len(finding.right))
    if isinstance(finding, Trainings | Transcripts) and finding.bound == "clopper-pearson":
        return replace(finding, errors=replace(finding.errors, false_alarms=0, misses=0))
    return None


def is_number(value: object) -> bool:
    """Whether a summary value can be stored."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max

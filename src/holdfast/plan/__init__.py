"""Steps of a release plan: each calls the library function that its command calls.

A new kind of step is one class and one line in STEPS.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from holdfast.errors import FormatError
from holdfast.plan.evidence_steps import AttackStep, AuditStep, DossierStep
from holdfast.plan.paid_steps import FitStep, SynthStep
from holdfast.plan.step import Step

STEPS: tuple[type[Any], ...] = (FitStep, SynthStep, AttackStep, AuditStep, DossierStep)
"""Every kind of step."""


def step_of(data: Any) -> Step:
    """The step that a table of the plan describes; `FormatError` for one that does not exist."""
    kinds = {step.kind: step for step in STEPS}
    if not isinstance(data, dict) or data.get("do") not in kinds:
        raise FormatError(f"each [[step]] of a plan must have do = one of {', '.join(kinds)}")
    kind = kinds[data["do"]]
    settings = {name: tuple(v) if isinstance(v, list) else v for name, v in data.items() if name != "do"}
    known = [f.name for f in fields(kind)]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise FormatError(
            f"a {kind.kind} step takes {', '.join(known)}; the plan has {', '.join(unknown)} as well"
        )
    try:
        made: Step = kind(**settings)
    except TypeError as error:
        raise FormatError(f"a {kind.kind} step lacks a setting; it takes {', '.join(known)}") from error
    return made

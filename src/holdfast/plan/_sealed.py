"""Evidence that a step writes: a JSON file that says which step wrote it, what was asked, and the hash of all of it.

A step that spends nothing is done only where its output holds such a file, whole, of the same step that asked the same.
What is torn, edited or of another step is never taken for it, and never written over without a word.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast._plain_data import parse_json
from holdfast._regular_file import read_regular, sha256_of
from holdfast.data._whole_file import write_whole
from holdfast.errors import FormatError

if TYPE_CHECKING:
    from holdfast.plan._step import Setting, Step

SEAL_FIELD = "step"
"""The field of the file that holds who wrote it, what was asked and the hash of the other fields."""
_MOST_EVIDENCE_BYTES = 16 * 2**20


def request_of(step: Step, judged: Path) -> str:
    """The digest of what a step asks, wherever its output goes, about the release that it judges."""
    settings: dict[str, Any] = {f.name: getattr(step, f.name) for f in fields(step)}  # type: ignore[arg-type]
    del settings["output"]
    terms = settings | {"do": step.kind, "release": sha256_of(judged, what="a release")}
    return hashlib.sha256(json.dumps(terms, sort_keys=True).encode()).hexdigest()


def write_sealed(step: Step, setting: Setting, evidence: Mapping[str, Any], *, judged: Path) -> None:
    """Write the evidence of a step to its output, whole."""
    plain_evidence = json.loads(json.dumps(evidence))  # as it is read back: keys are texts, tuples are lists
    seal = {
        "name": setting.account(step.name),
        "asked": request_of(step, judged),
        "sha256": _hash(plain_evidence),
    }
    write_whole(setting.place(step.output), json.dumps(plain_evidence | {SEAL_FIELD: seal}).encode())


def read_sealed(step: Step, setting: Setting, *, judged: Path) -> dict[str, Any] | None:
    """The evidence that this step wrote when it asked the same; None for anything else."""
    path = setting.place(step.output)
    if not path.is_file() or not judged.is_file():
        return None
    try:
        text = read_regular(path, what="evidence", most_bytes=_MOST_EVIDENCE_BYTES)
        evidence = parse_json(text, path.name, most_bytes=_MOST_EVIDENCE_BYTES, most_depth=40)
    except FormatError:
        return None
    seal = evidence.pop(SEAL_FIELD, None) if isinstance(evidence, dict) else None
    expected_seal = {
        "name": setting.account(step.name),
        "asked": request_of(step, judged),
        "sha256": _hash(evidence),
    }
    return evidence if seal == expected_seal else None


def _hash(evidence: Any) -> str:
    try:
        return hashlib.sha256(json.dumps(evidence, sort_keys=True).encode()).hexdigest()
    except (TypeError, ValueError):
        return ""

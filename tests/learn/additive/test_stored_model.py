"""Models that an earlier version stored say what they said then."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.learn.additive.model import FORMAT
from tests.golden import additive_v1
from tests.golden.frozen import differences

KNOWN: dict[str, Any] = json.loads((additive_v1.FOLDER / "shown.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", additive_v1.MODELS)
def test_a_stored_model_is_used_as_it_was(name: str) -> None:
    assert list(differences(KNOWN[name], additive_v1.shown(name))) == []
    assert KNOWN[name]["format"] == "holdfast-additive-model/1"


def test_the_format_of_today_has_a_stored_file() -> None:
    assert {one["format"] for one in KNOWN.values()} == {FORMAT}
    assert any(one["pairs"] for one in KNOWN.values())

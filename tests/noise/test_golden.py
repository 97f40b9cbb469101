from __future__ import annotations

import importlib.util
import json

from tests.paths import GOLDEN

SCRIPT = GOLDEN / "noise_seeded.py"


def test_exact_samplers_give_the_same_integers_everywhere() -> None:
    spec = importlib.util.spec_from_file_location("noise_seeded", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.draws() == json.loads(SCRIPT.with_suffix(".json").read_text())

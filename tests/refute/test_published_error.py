"""The anchor table of the bolt-on showcase."""

from __future__ import annotations

import json

import pytest

from holdfast.refute._published_error import bolt_on_showcase


@pytest.mark.slow
def test_the_anchor_table() -> None:
    shown = bolt_on_showcase()
    found = {row.claimed: row for row in shown.rows}
    assert shown.distance == pytest.approx(0.122, abs=1e-3)
    # Many runs: N = 1000 with Clopper-Pearson; 5.60 is the most that 1000 perfect runs can show.
    for claimed, anchor in ((0.1, 0.78), (0.5, 3.40), (1.0, 5.60), (2.0, 5.60), (4.0, 5.60)):
        assert found[claimed].printed == pytest.approx(anchor, abs=0.35)
        assert found[claimed].printed > claimed
        assert found[claimed].sound <= claimed
    # One run: within four standard deviations of the anchor's means over 20 repeats.
    for claimed, anchor, spread in (
        (0.5, 1.11, 0.11),
        (1.0, 2.58, 0.16),
        (2.0, 5.09, 0.10),
        (4.0, 5.11, 0.02),
    ):
        assert found[claimed].one_run_printed == pytest.approx(anchor, abs=4 * spread)
        assert found[claimed].curve_printed > found[claimed].one_run_printed > claimed
        assert found[claimed].one_run_sound <= claimed
    assert len(shown.refuted_claims) == len(shown.rows)
    assert shown.sound_survives
    assert "refuted" in shown.summary()
    assert json.loads(json.dumps(shown.to_json()))["runs"] == 1000

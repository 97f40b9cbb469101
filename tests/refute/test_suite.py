"""The suite itself: its error, its verdicts, and what it says."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.refute._subject import Subject
from holdfast.refute._suite import FALSE_ALARM, refute
from holdfast.refute._trial import Analysis, Law, Outcome, Test


def uniforms(source: Source, size: int) -> NDArray[np.float64]:
    return np.asarray((source.words(size) + 0.5) * 2.0**-64, float)


def law(power: float = 1.0) -> Law:
    return Law(what="", draw=lambda s, n: uniforms(s, n) ** power, cdf=lambda x: np.clip(x, 0, 1), draws=2000)


def subject(name: str, *, value: float = 1.0, power: float = 1.0, broken: str = "") -> Subject:
    trials = (Analysis(what="", value=lambda: value, claimed=1.0), law(power))
    return Subject(name=name, claim="at most 1", trials=trials, broken=broken)


def test_the_error_of_a_whole_run_is_shared_among_what_uses_chance() -> None:
    found = refute([subject("a"), subject("b"), subject("c")])
    errors = [outcome.error for verdict in found.verdicts for outcome in verdict.outcomes]
    assert errors == [0.0, FALSE_ALARM / 3] * 3
    assert found.error_spent <= FALSE_ALARM == 1e-6
    assert refute([subject("a")], false_alarm=0.01).error_spent == 0.01


def test_passed_means_that_the_sound_survive_and_the_broken_fall() -> None:
    sound, wrong = subject("sound"), subject("wrong", value=2.0)
    caught, missed = subject("caught", power=2.0, broken="a law"), subject("missed", broken="a claim")
    assert refute([sound, caught]).passed
    for bad in (wrong, missed):
        found = refute([sound, caught, bad])
        assert not found.passed
        assert [verdict.name for verdict in found.unexpected_verdicts()] == [bad.name]
        assert "FAILED" in found.summary()
        assert "NOT AS IT SHOULD BE" in found.table()
    assert refute([caught]).verdicts[0].refuted_by() == ("law",)


def test_the_table_says_by_which_test() -> None:
    table = refute([subject("sound"), subject("caught", power=2.0, broken="a law")]).table()
    rows = {
        line.split()[0]: line.split()[1:] for line in table.splitlines() if not line.startswith(("-", " "))
    }
    assert rows["sound"] == ["-", "-", "-", "survived", "-", "-", "survived"]
    assert rows["caught"] == ["-", "-", "-", "REFUTED", "-", "-", "survived"]


def test_a_replay_without_power_is_called_weak_and_counted() -> None:
    def replays(power: float) -> Subject:
        @dataclass(frozen=True)
        class Replayed:
            spends: bool = False
            test: Test = "replay"

            def run(self, source: Source, *, error: float) -> Outcome:
                return Outcome(
                    test="replay", what="", statistic=power, bound=1.0, error=0.0, reached={"all": power}
                )

        return Subject(name=f"at {power}", claim="", trials=(Replayed(),))

    found = refute([replays(0.4), replays(0.99)])
    assert [verdict.name for verdict in found.weak_verdicts()] == ["at 0.4"]
    assert "1 weak (at 0.4)" in found.summary()
    assert "0.400 weak" in found.table()
    assert "0.990" in found.table()
    assert found.passed


def test_a_kind_of_release_without_power_is_named_though_others_have_it() -> None:
    @dataclass(frozen=True)
    class Replayed:
        spends: bool = False
        test: Test = "replay"

        def run(self, source: Source, *, error: float) -> Outcome:
            reached = {"gradients": 1.0, "squares": 0.5}
            return Outcome(test="replay", what="", statistic=1.0, bound=1.0, error=0.0, reached=reached)

    found = refute([Subject(name="two kinds", claim="", trials=(Replayed(),))])
    assert not found.weak_verdicts()
    assert found.verdicts[0].undertested_releases() == {"squares": 0.5}
    assert "1 kinds of release below 0.98 (two kinds: squares 0.50)" in found.summary()


def test_fixed_seeds_repeat_and_do_not_depend_on_company() -> None:
    alone, together = refute([subject("b")]), refute([subject("a"), subject("b")])
    assert alone.verdicts[0].outcomes[1].statistic == together.verdicts[1].outcomes[1].statistic
    other = refute([subject("c")]).verdicts[0].outcomes[1].statistic
    assert other != alone.verdicts[0].outcomes[1].statistic
    fresh = {refute([subject("b")], fresh=True).verdicts[0].outcomes[1].statistic for _ in range(3)}
    assert len(fresh) == 3
    assert "fresh entropy" in refute([subject("b")], fresh=True).summary()


def test_the_result_is_plain_data() -> None:
    found = refute([subject("sound"), subject("caught", power=2.0, broken="a law")])
    stored = json.loads(json.dumps(found.to_json()))
    assert stored["passed"] is True
    assert [verdict["refuted"] for verdict in stored["verdicts"]] == [False, True]
    assert stored["error_spent"] <= stored["false_alarm"]


def test_each_verdict_is_told_as_it_is_reached() -> None:
    told: list[str] = []
    refute([subject("a"), subject("b")], step=lambda verdict: told.append(verdict.name))
    assert told == ["a", "b"]


def test_refusals() -> None:
    with pytest.raises(ParameterError, match="subjects"):
        refute([])
    with pytest.raises(ParameterError, match="false_alarm"):
        refute([subject("a")], false_alarm=0.0)

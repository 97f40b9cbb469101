"""What a run was charged for fits into its promise when it is composed again, and does not where a currency errs."""

from __future__ import annotations

import pytest

from holdfast.errors import ParameterError
from holdfast.noise._source import Source
from holdfast.refute._broken import UnderFault
from holdfast.refute._faults import FAULTS
from holdfast.refute._planting import PlantedFault
from holdfast.refute._price import PriceTrial
from holdfast.refute._subjects import subjects


@pytest.mark.parametrize("name", ["noisy_gd replace", "mwem replace", "scs13 zero_out", "search parts"])
def test_sound_runs_spend_what_they_promise(name: str) -> None:
    (subject,) = subjects(name)
    trials = [trial for trial in subject.trials if isinstance(trial, PriceTrial)]
    assert trials
    shares = [trial.run(Source(seed=1), error=0.0) for trial in trials]
    assert all(not one.refuted for one in shares)
    assert max(one.statistic for one in shares) > 0.99, (
        "all of it is spent: a limit a little too large would be seen"
    )


@pytest.mark.parametrize("name", ["gdp_limit_too_large", "zcdp_limit_too_large", "renyi_limit_forgets_delta"])
def test_a_currency_that_errs_falls(name: str) -> None:
    (fault,) = (fault for fault in FAULTS if fault.name == name)
    outcome = UnderFault(fault=fault).run(Source(seed=1), error=0.0)
    assert outcome.refuted
    assert outcome.test == "analysis"


def test_a_fault_that_only_crashes_is_not_counted() -> None:
    crash = PlantedFault(
        name="crash",
        target="learn.methods.adassp:adassp",
        old="noisy = account.release(",
        new="noisy = nothing(",
        why="",
        subjects=("search parts", "adassp"),
        test="freshness",
    )
    with pytest.raises(ParameterError, match=r"takes none|does not run"):
        UnderFault(fault=crash).run(Source(seed=1), error=1e-9)

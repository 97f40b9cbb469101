from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdfast._assumption import Assumption
from holdfast.errors import FormatError, NotPrivateWarning, ParameterError
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, Account, Gaussian
from holdfast.release import Provenance, Release
from holdfast.release._certificate import Certificate

NOISE = Gaussian(sigma=2.0, l2_sensitivity=1.0)
IDEALISED = Gaussian(sigma=2.0, l2_sensitivity=1.0, arithmetic="idealised")


def made(account: Account, value: Any = 1.0, **options: Any) -> Release[Any]:
    return Release.of(account, value, method="a test", **options)


def test_the_guarantee_is_the_limit_not_what_was_spent() -> None:
    account = Account(ZCDP(1.0))
    account.release(NOISE, [1, 2])
    assert made(account).guarantee.curve == ZCDP(1)
    assert made(account.split(0.5)[0]).guarantee.curve == ZCDP(0.5)


def test_seeded_noise_is_not_private_and_says_so_everywhere() -> None:
    with pytest.warns(NotPrivateWarning, match="seed"):
        release = made(Account(ZCDP(1.0), seed=1))
    assert not release.private
    assert release.provenance.noise == "seeded"
    assert release.summary().startswith("NOT PRIVATE")


def test_secure_noise_is_private_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = made(Account(ZCDP(1.0)))
    assert release.private
    assert "NOT PRIVATE" not in release.summary()


def test_one_seeded_charge_makes_the_whole_account_not_private(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l") as ledger:
        ledger.dataset("d", limit=ZCDP(1.0))
        ledger.account("d", name="a", seed=5).release(NOISE, [1])
        with pytest.warns(NotPrivateWarning):
            assert not made(ledger.account("d", name="a")).private


def test_arithmetic_is_idealised_if_any_of_it_was() -> None:
    account = Account(ZCDP(10.0))
    first, second = account.split(0.5, 0.5)
    first.release(NOISE, [1.0])
    assert made(account).provenance.arithmetic == "strict"
    second.release(IDEALISED, [1.0])
    assert made(account).provenance.arithmetic == "idealised"
    assert made(first).provenance.arithmetic == "strict"


def test_a_release_points_to_its_ledger_entries_and_head(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l") as ledger:
        ledger.dataset("d", limit=ZCDP(1.0))
        ledger.account("d", name="other", limit=ZCDP(0.25)).release(NOISE, [1])
        account = ledger.account("d", name="mine", limit=ZCDP(0.5))
        value = account.release(NOISE, [1, 2])
        account.release(NOISE, [1, 2])
        provenance = made(account, value).provenance
        charges = [e.number for e in ledger.history(account="mine") if e.kind == "charge"]
        assert list(provenance.entries) == charges
        assert len(charges) == 2
        assert provenance.account == f"{ledger.id}/d/mine"
        assert ledger.verify(head=provenance.head).ok
    assert made(Account(ZCDP(1.0))).provenance.head == ""


def test_what_is_given_is_kept(tmp_path: Path) -> None:
    claim = Certificate(name="n", statement="s", alpha=1.0, confidence=0.5, query_class="q")
    release = made(
        Account(ZCDP(1.0)),
        {"w": np.arange(3)},
        parameters={"rate": np.float64(0.5), "shape": (1, 2)},
        schema_hash="00ff",
        certificates=[claim],
        assumptions=[Assumption(kind="labels", text="labels are public")],
        theorem="CMS11, Theorem 9",
    )
    assert release.guarantee.assumptions == (Assumption(kind="labels", text="labels are public"),)
    assert release.guarantee.theorem == "CMS11, Theorem 9"
    assert release.provenance.parameters == {"rate": 0.5, "shape": [1, 2]}
    assert release.certificates == (claim,)
    release.save(tmp_path / "r")
    again = Release.load(tmp_path / "r")
    assert again == release
    assert again.summary() == release.summary()
    for part in ("00ff", "a test", "CMS11", "labels are public", claim.summary()):
        assert part in again.summary()


def test_a_release_whose_name_is_taken_is_saved_beside(tmp_path: Path) -> None:
    first, second = (made(Account(ZCDP(1.0)), {"w": np.array([w])}) for w in (1.0, 2.0))
    path = tmp_path / "model.holdfast"
    path.write_bytes(first.file_bytes())  # of an earlier run
    first.save(path)
    with pytest.raises(ParameterError, match="must be a new file") as error:
        second.save(path)
    (beside,) = (other for other in tmp_path.iterdir() if other != path)
    assert str(beside) in str(error.value)
    assert (Release.load(path), Release.load(beside)) == (first, second)
    second.save(path, overwrite=True)
    assert Release.load(path) == second
    first.save(path)  # this process wrote what is there
    assert Release.load(path) == first


def test_equality_looks_into_arrays() -> None:
    release = made(Account(ZCDP(1.0)), {"w": np.array([1.0, np.nan])})
    assert release == dataclasses.replace(release, value={"w": np.array([1.0, np.nan])})
    assert release != dataclasses.replace(release, value={"w": np.array([1.0, 2.0])})
    assert release != dataclasses.replace(release, value={"w": np.array([1.0, np.nan], np.float32)})
    assert release != dataclasses.replace(
        release, provenance=dataclasses.replace(release.provenance, method="x")
    )
    assert release != 3


def test_provenance_is_checked_where_it_is_born() -> None:
    good = Provenance(method="m")
    assert Provenance.from_json(json.loads(json.dumps(good.to_json()))) == good
    for wrong in (
        {"noise": "none"},
        {"arithmetic": "exact"},
        {"created": "yesterday"},
        {"created": "20250131"},
        {"entries": (-1,)},
        {"entries": (1.5,)},
        {"entries": 3},
        {"parameters": {"x": object()}},
        {"parameters": {"x": float("nan")}},
        {"parameters": {1: 2}},
        {"method": 3},
        {"schema_hash": 3},
    ):
        with pytest.raises(ParameterError):
            dataclasses.replace(good, **wrong)
        with pytest.raises(FormatError):
            Provenance.from_json(good.to_json() | wrong)
    with pytest.raises(FormatError):
        Provenance.from_json({})
    assert "entries 1-3, 7" in dataclasses.replace(good, entries=(1, 2, 3, 7), head="ab").summary()


def test_a_seed_marks_the_promise_too() -> None:
    """Where the history says that the noise can be computed again, nothing is promised, whatever the guarantee says."""
    release = made(Account(ZCDP(1.0)))
    assert release.guarantee.private
    history = dataclasses.replace(release.provenance, noise="seeded")
    assert not dataclasses.replace(release, provenance=history).guarantee.private

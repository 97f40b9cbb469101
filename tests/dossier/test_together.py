from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.dossier.promise import together
from holdfast.errors import AdjacencyError
from holdfast.ledger import Ledger
from holdfast.privacy import ZCDP, Account, Gaussian, GaussianDP, PrivacyUnit
from holdfast.release import Release

NOISE = Gaussian(sigma=4.0, l2_sensitivity=1.0)


def of(account: Account, **more: object) -> Release[object]:
    return Release.of(account, account.release(NOISE, [1]), method="m", **more)  # type: ignore[arg-type]


def test_releases_from_memory_compose() -> None:
    one, two = (of(Account(GaussianDP(0.3))) for _ in range(2))
    assert together([one, two]).curve.as_gdp() == pytest.approx(2 * 0.3**2)
    assert together([one]) == one.guarantee


def test_releases_of_one_account_share_its_limit(tmp_path: Path) -> None:
    with Ledger.create(tmp_path / "l.db") as ledger:
        ledger.dataset("d", limit=ZCDP(4.0))
        account = ledger.account("d", name="a", limit=ZCDP(1.0))
        early, late = of(account), of(account)
        other = of(ledger.account("d", name="b", limit=ZCDP(0.5)))
        left, right = (of(share) for share in ledger.account("d", name="c", limit=ZCDP(1.0)).split(0.5, 0.5))
    # The limit of the account covers both of its releases, in whichever order they are given.
    assert together([early, late]).curve == together([late, early]).curve == late.guarantee.curve
    assert together([early, other, late]).curve.as_zcdp() == 1.5
    assert together([left, right]).curve.as_zcdp() == 1


def test_assumptions_of_all_are_kept(tmp_path: Path) -> None:
    one = of(Account(GaussianDP(0.3)), assumptions=["a", "b"])
    two = of(Account(GaussianDP(0.3)), assumptions=["b", "c"])
    assert together([one, two]).assumptions == ("a", "b", "c")


def test_different_units_do_not_mix() -> None:
    one = of(Account(GaussianDP(0.3)))
    two = of(Account(GaussianDP(0.3), unit=PrivacyUnit.user("patient", max_rows=3)))
    with pytest.raises(AdjacencyError):
        together([one, two])

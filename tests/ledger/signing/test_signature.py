from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import FormatError, LedgerError
from holdfast.ledger import Ledger, SignedHead, create_key
from holdfast.privacy import Laplace, PureDP
from tests.ledger.test_verification import find, rewrite


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    book = Ledger.create(tmp_path / "ledger.db")
    book.dataset("d", limit=PureDP(1.0))
    return book


def test_a_signed_ledger_verifies_with_the_key_and_no_other(ledger: Ledger, tmp_path: Path) -> None:
    public, other = create_key(tmp_path / "key.pem"), create_key(tmp_path / "other.pem")
    assert (tmp_path / "key.pem").stat().st_mode & 0o077 == 0
    assert ledger.verify(public_key=public).problems == ("the ledger holds no signature",)
    signed = ledger.sign(tmp_path / "key.pem")
    ledger.account("d").release(Laplace(scale=10.0, l1_sensitivity=1.0), [1.0])
    found = ledger.verify(public_key=public, head=signed.head)
    assert found.ok
    assert found.signed_up_to == signed.number == 1
    assert "signed up to entry 1 by the given key" in found.summary()
    assert "not of the given key" in ledger.verify(public_key=other).problems[0]
    assert "not checked" in ledger.verify().summary()


def test_a_forger_without_the_key_cannot_move_a_signature(ledger: Ledger, tmp_path: Path) -> None:
    public = create_key(tmp_path / "key.pem")
    ledger.sign(tmp_path / "key.pem")
    ledger.close()
    rewrite(ledger.path, lambda entries: find(entries, "dataset").update(approver="somebody else"))
    assert (
        "signs another head"
        in Ledger.open(ledger.path, check="nothing").verify(public_key=public).problems[0]
    )


def test_a_forged_signature_over_the_right_head_is_found(ledger: Ledger, tmp_path: Path) -> None:
    public = create_key(tmp_path / "key.pem")
    ledger.sign(tmp_path / "key.pem")
    ledger.close()
    rewrite(ledger.path, lambda entries: find(entries, "signature").update(signature="00" * 64))
    assert "not of the given key" in Ledger.open(ledger.path).verify(public_key=public).problems[0]


def test_a_signed_head_is_kept_outside_and_read_back(ledger: Ledger, tmp_path: Path) -> None:
    public = create_key(tmp_path / "key.pem")
    signed = ledger.sign(tmp_path / "key.pem")
    signed.save(tmp_path / "head.json")
    again = SignedHead.load(tmp_path / "head.json")
    assert again == signed
    assert again.verify(public)
    data = json.loads((tmp_path / "head.json").read_text())
    assert not SignedHead.from_json(data | {"number": 7}).verify(public)
    assert not SignedHead.from_json(data | {"signature": "xyz"}).verify(public)
    wrong: Any
    for wrong in ({}, data | {"format": "holdfast-head/2"}, 3):
        with pytest.raises(FormatError):
            SignedHead.from_json(wrong)
    with pytest.raises(FormatError):
        SignedHead.load(tmp_path / "key.pem")


def test_a_file_that_is_no_key_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no key")
    with pytest.raises(LedgerError, match="private key"):
        ledger.sign(tmp_path / "text")
    with pytest.raises(LedgerError, match="private key"):
        ledger.sign(tmp_path / "absent")
    ledger.sign(str(create_key(tmp_path / "key.pem").with_suffix(".pem")))
    with pytest.raises(FormatError, match="public key"):
        ledger.verify(public_key=tmp_path / "text")

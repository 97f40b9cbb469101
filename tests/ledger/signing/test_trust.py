"""Whose keys count, and for what; and entries that close releases, pages and accounts' approvals."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import FormatError, LedgerError, NotPrivateWarning
from holdfast.ledger import Ledger, create_key
from holdfast.ledger._entry import LedgerEntry
from holdfast.ledger._replay import Book, BrokenRule
from holdfast.ledger._signing.signature import Signature
from holdfast.ledger._signing.trust import Trust, TrustedKey
from holdfast.privacy import ZCDP, Gaussian
from holdfast.release import Release

pytest.importorskip("cryptography")


@pytest.fixture
def signed(tmp_path: Path) -> Signature:
    create_key(tmp_path / "officer.pem")
    return Signature.sign(tmp_path / "officer.pem", about="file", content={"sha256": "ab" * 32})


def test_another_key_does_not_count(signed: Signature, tmp_path: Path) -> None:
    assert Trust.of(tmp_path / "officer.pub").accepts(signed, "release")
    assert not Trust.of(create_key(tmp_path / "other.pem")).accepts(signed, "release")


def test_a_key_signs_what_it_may(signed: Signature) -> None:
    trust = Trust((TrustedKey(public_key=signed.public_key, name="R. Officer", may=("page",)),))
    assert trust.accepts(signed, "page")
    assert not trust.accepts(signed, "release")
    assert trust.accepts(signed, "page", name="R. Officer")
    assert not trust.accepts(signed, "page", name="S. Officer")


def test_a_signature_is_over_its_content(signed: Signature) -> None:
    assert signed.holds()
    assert not replace(signed, content={"sha256": "cd" * 32}).holds()
    assert not replace(signed, about="extract").holds()
    assert not replace(signed, public_key="zz").holds()


def test_a_trust_file_lists_keys(signed: Signature, tmp_path: Path) -> None:
    path = tmp_path / "trust.toml"
    key = f'name = "R. Officer"\npublic_key = "{signed.public_key}"\nmay = ["page"]'
    path.write_text(f'format = "holdfast-trust/1"\n[[key]]\n{key}\n', encoding="utf-8")
    assert Trust.of(path).accepts(signed, "page")
    for wrong in (
        "",
        "format = 3",
        'format = "holdfast-trust/1"\nkey = 3',
        path.read_text().replace("page", "fly"),
        path.read_text().replace("may", "mai"),
        path.read_text().replace("[[key]]", "more = 1\n[[key]]"),
    ):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(FormatError):
            Trust.of(path)


@pytest.mark.parametrize("name", ["holdfast-trust/0", "holdfast-trust/2", "holdfast-ledger/1"])
def test_a_trust_file_of_another_format_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "trust.toml").write_text(f'format = "{name}"\n[[key]]\npublic_key = "{"ab" * 32}"\n')
    with pytest.raises(FormatError, match=f"has the format '{name}', this holdfast reads holdfast-trust/1"):
        Trust.of(tmp_path / "trust.toml")


def ledger_with_a_release(path: Path, *, seed: int | None) -> None:
    with Ledger.create(path) as ledger:
        ledger.dataset("clinic", limit=ZCDP(1.0))
        account = ledger.account("clinic", name="count", limit=ZCDP(0.1), seed=seed)
        value = account.release(Gaussian(sigma=9.0, l2_sensitivity=1.0), [3.0])
        Release.of(account, value, method="a count")


def test_a_release_is_closed_with_its_hash(tmp_path: Path) -> None:
    ledger_with_a_release(tmp_path / "ledger.db", seed=None)
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        entry = ledger.history()[-1]
    assert entry.kind == "release"
    assert (entry.body["noise"], entry.body["charges"], len(entry.body["sha256"])) == ("secure", 1, 64)


def test_a_seeded_release_is_not_closed_as_secure(tmp_path: Path) -> None:
    with pytest.warns(NotPrivateWarning):
        ledger_with_a_release(tmp_path / "ledger.db", seed=1)
    with Ledger.open(tmp_path / "ledger.db") as ledger, ledger._store.reading() as chain:
        *before, last = chain.entries()
        book = Book(chain)
        for entry in before:
            book.apply(entry)
        forged = LedgerEntry(
            number=last.number,
            previous=last.previous,
            nonce=last.nonce,
            at=last.at,
            kind="release",
            body=dict(last.body) | {"noise": "secure"},
        )
        with pytest.raises(BrokenRule, match="as secure"):
            book.apply(forged)


def test_an_approval_is_signed_by_whom_it_names(tmp_path: Path) -> None:
    public = create_key(tmp_path / "head.pem")
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        ledger.dataset("clinic", limit=ZCDP(1.0))
        ledger.account("clinic", name="count", limit=ZCDP(0.1), approver="M. Head")
        with pytest.raises(LedgerError, match="as its approver"):
            ledger.approve("count", tmp_path / "head.pem", approver="Somebody")
        with pytest.raises(LedgerError, match="no account"):
            ledger.approve("another", tmp_path / "head.pem", approver="M. Head")
        ledger.approve("count", tmp_path / "head.pem", approver="M. Head")
        ledger.sign(tmp_path / "head.pem")
        assert ledger.verify(public_key=public).ok
        other = create_key(tmp_path / "other.pem")
        assert any("approval" in text for text in ledger.verify(public_key=other).problems)


def test_an_extract_holds_its_datasets_only(tmp_path: Path) -> None:
    create_key(tmp_path / "key.pem")
    with Ledger.create(tmp_path / "ledger.db") as ledger:
        for name in ("clinic", "school"):
            ledger.dataset(name, limit=ZCDP(1.0))
            ledger.account(name, name=f"{name} 1", limit=ZCDP(0.1))
        made = ledger.extract(["clinic"], tmp_path / "key.pem")
        assert len(made["entries"]) == 3
        assert "school" not in str(made["entries"])
        assert Signature.from_json(made["signature"]).holds()
        with pytest.raises(LedgerError, match="no dataset"):
            ledger.extract(["hospital"], tmp_path / "key.pem")


def test_a_ledger_has_its_own_tables_only(tmp_path: Path) -> None:
    ledger_with_a_release(tmp_path / "ledger.db", seed=None)
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as sql, sql:
        sql.execute("CREATE VIEW more AS SELECT 1")
    with pytest.raises(LedgerError, match="other tables"):
        Ledger.open(tmp_path / "ledger.db")

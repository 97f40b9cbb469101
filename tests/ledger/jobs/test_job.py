"""Finding E3 as a class: wherever a piece of work fails, nothing that was paid for is lost while it can be had."""

from __future__ import annotations

import stat
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BudgetExceeded, FormatError, LedgerError, NotWritten, ParameterError
from holdfast.ledger import Job, Ledger, kept_result, once
from holdfast.ledger._jobs import job
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.privacy import Account, Laplace, PureDP
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.release import Release

TENTH = Laplace(scale=10.0, l1_sensitivity=1.0)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "l.db")
    made.dataset("d", limit=PureDP(1.0))
    return made


def keyed(account: Account) -> Release[Any]:
    """Work that can go on: two releases under keys, a tenth of the budget each."""
    job = ResumableAccount.of(account, None)
    return Release.of(account, [job.release(TENTH, [0.0]), job.release(TENTH, [1.0])], method="two")


def drawn(account: Account) -> Release[Any]:
    """Work that cannot: what a permit gave is gone with the process."""
    permit = account.permit(TENTH, times=2)
    return Release.of(account, [permit.release([0.0]), permit.release([1.0])], method="two")


class Wanted:
    """A place to write to, that fails as often as told."""

    def __init__(self, *failures: BaseException) -> None:
        self.failures = list(failures)
        self.written: list[Release[Any]] = []

    def __call__(self, release: Release[Any]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.written.append(release)


def files(ledger: Ledger) -> list[Path]:
    return sorted(ledger.path.with_name(f"{ledger.path.name}.kept").glob("*"))


@pytest.mark.parametrize("make", [keyed, drawn])
@pytest.mark.parametrize(
    "failure",
    [
        OSError(28, "No space left on device"),
        FileNotFoundError(2, "gone"),
        ValueError("Frau Müller"),
        KeyboardInterrupt(),
    ],
)
def test_what_cannot_be_written_is_kept_and_found_by_its_key(
    ledger: Ledger, make: Callable[[Account], Release[Any]], failure: BaseException
) -> None:
    wanted = Wanted(failure)
    with pytest.raises(KeyboardInterrupt if isinstance(failure, KeyboardInterrupt) else NotWritten) as raised:
        once(ledger, "d", Job(key="june", make=make, write=wanted), limit=PureDP(0.5))
    assert "Müller" not in str(raised.value)
    lying = kept_result(ledger, "june")
    assert lying is not None
    assert ledger.spent("d") == PureDP(Fraction(1, 5))
    assert ledger.remaining("d") == PureDP(Fraction(4, 5))  # the account is closed already
    (file,) = files(ledger)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert Release.load(file) == lying
    again = once(ledger, "d", Job(key="june", make=_never, write=wanted), limit=PureDP(0.5))
    assert again.found
    assert wanted.written == [lying]
    assert ledger.spent("d") == PureDP(Fraction(1, 5))
    assert kept_result(ledger, "june") is None
    assert not list(ledger.path.parent.glob("*.kept"))
    with pytest.raises(LedgerError, match="another key"):
        once(ledger, "d", Job(key="june", make=_never, write=wanted))
    assert ledger.verify().ok


def _never(account: Account) -> Release[Any]:
    raise AssertionError("it was made before")


def test_a_key_is_bound_to_what_was_asked(ledger: Ledger) -> None:
    with pytest.raises(NotWritten):
        once(
            ledger,
            "d",
            Job(key="june", make=keyed, write=Wanted(OSError(28, "full")), about={"target": "ill"}),
        )
    with pytest.raises(ParameterError, match="asked something else"):
        once(ledger, "d", Job(key="june", make=_never, write=Wanted(), about={"target": "age"}))
    assert once(ledger, "d", Job(key="june", make=_never, write=Wanted(), about={"target": "ill"})).found


def test_a_result_of_another_account_is_not_taken_for_this_one(ledger: Ledger) -> None:
    for key in ("a", "b"):
        with pytest.raises(NotWritten):
            once(ledger, "d", Job(key=key, make=keyed, write=Wanted(OSError(28, "full"))), limit=PureDP(0.2))
    shelf = Shelf(ledger.path)
    shelf.place("a").write_bytes(shelf.place("b").read_bytes())
    with pytest.raises(FormatError, match="not paid for by"):
        once(ledger, "d", Job(key="a", make=_never, write=Wanted()))


def test_half_a_result_is_never_kept(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Path.write_bytes

    def torn(path: Path, data: bytes) -> int:
        write(path, data[:100])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", torn)
        with pytest.raises(KeyboardInterrupt):
            once(ledger, "d", Job(key="june", make=keyed, write=Wanted()), limit=PureDP(0.5))
    assert files(ledger) == []
    wanted = Wanted()
    assert not once(ledger, "d", Job(key="june", make=keyed, write=wanted), limit=PureDP(0.5)).found
    assert ledger.spent("d") == PureDP(Fraction(1, 5))  # by its keys it went on where it was


def test_work_that_is_refused_before_its_first_charge_opens_nothing(ledger: Ledger) -> None:
    def wrong(account: Account) -> Release[Any]:
        raise ParameterError("target must be a column")

    before = ledger.head
    for limit in (None, PureDP(0.5)):
        with pytest.raises(ParameterError):
            once(ledger, "d", Job(key="june", make=wrong, write=Wanted()), limit=limit)
    assert ledger.head == before
    assert not once(ledger, "d", Job(key="june", make=keyed, write=Wanted())).found
    assert [entry.body["account"] for entry in ledger.history() if entry.kind == "account"] == ["june"]


def test_an_account_takes_no_more_than_it_was_told_there_is(ledger: Ledger) -> None:
    """Without a limit it takes all that is left; if that moved before the first charge, nothing is charged."""

    def overtaken(account: Account) -> Release[Any]:
        ledger.account("d", name="quicker", limit=PureDP(0.5))
        return keyed(account)

    with pytest.raises(BudgetExceeded, match="moved meanwhile"):
        once(ledger, "d", Job(key="june", make=overtaken, write=Wanted()))
    assert ledger.remaining("d") == PureDP(0.5)
    assert not [entry for entry in ledger.history() if entry.kind == "charge"]


STAGES = ("before", "between", "keep", "torn", "close", "write", "remove", "none")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(STAGES), max_size=5), st.booleans())
def test_however_often_it_fails_it_is_paid_once_or_said_to_be_gone(
    failing: list[str], can_go_on: bool
) -> None:
    """Work under keys is charged once in all. Other work is charged once for each time that its noise is gone."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        ledger = Ledger.create(Path(folder) / "l.db")
        ledger.dataset("d", limit=PureDP(10.0))
        wanted, lost = Wanted(), 0
        for stage in [*failing, "none", "none"]:
            if wanted.written:
                break
            paid = ledger.spent("d")
            with patch.context() as planted:
                planted_at(stage, planted)
                try:
                    made = once(
                        ledger,
                        "d",
                        Job(
                            key="june",
                            make=keyed if can_go_on else drawn,
                            write=wanted if stage != "write" else Wanted(OSError(28, "full")),
                            again=True,
                        ),
                        limit=PureDP(0.5),
                    )
                except (Planted, NotWritten, LedgerError):
                    pass
                else:
                    assert wanted.written == [made.release]
            if not can_go_on and stage != "close":
                assert _held(ledger) == 0
            lost += not can_go_on and paid != ledger.spent("d") and not _at_hand(ledger, wanted)
        assert len(wanted.written) == 1
        assert ledger.spent("d") == PureDP(Fraction(1 + lost, 5))
        assert can_go_on <= (lost == 0)
        assert ledger.remaining("d") == PureDP(10 - Fraction(1 + lost, 5))  # nothing is held
        job.finish_written_work(ledger, "june")  # who was killed just before the end left it behind
        assert files(ledger) == []
        assert ledger.verify().ok
        ledger.close()


def _held(ledger: Ledger) -> Fraction:
    return ledger.standing("d").held.amounts[0]


def _at_hand(ledger: Ledger, wanted: Wanted) -> bool:
    return bool(wanted.written) or kept_result(ledger, "june") is not None


class Planted(BaseException):
    """As if the process were killed."""


def planted_at(stage: str, patch: pytest.MonkeyPatch) -> None:
    """Fail at one place of the way."""

    def killed(*_: Any, **__: Any) -> Any:
        raise Planted

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    match stage:
        case "before":
            patch.setattr(Account, "__init__", killed)
        case "between":
            patch.setattr(Release, "of", killed)
        case "keep":
            patch.setattr(Shelf, "keep", full)
        case "torn":
            patch.setattr(Shelf, "keep", killed)
        case "close":
            patch.setattr(job, "_close", killed)
        case "remove":
            patch.setattr(Shelf, "remove", killed)


def test_values_are_the_same_when_work_goes_on(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def watched(account: Account) -> Release[Any]:
        made = keyed(account)
        seen.append(made.value)
        if len(seen) == 1:
            raise KeyboardInterrupt
        return made

    with pytest.raises(KeyboardInterrupt):
        once(ledger, "d", Job(key="june", make=watched, write=Wanted()), limit=PureDP(0.5))
    once(ledger, "d", Job(key="june", make=watched, write=Wanted()), limit=PureDP(0.5))
    assert all(np.array_equal(a, b) for a, b in zip(*seen, strict=True))


def test_a_kept_result_that_is_torn_is_named_with_the_way_out(ledger: Ledger) -> None:
    shelf = Shelf(ledger.path)
    shelf.folder.mkdir()
    shelf.place("march").write_bytes(b"half of it")
    with pytest.raises(FormatError, match=r"\.holdfast' cannot be read .* move it away"):
        shelf.find("march", paid_by="")

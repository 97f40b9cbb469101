"""Never one draw more than charged: threads, values that call back, forks, signals, copies (findings P1 and P2)."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import HoldfastError, ParameterError
from holdfast.ledger import Ledger
from holdfast.noise._source import Source
from holdfast.privacy import Account, Gaussian, Laplace, Permit, PureDP, SubsampledGaussian, SubsampledPure
from holdfast.privacy._account.journal import Charge, Entry, MemoryJournal
from holdfast.privacy._account.parallel import accounts_for_parts
from holdfast.privacy._account.resume import ResumableAccount
from tests.review.support import all_at_once
from tests.studies.size import Study, trials

TRIALS = trials(20_000)
THREADS = 16


@dataclass(frozen=True, kw_only=True)
class Counted(Laplace):
    """It costs 1 of pure privacy, and notes every draw by the value that it is asked about."""

    scale: float = 1.0
    l1_sensitivity: float = 1.0

    drawn = Counter[int]()

    def check(self, value: Any) -> Any:
        return value

    def sample(self, value: Any, source: Source) -> Any:
        self.drawn.update([value])  # no noise: that is not what is looked at here
        return float(value)


NOISE = Counted()


@pytest.fixture(autouse=True)
def _nothing_drawn() -> None:
    NOISE.drawn.clear()


def _tries(work: Callable[[], Any]) -> bool:
    with suppress(HoldfastError):
        work()
        return True
    return False


# Threads: 16 of them, which change places every microsecond, ask 20,000 permits and accounts for one use too many.


def _from_permit(which: int) -> Callable[[], Any]:
    permit = Account(PureDP(1.0)).permit(NOISE, times=1)
    return lambda: permit.release(which)


def _from_account(which: int) -> Callable[[], Any]:
    account = Account(PureDP(1.0))
    return lambda: account.release(NOISE, which)


def _from_share(which: int) -> Callable[[], Any]:
    share = Account(PureDP(2.0)).split(0.5)[0]
    return lambda: share.release(NOISE, which)


def _from_job(which: int) -> Callable[[], Any]:
    permit = ResumableAccount.of(Account(PureDP(2.0)), "job").permit(NOISE, times=1)
    return lambda: permit.release(which)


@pytest.mark.parametrize(
    ("make", "share"), [(_from_permit, 1), (_from_account, 5), (_from_share, 20), (_from_job, 10)]
)
def test_of_sixteen_threads_one_draws(make: Callable[[int], Any], share: int, study: Study) -> None:
    count = TRIALS // share
    asked = [make(which) for which in range(count)]
    got: list[int] = []

    def ask() -> None:
        got.append(sum(_tries(one) for one in asked))

    all_at_once(ask, threads=THREADS)
    study.note(trials=count, threads=THREADS, drawn=sum(got))
    assert sum(got) == count
    assert NOISE.drawn == Counter(range(count))


# Whatever runs between the lines of a draw: tracing stands for signals, finalisers and whatever else may come.


@contextmanager
def _between_lines(work: Callable[[], Any]) -> Iterator[None]:
    """Run the work before every line of `account.py` and `journal.py`, but for the work's own."""
    busy = False

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal busy
        if "privacy/_account/" not in frame.f_code.co_filename.replace(os.sep, "/"):
            return None
        if event == "line" and not busy:
            busy = True
            try:
                work()
            finally:
                busy = False
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def _at_line(at: int, work: Callable[[], Any]) -> Callable[[], None]:
    """The work, done once: before the line of this number."""
    lines = iter(range(10**6))
    return lambda: work() if next(lines) == at else None


@pytest.mark.parametrize("kind", ["permit", "account", "share", "whole and share", "job", "permit of a job"])
def test_code_that_runs_within_a_payment_gains_nothing(kind: str) -> None:
    """One use is there, and somebody else asks for it before each line of the payment in turn."""
    for at in range(90):
        NOISE.drawn.clear()
        account = Account(PureDP(1.0))
        share, job = account.split(1.0)[0], ResumableAccount.of(account, "job")
        ways: dict[str, Callable[[int], Any]] = {
            "permit": account.permit(NOISE, times=1).release if kind == "permit" else lambda value: None,
            "account": lambda value: account.release(NOISE, value),  # noqa: B023
            "share": lambda value: share.release(NOISE, value),  # noqa: B023
            "whole and share": lambda value: (share if value else account).release(NOISE, value),  # noqa: B023
            "job": lambda value: job.release(NOISE, value),  # noqa: B023
            "permit of a job": job.permit(NOISE, times=1).release if "job" in kind else lambda value: None,
        }
        draw = ways[kind]
        with _between_lines(_at_line(at, lambda: _tries(lambda: draw(1)))):  # noqa: B023
            _tries(lambda: draw(0))  # noqa: B023
        assert NOISE.drawn.total() <= 1, at
        assert len(account.journal.entries) <= 1


def test_a_signal_that_draws_neither_hangs_nor_gains() -> None:
    permit, account = Account(PureDP(300.0)).permit(NOISE, times=300), Account(PureDP(300.0))

    def handler(*_: object) -> None:
        _tries(lambda: permit.release(1))
        _tries(lambda: account.release(NOISE, 2))

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for turn in range(301):
            signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + turn % 200))
            _tries(lambda: permit.release(1))
            _tries(lambda: account.release(NOISE, 2))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert NOISE.drawn == Counter({1: 300, 2: 300})


@given(at=st.integers(0, 60), keyed=st.booleans())
@settings(max_examples=60)
def test_an_interrupt_at_any_line_never_leaves_a_draw_without_a_charge(at: int, keyed: bool) -> None:
    """A job that is interrupted and runs again: as many values as were charged, or fewer."""
    account, released = Account(PureDP(2.0)), 0

    def interrupt() -> None:
        raise KeyboardInterrupt

    once = _at_line(at, interrupt)
    for attempt in range(6):
        key = f"key {attempt // 2}" if keyed else None
        with suppress(KeyboardInterrupt, HoldfastError), _between_lines(once):
            account.release(NOISE, 0, key=key)
            released += 1
    distinct = {entry.number for entry in account.journal.entries if entry.state == "released"}
    assert len(distinct) <= 2
    assert released <= (2 * len(distinct) if keyed else len(distinct))
    assert account.spent().epsilon(0.0) >= len(account.journal.entries)


# Values that call back.


@dataclass
class CallsBack:
    """A value that draws when it is looked at."""

    draw: Callable[[], Any]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        self.draw()
        return np.zeros(1)


@pytest.mark.parametrize("depth", [1, 2, 7])
@pytest.mark.parametrize("uses", [1, 3])
def test_values_that_call_back_draw_what_was_paid_for(depth: int, uses: int) -> None:
    noise = Laplace(scale=1.0, l1_sensitivity=1.0)
    account, got = Account(PureDP(2.0 * uses)), []
    permit = account.permit(noise, times=uses)

    def value(left: int) -> Any:
        return CallsBack(lambda: [draw(left - 1) for draw in (by_permit, by_account)]) if left else [0.0]

    def by_permit(left: int) -> None:
        got.append(_tries(lambda: permit.release(value(left))))

    def by_account(left: int) -> None:
        got.append(_tries(lambda: account.release(noise, value(left))))

    by_permit(depth)
    by_account(depth)
    assert sum(got) <= 2 * uses
    assert permit.left >= 0


# Forks: between charge and draw, during a draw, and in a namespace where the child has its parent's number.


class Forking(Counted):
    """It forks in the middle of a draw of anything but 0."""

    def sample(self, value: Any, source: Source) -> Any:
        if value != 0:
            _fork()
        return super().sample(value, source)


class ForkingJournal(MemoryJournal):
    """Between charge and draw."""

    def charge(self, charge: Charge, caps: Any) -> Entry:
        entry = super().charge(charge, caps)
        _fork()
        return entry


CHILDREN: list[int] = []


def _fork() -> None:
    CHILDREN.append(os.fork())


def _released_by_both(work: Callable[[], Any]) -> int:
    """How many of the two processes that come out of the work have a value."""
    CHILDREN.clear()
    parent = os.getpid()
    try:
        got = _tries(work)
    except BaseException:
        got = True
    if CHILDREN[0] == 0 or os.getpid() != parent:
        os._exit(int(got))
    _, status = os.waitpid(CHILDREN[0], 0)
    return int(got) + os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("where", ["draw of an account", "draw of a permit", "charge", "ledger"])
@pytest.mark.parametrize("key", [None, "key"])
def test_a_fork_between_charge_and_draw_gives_one_value(where: str, key: str | None, tmp_path: Path) -> None:
    forking = Forking()
    if where == "ledger":
        ledger = Ledger.create(tmp_path / "ledger")
        ledger.dataset("table", limit=PureDP(1.0))
        paid = ledger.account("table", name="work")
        assert _released_by_both(lambda: paid.release(forking, 1, key=key)) == 1
    elif where == "draw of a permit":
        permit = Account(PureDP(2.0)).permit(forking, times=2, key=key)
        permit.release(0)  # what is written down before the first draw must not be what refuses the second
        assert _released_by_both(lambda: permit.release(1)) == 1
    elif where == "draw of an account":
        account = Account(PureDP(1.0))
        assert _released_by_both(lambda: account.release(forking, 1, key=key)) == 1
    else:
        account = Account(PureDP(1.0), journal=ForkingJournal())
        assert _released_by_both(lambda: account.release(NOISE, 1, key=key)) == 1


def test_a_child_with_the_number_of_its_parent_is_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the first process of a container and that of a namespace within it: both have the number 1."""
    number = os.getpid()
    monkeypatch.setattr("holdfast.privacy._account.journal.os.getpid", lambda: 1)
    account = Account(PureDP(2.0))
    permit = account.permit(NOISE, times=1)
    child = os.fork()
    if child == 0:
        took = [_tries(lambda: permit.release(0)), _tries(lambda: account.release(NOISE, 0))]
        os._exit(any(took))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _tries(lambda: permit.release(0))
    assert _tries(lambda: account.release(NOISE, 0))
    monkeypatch.undo()
    assert os.getpid() == number


# Copies, and what is used in two places.


def _pickled(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, _pickled])
@pytest.mark.parametrize("kind", ["account", "share", "job", "parallel", "permit", "permit of a job"])
def test_a_copy_brings_nothing(way: Callable[[Any], Any], kind: str) -> None:
    account = Account(PureDP(1.0))
    job = ResumableAccount.of(account, "job")
    makers: dict[str, Callable[[], Any]] = {
        "account": lambda: account,
        "share": lambda: account.split(1.0)[0],
        "job": lambda: job,
        "parallel": lambda: accounts_for_parts(account, parts=1, label="one")[0],
        "permit": lambda: account.permit(NOISE, times=1),
        "permit of a job": lambda: job.permit(NOISE, times=1),
    }
    thing = makers[kind]()
    try:
        twin = way(thing)
    except TypeError:
        twin = thing
    values = [
        _tries(lambda one=one: one.release(0) if isinstance(one, Permit) else one.release(NOISE, 0))  # type: ignore[misc]
        for one in (thing, twin)
    ]
    assert sum(values) >= 1
    assert NOISE.drawn.total() == 1


def test_what_a_permit_is_for_cannot_be_changed() -> None:
    permit = Account(PureDP(1.0)).permit(NOISE, times=1)
    for name, value in (("mechanism", Counted(scale=1e-9)), ("left", 100)):
        with pytest.raises(AttributeError):
            setattr(permit, name, value)


def test_noise_comes_from_where_the_charge_says() -> None:
    """An account that is given another source between charge and draw."""
    account = Account(PureDP(1.0))
    permit = account.permit(NOISE, times=1)
    account.source = Source(seed=1)
    assert permit._source.provenance == account.journal.entries[0].charge.noise == "secure"


def test_two_runs_of_one_job_have_one_draw_for_each_charge() -> None:
    account = Account(PureDP(4.0))
    runs = [ResumableAccount.of(account, "job") for _ in range(THREADS)]
    got: list[list[float]] = []
    turn = iter(runs)

    def run() -> None:
        job = next(turn)
        got.append([job.release(Laplace(scale=1.0, l1_sensitivity=1.0), [0.0])[0] for _ in range(4)])

    all_at_once(run, threads=THREADS)
    assert len({tuple(values) for values in got}) == 1
    assert len(account.journal.entries) == 4


def test_threads_of_one_job_are_asked_for_values_of_their_own() -> None:
    """Each thread's question has a number of its own; none is given another's answer."""
    job = ResumableAccount.of(Account(PureDP(float(THREADS * 50))), "job")
    permit = job.permit(NOISE, times=THREADS * 50)
    asked, wrong = iter(range(10**6)), []

    def ask() -> None:
        for _ in range(50):
            mine = next(asked)
            wrong.extend([mine] if permit.release(mine) != mine else [])

    all_at_once(ask, threads=THREADS)
    assert wrong == []
    assert permit.left == 0


def test_processes_of_one_ledger_draw_what_was_paid_for(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "ledger")
    ledger.dataset("table", limit=PureDP(5.0))
    account = ledger.account("table", name="work")
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            os._exit(sum(_tries(lambda: account.release(NOISE, 0)) for _ in range(4)))
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    mine = sum(_tries(lambda: account.release(NOISE, 0)) for _ in range(4))
    assert sum(codes) + mine == 5
    assert ledger.verify().ok


def test_tasks_and_stacks_draw_what_was_paid_for() -> None:
    account = Account(PureDP(3.0))

    async def task() -> bool:
        await asyncio.sleep(0)
        return _tries(lambda: account.release(NOISE, 0))

    async def tasks() -> list[bool]:
        return await asyncio.gather(*(task() for _ in range(20)))

    assert sum(asyncio.run(tasks())) == 3
    permit = Account(PureDP(1.0)).permit(NOISE, times=1)
    with ExitStack() as stack:
        for _ in range(3):
            stack.callback(lambda: _tries(lambda: permit.release(1)))
    assert NOISE.drawn == Counter({0: 3, 1: 1})


def test_finalisers_and_generators_draw_what_was_paid_for() -> None:
    account = Account(PureDP(2.0))

    class Last:
        def __del__(self) -> None:
            _tries(lambda: account.release(NOISE, 0))

    def values() -> Iterator[float]:
        try:
            while True:
                yield account.release(NOISE, 0)
        finally:
            _tries(lambda: account.release(NOISE, 0))

    for _ in range(4):
        Last()
    gc.collect()
    with suppress(HoldfastError):
        list(values())
    assert NOISE.drawn.total() == 2


# Parts and samples of a job with a key: it pays when it draws, and its coins are made from the key.


def test_parts_of_a_job_with_a_key_are_refused_before_anything_is_drawn() -> None:
    """They were given for nothing: the permit that stands for them was never drawn from, so never paid for."""
    account = Account(PureDP(1.0))
    with pytest.raises(ParameterError, match="pays at once"):
        accounts_for_parts(ResumableAccount.of(account, "job"), parts=2, label="parts")
    (part,) = accounts_for_parts(ResumableAccount.of(account, None), parts=1, label="parts")
    assert part.source.provenance == "secure"
    assert account.remaining() == PureDP(0)


@pytest.mark.parametrize(
    "mechanism",
    [SubsampledPure(base=NOISE, rate=0.5), SubsampledGaussian(sigma=1.0, l2_sensitivity=1.0, rate=0.5)],
)
def test_a_secret_sample_is_refused_where_coins_are_made_from_a_key(mechanism: Any) -> None:
    account = Account(PureDP(9.0), adjacency="add_remove")
    job = ResumableAccount.of(account, "job")
    for way in (lambda: job.release(mechanism, [0.0]), lambda: job.permit(mechanism, times=1)):
        with pytest.raises(ParameterError, match="secret sample"):
            way()
    with pytest.raises(ParameterError, match="secret sample"):
        job.split(0.5)[0].release(mechanism, [0.0])
    assert not Gaussian.secret_sample

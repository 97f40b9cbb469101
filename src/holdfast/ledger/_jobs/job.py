"""once: a piece of work that is paid for once, whatever goes wrong.

The key of the work is also the name of its account. The first charge opens the account, so that work which is
refused earlier holds nothing. The result is kept beside the ledger before the account closes, and is removed from
there when it was written where it was wanted. Asked again with the same key, `once` writes the kept result; or goes
on with the charges of a run that was killed; or, where there is neither, pays. Where an account of the key was closed
without a result, the next one is called `key~2`, and so on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast._arguments import checked
from holdfast.errors import AlreadyReleased, BudgetExceeded, LedgerError, NotWritten, ParameterError, require
from holdfast.ledger._entry import canonical
from holdfast.ledger._holder import Holder
from holdfast.ledger._jobs.first_charge import first_holder, opened_by_first_charge
from holdfast.ledger._jobs.keeping import Shelf
from holdfast.ledger._jobs.turns import Latest, state_of
from holdfast.ledger._ledger import Ledger
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release import Release


@checked
@dataclass(frozen=True, kw_only=True)
class PaidOnce:
    """A release, the account that paid for it, and whether an earlier run had made it.

    Parameters
    ----------
    release : Release
        The result.
    account : str
        The name of the account.
    found : bool
        Whether it was kept from an earlier run and not made now.

    Examples
    --------
    >>> from holdfast.privacy import Account, Laplace, PureDP
    >>> account = Account(PureDP(0.25))
    >>> noisy = account.release(Laplace(scale=4.0, l1_sensitivity=1.0), [44])
    >>> paid = PaidOnce(release=Release.of(account, noisy, method="visits"), account="sundays", found=False)
    >>> paid.account, paid.release.guarantee.curve
    ('sundays', PureDP(epsilon=0.25))
    """

    release: Release[Any]
    account: str
    found: bool


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Job:
    """A piece of work that is paid for once: how its release is made, and how it is written where it is wanted.

    Parameters
    ----------
    key : str
        The name of the work and of its account: the same key finds what an earlier run made, or goes on with it.
    make : callable
        Makes the release from the account that it is handed.
    write : callable
        Writes the release where it is wanted.
    about : dict, optional
        What the work asks; the result of a key is refused to work that asks something else.
    again : bool
        Whether work whose result was written before is done and charged again; else it is refused.

    Examples
    --------
    >>> from holdfast.privacy import Laplace
    >>> from holdfast.release import Release
    >>> def make(account):
    ...     return Release.of(account, account.release(Laplace(scale=4.0, l1_sensitivity=1.0), [44]), method="visits")
    >>> Job(key="sundays", make=make, write=lambda release: release.save("sundays.holdfast")).again
    False
    """

    key: str
    make: Callable[[Account], Release[Any]]
    write: Callable[[Release[Any]], None]
    about: Mapping[str, Any] | None = None
    again: bool = False

    def __post_init__(self) -> None:
        require(bool(self.key), "key", self.key, "a non-empty text")

    @property
    def digest(self) -> str:
        """A hash of what the work asks."""
        return request_digest(self.about or {})


def job_key(kind: str, about: Mapping[str, Any]) -> str:
    """The key of work that was given none: the same work has the same key."""
    return f"{kind}-{request_digest(about)[:12]}"


@checked
def kept_result(ledger: Ledger, key: str) -> Release[Any] | None:
    """The result that is kept for a key because it was not written yet.

    Parameters
    ----------
    ledger : Ledger
        The ledger that paid for it.
    key : str
        The key of the work.

    Returns
    -------
    Release or None
        The result; None where there is none.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Ledger.create(folder + "/visits.ledger") as ledger:
    ...     print(kept_result(ledger, "march"))
    None
    """
    latest = Latest.of(ledger, key)
    return None if latest is None else Shelf(ledger.path).find(latest.account, paid_by=latest.paid_by)


def waiting(ledger: Ledger) -> dict[str, Path]:
    """The accounts whose results are kept because they were not written yet, with the file of each result."""
    files = Shelf(ledger.path).files()
    if not files:
        return {}
    with ledger._store.reading() as chain:
        places = {name: Shelf(ledger.path).place(name) for name in chain.account_names()}
    return {name: place for name, place in places.items() if place in files}


def finish_written_work(ledger: Ledger, key: str) -> None:
    """Close the account that a killed run left open after it had written its result, and remove the kept copy."""
    latest = Latest.of(ledger, key)
    if latest is not None:
        _close(ledger, latest.account, "the work is done")
        Shelf(ledger.path).remove(latest.account)


@checked
def once(
    ledger: Ledger,
    dataset: str,
    job: Job,
    *,
    limit: PrivacyCurve | None = None,
    adjacency: Adjacency | str | None = None,
    unit: PrivacyUnit | None = None,
    purpose: str = "",
    approver: str = "",
) -> PaidOnce:
    """Make a release and write it, paid from one account; what an earlier run with this key made is not made again.

    Parameters
    ----------
    ledger : Ledger
        Pays, and keeps the result until it is written.
    dataset : str
        Whose budget pays.
    job : Job
        The work, with its key.
    limit : PrivacyCurve, optional
        The limit of the account; without one it takes everything that is left.
    adjacency, unit : optional
        The neighbours and the privacy unit that the work is about, which must be those of the dataset.
    purpose, approver : str
        Texts that the ledger stores with the account.

    Returns
    -------
    PaidOnce
        The release, the account that paid, and whether an earlier run had made it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from holdfast.privacy import Laplace, PureDP
    >>> from holdfast.release import Release
    >>> def make(account):
    ...     return Release.of(account, account.release(Laplace(scale=4.0, l1_sensitivity=1.0), [44]), method="visits")
    >>> with TemporaryDirectory() as folder, Ledger.create(Path(folder) / "clinic.ledger") as ledger:
    ...     _ = ledger.dataset("clinic", limit=PureDP(1.0))
    ...     job = Job(key="sundays", make=make, write=lambda release: release.save(Path(folder) / "sundays.holdfast"))
    ...     paid = once(ledger, "clinic", job, limit=PureDP(0.25))
    ...     paid.account, paid.found, ledger.spent("clinic")
    ('sundays', False, PureDP(epsilon=0.25))
    """
    shelf = Shelf(ledger.path)
    name = _account_of(ledger, job.key, job.digest, again=job.again)
    release = shelf.find(name, paid_by=f"{ledger.id}/{dataset}/{name}")
    was_kept, written = release is not None, False
    if release is None:
        account = opened_by_first_charge(
            ledger,
            dataset,
            name,
            limit=limit,
            adjacency=adjacency,
            unit=unit,
            purpose=purpose,
            approver=approver,
            about=job.digest,
        )
        with _close_on_failure(ledger, account, name):
            release = job.make(account)
            try:
                shelf.keep(name, release)
            except OSError:
                job.write(
                    release
                )  # it cannot be kept; if this fails too, only charges under keys let the work go on
                written = True
    _close(ledger, name, "the work is done")
    try:
        if not written:
            job.write(release)
    except Exception as error:
        raise NotWritten(
            f"the result could not be written ({_cause(error)}) and is kept with the ledger, in "
            f"{str(shelf.place(name))!r}; the same command, or the same key, writes it and pays nothing"
        ) from error
    shelf.remove(name)
    return PaidOnce(release=release, account=name, found=was_kept)


def _account_of(ledger: Ledger, key: str, about: str, *, again: bool) -> str:
    """The name of the account to go on with, or of a new one."""
    latest = Latest.of(ledger, key)
    if latest is None:
        return key
    if latest.living is not None and not again:
        raise LedgerError(
            f"account {latest.account!r} is open in {latest.living.summary()}; wait for it, or use another key"
        )
    if latest.living is not None or latest.state == "nothing spent" or (latest.state == "closed" and again):
        return latest.following
    if latest.state == "closed":
        raise LedgerError(
            f"account {latest.account!r} is closed and its result is not kept: it was written, or its noise is gone; "
            "use another key, which is charged again"
        )
    if latest.state == "empty":
        _close(ledger, latest.account, "nothing was charged")
        return latest.following
    if latest.state == "gone":
        raise _lost_noise(ledger, latest.account)
    if latest.about != about:
        raise ParameterError(
            f"key {key!r} belongs to work that asked something else; ask as it did, or use another key, "
            "which is charged again"
        )
    return latest.account


@contextmanager
def _close_on_failure(ledger: Ledger, account: Account, name: str) -> Iterator[None]:
    """Close the account where the work fails, unless all its charges have keys, so that the work can go on."""
    had_charges = bool(account.journal.entries)
    try:
        yield
    except BaseException as error:
        if had_charges and isinstance(error, AlreadyReleased | BudgetExceeded):
            raise _lost_noise(ledger, name) from error
        goes_on = state_of([entry.charge.key for entry in account.journal.entries], is_open=True) == "begun"
        if (
            not goes_on and first_holder(ledger, name) == Holder.this()
        ):  # else another process goes on with the work
            _close(ledger, name, "the work failed")
        raise


def _lost_noise(ledger: Ledger, name: str) -> LedgerError:
    """Close an account whose run was killed while it drew noise; the error that says so."""
    _close(ledger, name, "the run was killed while it drew noise")
    return LedgerError(
        f"the work of account {name!r} was killed while it drew noise, and what it drew is gone; it stays charged, and "
        "what it held besides was given back. Do it again under another key, or, without a key, by the same "
        "command: either is charged again"
    )


def _close(ledger: Ledger, name: str, reason: str) -> None:
    """Close an account if it is open."""
    with ledger._store.reading() as chain:
        row = chain.account(name)
    if row is not None and row.is_open:
        ledger.close_account(name, reason=reason)


def request_digest(about: Mapping[str, Any]) -> str:
    """A hash of what work asks."""
    return hashlib.sha256(canonical(about).encode()).hexdigest()


def _cause(error: Exception) -> str:
    """Why writing failed. Texts of the operating system and of our own refusals hold no data; others might."""
    if isinstance(error, ParameterError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__

"""Ledger: datasets with limits, accounts that share them, and the history of every charge."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from holdfast._arguments import Seed, checked
from holdfast.data._whole_file import whole_file
from holdfast.errors import BudgetExceeded, LedgerError, require
from holdfast.ledger import _report as report
from holdfast.ledger._amounts import cost_of
from holdfast.ledger._budget import RunningBudget
from holdfast.ledger._dataset import (
    Dataset,
    free_share,
    known_dataset,
    opening_to_resume,
    require_all_closed,
    require_terms,
)
from holdfast.ledger._entry import Kind, LedgerEntry, canonical
from holdfast.ledger._holder import abandoned_accounts, note_holder, require_nobody
from holdfast.ledger._journal import LedgerJournal, charge_of, checked_texts
from holdfast.ledger._signing.signature import Signature, SignedHead
from holdfast.ledger._signing.trust import Trust
from holdfast.ledger._store import Store
from holdfast.ledger._verification import Verification, verify
from holdfast.privacy._account import Account
from holdfast.privacy._adjacency import Adjacency, PrivacyUnit
from holdfast.privacy._curves.curve import PrivacyCurve
from holdfast.release._outputs import FileRead, FileWritten, Outputs
from holdfast.release._release import software_versions

if TYPE_CHECKING:
    from holdfast.ledger._recompute import Recomputed

Check = Literal["full", "tail", "nothing"]
_ENTRIES_AT_ONCE = 1000
"""How many entries are read in one transaction and held at once."""
_WORTH_NOTING = 100
"""How many entries must have been checked for it to be noted how far the check got."""


@checked
class Ledger:
    """An append-only, hash-chained file; every charge is on the disk before any noise is drawn.

    `Ledger.create` and `Ledger.open` make one.

    Parameters
    ----------
    store : Store
        The open file.

    Examples
    --------
    >>> import tempfile
    >>> from holdfast.privacy import ZCDP, Gaussian
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger.create(folder.name + "/adult.ledger") as ledger:
    ...     _ = ledger.dataset("adult", limit=ZCDP(1.0), approver="the privacy officer")
    ...     account = ledger.account("adult", name="first look", limit=ZCDP(0.5), purpose="a table of counts")
    ...     _ = account.release(Gaussian(sigma=2.0, l2_sensitivity=1.0), [12, 30])
    ...     print(account.remaining(), ledger.remaining("adult"), ledger.verify().ok)
    ZCDP(rho=0.375) ZCDP(rho=0.5) True
    >>> folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        with store.reading() as chain:
            first = chain.entry(0)
        if first.kind != "ledger" or not isinstance(first.body.get("ledger"), str):
            raise LedgerError("the first entry of the file does not start a ledger")
        self.id: str = first.body["ledger"]

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        purpose: str = "",
        approver: str = "",
        datasets: Sequence[Dataset] = (),
    ) -> Ledger:
        """Start a ledger in a new file at `path`, with these `datasets`, whole or not at all; refused if there is one.

        `purpose` and `approver` are texts for whoever reads it.
        """
        texts = checked_texts(purpose=purpose, approver=approver)
        body = texts | {"ledger": secrets.token_hex(16), "software": software_versions()}
        Store.create(
            Path(path), [("ledger", body), *(("dataset", dataset.to_body()) for dataset in datasets)]
        )
        return cls(Store(Path(path)))

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        check: Check = "tail",
        read_only: bool = False,
        timeout_s: float = 60.0,
    ) -> Ledger:
        """Open the ledger at `path` and check it: what came since the last check, all of it, or nothing.

        How far a check got is noted in the file, if it is opened to be written to. The note saves work and is no proof:
        whoever can write the file can write the note. `verify` asks nobody and checks everything.

        With `read_only` nothing can be charged. `timeout_s` is how long a charge waits for the lock of another
        process before it fails.
        """
        require(check in ("full", "tail", "nothing"), "check", check, "'full', 'tail' or 'nothing'")
        ledger = cls(Store(Path(path), read_only=read_only, timeout_s=timeout_s))
        if check != "nothing":
            ledger._check(since_last=check == "tail").require()
        return ledger

    @classmethod
    def open_or_create(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open the ledger at this path, or start one there; of processes that start together one makes the file."""
        if not os.path.exists(path):
            try:
                return cls.create(path)
            except LedgerError:
                if not os.path.exists(path):
                    raise
        return cls.open(path)

    # Datasets and accounts.

    def dataset(
        self,
        name: str,
        *,
        limit: PrivacyCurve | None = None,
        adjacency: Adjacency | str | None = None,
        unit: PrivacyUnit | None = None,
        currency: str | None = None,
        order: float | None = None,
        purpose: str = "",
        approver: str = "",
        version: str = "",
    ) -> Dataset:
        """Open a dataset with a limit for everything ever released about it, or look up one that is open.

        Parameters
        ----------
        name : str
            What the dataset is called.
        limit : PrivacyCurve, optional
            The limit; needed where the dataset is new.
        adjacency : Adjacency or str, optional
            The neighbour relation; `replace` by default.
        unit : PrivacyUnit, optional
            Who is protected; one row by default.
        currency : str, optional
            In what charges are added up; the one that fits the limit by default.
        order : float, optional
            The order of a limit in the currency 'renyi'.
        purpose, approver, version : str
            Texts for whoever reads the ledger.

        Returns
        -------
        Dataset
            What the ledger holds about it.
        """
        if limit is None:
            with self._store.reading() as chain:
                return known_dataset(chain, name)
        declared = Dataset.declare(
            name,
            limit=limit,
            adjacency=adjacency,
            unit=unit,
            currency=currency,
            order=order,
            purpose=purpose,
            approver=approver,
            version=version,
        )
        with self._store.writing() as chain:
            if chain.dataset(name) is None:
                return Dataset.of(chain.append("dataset", declared.to_body()))
            known = known_dataset(chain, name)
        if canonical([known.limit.to_json(), known.terms]) != canonical([limit.to_json(), declared.terms]):
            raise LedgerError(
                f"dataset {name!r} was opened with another limit, adjacency, unit or currency; "
                "leave them out to use it as it is"
            )
        return known

    def account(
        self,
        dataset: str | Dataset,
        *,
        limit: PrivacyCurve | None = None,
        name: str | None = None,
        adjacency: Adjacency | str | None = None,
        unit: PrivacyUnit | None = None,
        purpose: str = "",
        approver: str = "",
        about: str = "",
        seed: Seed | None = None,
    ) -> Account:
        """Open an account on a share of the dataset's limit, or go on with the open one of this name.

        The account's whole limit is set aside at once; closing gives back what was not spent.

        Parameters
        ----------
        dataset : str
            The dataset that pays.
        limit : PrivacyCurve, optional
            The share; a new account takes everything that is left by default.
        name : str, optional
            What the account is called.
        adjacency, unit : optional
            The adjacency and privacy unit that the caller expects; refused where the dataset has others.
        purpose, approver : str
            Texts for whoever reads the ledger: what the account is for and who allowed it.
        about : str
            A hash of what the account pays for, by which `once` knows the work again.
        seed : int, optional
            Makes the noise repeatable, and marks everything released as not private.

        Returns
        -------
        Account
            Every charge of it is an entry of this ledger.
        """
        texts = checked_texts(purpose=purpose, approver=approver, account=name or "unnamed", about=about)
        dataset_name = dataset.name if isinstance(dataset, Dataset) else dataset
        refusal: BudgetExceeded | None = None
        with self._store.writing() as chain:
            known = known_dataset(chain, dataset_name)
            require_terms(known, adjacency, unit)
            row = None if name is None else chain.account(name)
            if row is not None:
                opening = opening_to_resume(chain, row, name=str(name), dataset=dataset_name, limit=limit)
            else:
                last = chain.last()
                assert last is not None
                title = f"account-{last.number + 1}" if name is None else name
                amount, refusal = free_share(chain, known, limit)
                body = known.terms | {
                    "dataset": dataset_name,
                    "account": title,
                    "limit": (known.currency.promise(amount) if limit is None else limit).to_json(),
                    "amount": amount.to_json(),
                    "purpose": texts["purpose"],
                    "approver": texts["approver"],
                    "software": software_versions(),
                    "about": about,
                }
                if refusal is None:
                    body["budget"] = RunningBudget.of(chain, dataset_name, known.amount).opened(amount)
                opening = chain.append("account" if refusal is None else "refusal", body)
            if refusal is None:
                note_holder(chain, opening.body["account"])
        if refusal is not None:
            raise refusal
        return self._account(known, opening, seed)

    @contextmanager
    def temporary_account(
        self,
        dataset: str | Dataset,
        *,
        name: str,
        limit: PrivacyCurve | None = None,
        adjacency: Adjacency | str | None = None,
        unit: PrivacyUnit | None = None,
        purpose: str = "",
        approver: str = "",
        resumable: bool = False,
    ) -> Iterator[Account]:
        """An account for one piece of work, closed at the end of the `with` block: what was not spent goes back.

        Save the result inside the block.

        Parameters
        ----------
        dataset : str
            The dataset that pays.
        name : str
            What the account is called.
        limit : PrivacyCurve, optional
            The share; everything that is left by default.
        adjacency, unit : optional
            The adjacency and privacy unit that the caller expects; refused where the dataset has others.
        purpose, approver : str
            Texts for whoever reads the ledger.
        resumable : bool
            Whether the account stays open where the work fails, so that the same work can go on under the same
            name.

        Yields
        ------
        Account
            The account, open.
        """
        account = self.account(
            dataset,
            name=name,
            limit=limit,
            adjacency=adjacency,
            unit=unit,
            purpose=purpose,
            approver=approver,
        )
        try:
            yield account
        except BaseException:
            if not resumable:
                self.close_account(name, reason="the work failed")
            raise
        self.close_account(name, reason="the work is done")

    def close_account(self, name: str, *, reason: str = "", approver: str = "", force: bool = True) -> None:
        """Close the account `name` for good; what it did not spend goes back to its dataset.

        With `force=False` this is refused while another process may have the account open; else that process is
        refused its next charge. `reason` and `approver` are written down.
        """
        texts = checked_texts(reason=reason, approver=approver)
        with self._store.writing() as chain:
            row = chain.account(name)
            if row is None or not row.is_open:
                raise LedgerError(f"there is no open account {name!r}")
            if not force:
                require_nobody(chain, name)
            known = known_dataset(chain, row.dataset)
            spent = report.account_spent(chain, name, known)
            amount = cost_of(chain.opening("account", name).body["amount"])
            budget = RunningBudget.of(chain, known.name, known.amount).closed(amount, spent)
            chain.append("close", texts | {"account": name, "spent": spent.to_json(), "budget": budget})

    def abandoned_accounts(self, dataset: str) -> tuple[str, ...]:
        """Open accounts of the `dataset` whose processes are gone; closing them gives back what they hold."""
        with self._store.reading() as chain:
            return tuple(abandoned_accounts(chain, dataset))

    def reset(self, dataset: str, *, reason: str, approver: str) -> None:
        """Start a new period of the `dataset` with a fresh limit, for a `reason` that the `approver` answers for.

        What was released before stays released: the limit then holds for each period alone.
        """
        require(bool(reason), "reason", reason, "a non-empty text")
        require(bool(approver), "approver", approver, "a non-empty text")
        texts = checked_texts(reason=reason, approver=approver)
        with self._store.writing() as chain:
            require_all_closed(chain, dataset)
            chain.append("reset", texts | {"dataset": dataset})

    def spent(self, dataset: str) -> PrivacyCurve:
        """What the charges of the `dataset` add up to in this period, for information: the guarantee is the limit."""
        with self._store.reading() as chain:
            now = report.Standing.now(chain, dataset)
        return now.dataset.currency.promise(now.spent)

    def remaining(self, dataset: str) -> PrivacyCurve:
        """What new accounts of the `dataset` can still be opened on."""
        with self._store.reading() as chain:
            now = report.Standing.now(chain, dataset)
        return now.dataset.currency.promise(now.free)

    def standing(self, dataset: str, *, head: str | None = None) -> report.Standing:
        """What is spent, held and free of the dataset, now or at an earlier head of the ledger."""
        with self._store.reading() as chain:
            if head is not None:
                return report.Standing.at(chain, dataset, head=head)
            return report.Standing.now(chain, dataset)

    # Reading and checking.

    def datasets(self) -> tuple[str, ...]:
        """The names of all datasets, in the order of opening."""
        with self._store.reading() as chain:
            return tuple(chain.datasets())

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._store.path

    @property
    def head(self) -> str:
        """The hash of the newest entry that is known to be on the disk."""
        with self._store.reading() as chain:
            return chain.durable().hash

    def verify(
        self, *, head: str | None = None, public_key: str | os.PathLike[str] | Trust | None = None
    ) -> Verification:
        """Check every hash, limit and total; that `head` occurs in the chain; and signatures, by `public_key`."""
        return self._check(head=head, public_key=public_key)

    def recompute(self, dataset: str) -> Recomputed:
        """What every charge of the `dataset` in this period costs by the accountant of this version."""
        from holdfast.ledger._recompute import recompute

        with self._store.reading() as chain:
            known, row = known_dataset(chain, dataset), chain.dataset(dataset)
            assert row is not None
            charges = (
                (number, charge_of(chain.entry(number)))
                for account, _, _ in chain.accounts(dataset, opened_since=row.period)
                for number in chain.charges(account)
            )
            return recompute(known, charges)

    def sign(self, private_key: str | os.PathLike[str]) -> SignedHead:
        """Sign the newest entry with `private_key` and append the signature; keep the returned head somewhere else."""
        with self._store.writing() as chain:
            last = chain.last()
            assert last is not None
            signed = SignedHead.sign(private_key, ledger=self.id, number=last.number, head=last.hash)
            chain.append("signature", signed.to_json())
        return signed

    def approve(self, account: str, private_key: str | os.PathLike[str], *, approver: str) -> Signature:
        """Sign the opening of an account with `private_key`, and so its limit and purpose, as `approver`.

        This becomes an entry.
        """
        from holdfast.ledger._attest import approve

        texts = checked_texts(approver=approver)
        with self._store.writing() as chain:
            return approve(chain, self.id, account, private_key, approver=texts["approver"])

    def extract(self, datasets: Sequence[str], private_key: str | os.PathLike[str]) -> dict[str, Any]:
        """Everything that the ledger holds about these `datasets`, signed with `private_key`.

        It is meant for readers who may not see the rest of the ledger.
        """
        from holdfast.ledger._attest import extract

        with self._store.reading() as chain:
            return extract(chain, self.id, datasets, private_key)

    def close_page(self, page: bytes, *, title: str, audience: str, releases: Sequence[str]) -> None:
        """Write down the hash of a page about releases, so that any other page is known not to be it.

        Parameters
        ----------
        page : bytes
            The page.
        title, audience : str
            The title of the page, and for whom it is.
        releases : sequence of str
            The hashes of the releases that it shows.
        """
        body = {
            "sha256": hashlib.sha256(page).hexdigest(),
            "title": title,
            "audience": audience,
            "releases": list(releases),
        }
        with self._store.writing() as chain:
            chain.append("page", body)

    def closed_pages(self, digest: str) -> list[Mapping[str, Any]]:
        """What was written down of each page whose hash is this `digest`; nothing for a page that it did not close."""
        with self._store.reading() as chain:
            return [entry.body for entry in chain.closings(digest) if entry.kind == "page"]

    @property
    def read_only(self) -> bool:
        """Whether it was opened for reading only."""
        return self._store.read_only

    def history(self, *, dataset: str | None = None, account: str | None = None) -> tuple[LedgerEntry, ...]:
        """Every entry in order, or those of a dataset or an account; `entries` needs less memory."""
        return tuple(self.entries(dataset=dataset, account=account))

    def entries(
        self, *, kind: Kind | None = None, dataset: str | None = None, account: str | None = None
    ) -> Iterator[LedgerEntry]:
        """The entries in order, one after the other: all, or those of a kind, a dataset or an account.

        Parameters
        ----------
        kind : str, optional
            What happened, such as 'charge'.
        dataset, account : str, optional
            What the entries are about.

        Yields
        ------
        LedgerEntry
            Each entry, with its hash checked.
        """
        if account is not None:
            with self._store.reading() as chain:
                numbers, row = chain.numbers(account, kind), chain.account(account)
            of_account = None if row is None else row.dataset
            for start in range(0, len(numbers), _ENTRIES_AT_ONCE):
                with self._store.reading() as chain:
                    entries = [chain.entry(number) for number in numbers[start : start + _ENTRIES_AT_ONCE]]
                yield from (e for e in entries if dataset in (None, e.body.get("dataset", of_account)))
            return
        after: int | None = -1
        while after is not None:
            with self._store.reading() as chain:
                found = report.history(chain, after=after, kind=kind, dataset=dataset)
                entries = list(islice(found, _ENTRIES_AT_ONCE))
            yield from entries
            after = entries[-1].number if len(entries) == _ENTRIES_AT_ONCE else None

    def export(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write all entries to `path` as JSON lines: the hash, and the exact text that has this hash.

        Parameters
        ----------
        path : str or path
            The file to write.
        overwrite : bool
            Whether it may take the place of a file that this process did not write.
        """
        Outputs(
            reads=(FileRead(name="the ledger", path=self.path),),
            writes=(FileWritten(name="path", path=Path(path)),),
        ).require_apart()
        with (
            whole_file(Path(path), overwrite=overwrite) as temporary,
            temporary.open("w", encoding="ascii") as file,
        ):
            with self._store.reading() as chain:
                file.writelines(f'{{"hash":"{row.hash}","entry":{row.text}}}\n' for row in chain.rows())

    def summary(self) -> str:
        """Every dataset with its limit, its accounts, and what is left."""
        with self._store.reading() as chain:
            return report.summary(chain, self.id)

    def close(self) -> None:
        """Give the file back. Accounts of this ledger open it again when they are used."""
        self._store.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check(
        self,
        *,
        since_last: bool = False,
        head: str | None = None,
        public_key: str | os.PathLike[str] | Trust | None = None,
    ) -> Verification:
        verification = verify(self._store, since_last=since_last, head=head, public_key=public_key)
        if verification.ok and verification.checked >= _WORTH_NOTING:
            self._store.note_verified(verification.entries - 1, verification.head)
        return verification

    def _account(self, dataset: Dataset, opening: LedgerEntry, seed: Seed | None) -> Account:
        from holdfast.privacy._curves.stored import curve_from_json

        amount = cost_of(opening.body["amount"])
        account = Account(
            curve_from_json(opening.body["limit"]),
            adjacency=dataset.adjacency,
            unit=dataset.unit,
            currency=dataset.currency,
            journal=LedgerJournal(
                self._store,
                opening.body["account"],
                ledger=self.id,
                limit=amount,
                dataset=dataset.name,
                dataset_limit=dataset.amount,
            ),
            translated=amount,
            seed=seed,
        )
        account.read_at = dataset.read_at if account.read_at is None else account.read_at
        return account

"""Holder: the process that has an account open, and whether it still lives.

An open account sets aside its whole limit. A process that was killed never gives it back, so the ledger notes which
processes have an account open: host, process number, and start of the process, because numbers are used again. These
notes are no entries of the chain: they say nothing about what was spent, and a wrong note loses no charge.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from holdfast.errors import LedgerError
from holdfast.ledger._chain import Chain


@dataclass(frozen=True)
class Holder:
    """One process of one machine, identified among all others."""

    host: str
    process: int
    started: str
    """On Linux `boot/namespace of process numbers/start of the process`; empty on systems that do not tell these."""

    @classmethod
    def this(cls) -> Holder:
        """The process that runs this code."""
        return _holder_of(os.getpid())

    @property
    def alive(self) -> bool | None:
        """Whether the process still runs; None where that cannot be seen: on another host or in another container."""
        here = Holder.this()
        if self == here:
            return True
        if self.host != here.host:
            return None
        if not self.started or not here.started:
            return None if os.name != "posix" or _exists(self.process) else False
        boot, space, start = self.started.split("/")
        boot_here, space_here, _ = here.started.split("/")
        if boot != boot_here:
            return False  # the machine was started again since
        if space != space_here:
            return None
        return _start_of(self.process) == start

    def summary(self) -> str:
        """For people."""
        return f"process {self.process} on {self.host}"


def note_holder(chain: Chain, account: str) -> None:
    """Write down that this process has the account open."""
    here = Holder.this()
    chain.hold(account, (here.host, here.process, here.started))


def other_holders(chain: Chain, account: str) -> list[Holder]:
    """The processes, other than this one, that had the account open."""
    here = Holder.this()
    return [holder for holder in (Holder(*row) for row in chain.holders(account)) if holder != here]


def other_living_holder(chain: Chain, account: str) -> Holder | None:
    """Another process that has the account open and is known to run; None where there is none."""
    return next((holder for holder in other_holders(chain, account) if holder.alive), None)


def abandoned_accounts(chain: Chain, dataset: str, *, most: int | None = None) -> Iterator[str]:
    """The open accounts of a dataset whose processes are all known to be gone, of all or of the `most` oldest."""

    @cache
    def is_gone(holder: Holder) -> bool:
        return holder.alive is False

    for name, _, _ in islice(chain.accounts(dataset, only_open=True), most):
        holders = [Holder(*row) for row in chain.holders(name)]
        if holders and all(is_gone(holder) for holder in holders):
            yield name


def require_nobody(chain: Chain, account: str) -> None:
    """Refuse to close an account that another process may still use."""
    for holder in other_holders(chain, account):
        if holder.alive is not False:
            state = "has it open" if holder.alive else "may have it open, which cannot be told from here"
            raise LedgerError(
                f"account {account!r} is not closed: {holder.summary()} {state}; --force closes it all the same"
            )
    if not chain.holders(account):
        raise LedgerError(
            f"account {account!r} is not closed: the ledger does not say which process opened it; --force closes it"
        )


@cache
def _holder_of(process: int) -> Holder:
    """The holder with this process number, on this host. A fork has another number than its parent."""
    start = _start_of(process)
    started = (
        "" if start is None else f"{_file_text('/proc/sys/kernel/random/boot_id')}/{_namespace()}/{start}"
    )
    return Holder(platform.node(), process, started)


def _start_of(process: int) -> str | None:
    """When a process was started, in ticks since the machine was; None for one that is not there, or has ended."""
    text = _file_text(f"/proc/{process}/stat")
    # The name, in parentheses, may hold anything; after it come the state and, as the 20th, the start.
    fields = text.rpartition(")")[2].split()
    return None if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _file_text(path: str) -> str:
    """What a file of /proc says; empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True

"""Holder: the process that has an account open, and whether it still lives.

An open account sets aside its whole limit. A process that was killed never gives it back, so the ledger notes who has
an account open: host, process number, and when the process was started, because numbers are used again. The note is no
entry of the chain: it says nothing of what was spent, and where it is wrong no charge is lost by it.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import cache

from holdfast.errors import LedgerError
from holdfast.ledger._chain import Chain


@dataclass(frozen=True)
class Holder:
    """One process of one machine, as it can be told from all others."""

    host: str
    process: int
    started: str
    """On Linux the boot, the namespace of process numbers and the start; empty where these are not told."""

    @classmethod
    def this(cls) -> Holder:
        """The process that asks."""
        return _this(os.getpid())

    @property
    def alive(self) -> bool | None:
        """Whether it still runs; None where that cannot be told from here: another host, or another container."""
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


def note(chain: Chain, account: str) -> None:
    """Write down that this process has the account open."""
    here = Holder.this()
    chain.hold(account, (here.host, here.process, here.started))


def others(chain: Chain, account: str) -> list[Holder]:
    """The processes that had the account open, but this one."""
    here = Holder.this()
    return [holder for holder in (Holder(*row) for row in chain.holders(account)) if holder != here]


def in_use(chain: Chain, account: str) -> Holder | None:
    """Another process that is known to live and has the account open."""
    return next((holder for holder in others(chain, account) if holder.alive), None)


def abandoned(chain: Chain, dataset: str) -> list[str]:
    """The open accounts of a dataset whose processes are all known to be gone."""
    return [
        name
        for name, _, closed in chain.accounts(dataset)
        if closed is None
        and chain.holders(name)
        and all(Holder(*row).alive is False for row in chain.holders(name))
    ]


def require_nobody(chain: Chain, account: str) -> None:
    """Refuse to close an account that another process may still use."""
    for holder in others(chain, account):
        if holder.alive is not False:
            said = "has it open" if holder.alive else "may have it open, which cannot be told from here"
            raise LedgerError(
                f"account {account!r} is not closed: {holder.summary()} {said}; --force closes it all the same"
            )
    if not chain.holders(account):
        raise LedgerError(
            f"account {account!r} is not closed: the ledger does not say which process opened it; --force closes it"
        )


@cache
def _this(process: int) -> Holder:
    """Of a process number: a fork has another one than its parent."""
    start = _start_of(process)
    started = "" if start is None else f"{_told('/proc/sys/kernel/random/boot_id')}/{_namespace()}/{start}"
    return Holder(platform.node(), process, started)


def _start_of(process: int) -> str | None:
    """When a process was started, in ticks since the machine was; None for one that is not there, or has ended."""
    text = _told(f"/proc/{process}/stat")
    # The name, in parentheses, may hold anything; after it come the state and, as the 20th, the start.
    fields = text.rpartition(")")[2].split()
    return None if len(fields) < 20 or fields[0] in "ZX" else fields[19]


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _told(path: str) -> str:
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

"""What tests of findings share: curves by their stored names, refusals, threads, forks. Public names only."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import HoldfastError
from holdfast.privacy import Guarantee, PrivacyCurve


def stored(data: dict[str, Any]) -> PrivacyCurve:
    """The curve of a stored kind, read as a stored guarantee is: kinds are never renamed."""
    unit = {"column": None, "max_rows": 1}
    fields: dict[str, Any] = {"curve": data, "adjacency": "add_remove", "unit": unit, "theorem": "none"}
    fields |= {"assumptions": [], "noise": "secure", "read_at": None}
    return Guarantee.from_json(fields).curve


def subsampled(base: PrivacyCurve, rate: float) -> PrivacyCurve:
    """The base on a Poisson sample."""
    return stored({"kind": "SubsampledCurve", "curve": base.to_json(), "rate": rate})


def finite_pair(p: tuple[float, ...], q: tuple[float, ...]) -> PrivacyCurve:
    """Two laws on finitely many outcomes; p is the one with the unit."""
    return stored({"kind": "FinitePair", "p": list(p), "q": list(q)})


def refused(work: Callable[[], Any], *kinds: type[HoldfastError]) -> bool:
    """Whether the call is refused, with an error of one of these kinds (any of holdfast's by default)."""
    try:
        work()
    except HoldfastError as error:
        if kinds and not isinstance(error, kinds):
            raise
        return True
    return False


def all_at_once(work: Callable[[], None], *, threads: int) -> None:
    """Run the work in that many threads that start together and are switched as often as possible."""
    start = threading.Barrier(threads)

    def one() -> None:
        start.wait(5.0)
        work()

    with frequent_switches():
        running = [threading.Thread(target=one, daemon=True) for _ in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(20.0)
    assert not any(thread.is_alive() for thread in running), "a thread hangs"


@contextmanager
def frequent_switches() -> Iterator[None]:
    """Threads change places after every microsecond; as before afterwards."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Gate:
    """A place where threads wait for each other, and go on alone if the others cannot come."""

    def __init__(self, threads: int) -> None:
        self._barrier = threading.Barrier(threads)

    def wait(self) -> None:
        """Return when all are here, or after a quarter of a second."""
        try:
            self._barrier.wait(0.25)
        except threading.BrokenBarrierError:
            pass


def in_child_and_parent(draw: Callable[[], bool]) -> int:
    """Call it in a forked child, then here; how many of the two said yes."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = int(draw())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 1):
        raise RuntimeError(f"the child ended with {code}")
    return code + int(draw())


def true_delta(
    present: tuple[float, ...], absent: tuple[float, ...], *, rate: float, times: int, epsilon: float
) -> float:
    """The exact delta, in the worse direction, of that many Poisson samples: a sum over all types."""
    q = np.array(absent)
    p = (1 - rate) * q + rate * np.array(present)
    counts = np.array(list(_types(times, len(q))))
    ways = math.lgamma(times + 1) - np.vectorize(math.lgamma)(counts + 1.0).sum(axis=1)

    def law(of: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(counts > 0, counts * np.log(of), 0.0).sum(axis=1)
        return np.asarray(np.exp(ways + logs))

    removed, added = law(p), law(q)
    grown = math.exp(epsilon)
    return float(
        max(np.maximum(removed - grown * added, 0.0).sum(), np.maximum(added - grown * removed, 0.0).sum())
    )


def _types(total: int, cells: int) -> Iterator[tuple[int, ...]]:
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _types(total - first, cells - 1):
            yield (first, *rest)

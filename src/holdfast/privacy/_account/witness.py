"""Witness: records what an account draws, and can return recorded outputs in place of noise.

It is for tests, auditors and third parties who want to know what a run did. It records every charge and every draw
(mechanism, value, output) in order, whichever share, part, permit or resumed job makes it. Such a run is not private,
since values leave it. So a witness replaces the account's source of random bits and calls itself `seeded`; every
charge, release and page that is made with it says so.

Noise and secret coins (batches, orders, priorities) come from two streams. A replay, which draws no noise, therefore
gets the same coins. A `Tape` returns outputs in place of noise (soundness, section 22).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast._arguments import Seed, checked
from holdfast.noise._source import Provenance, Source
from holdfast.privacy._account.journal import Charge
from holdfast.privacy._mechanisms.mechanism import Mechanism

Tape = Callable[["Draw"], Any]
"""What is released at a step in place of noise. It is shown a step whose output is still None; to be a replay it must
look at the step's number and mechanism only, never at its value."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Draw:
    """One draw: the mechanism, the private value that it was handed, and what it released."""

    number: int
    mechanism: Mechanism
    value: Any
    output: Any = None
    account: Any = None
    """The `Account` that paid. The account of a part of the rows says `within` whose budget that is."""


@dataclass(eq=False)
class WitnessedRun:
    """What a witness recorded, in order."""

    steps: list[Draw] = field(default_factory=list)
    charges: list[Charge] = field(default_factory=list)
    payers: list[Any] = field(default_factory=list)
    """The account that paid each charge."""
    order: list[str] = field(default_factory=list)
    """`charge` or `draw`, in the order in which they happened."""


@checked
class Witness(Source):
    """The source of a watched account: seeded, and it remembers every charge and every draw.

    For refutations and tests; what a witness saw is not private.

    Parameters
    ----------
    seed : int
        What coins and noise start from.
    tape : callable, optional
        What gives the outputs in place of the mechanisms, from the draw so far without its output.
    identifiers : numpy.ndarray, optional
        A whole number for each record, whose stream of coins no other record moves.
    coins : Source, optional
        Where secret coins come from, if not from the seed.

    Examples
    --------
    >>> from holdfast.privacy import Account, Gaussian, ZCDP
    >>> account, witness = Account(ZCDP(1.0)), Witness(seed=1)
    >>> account.watch(witness)
    >>> noisy = account.release(Gaussian(sigma=10.0, l2_sensitivity=1.0), [12, 30])
    >>> [step] = witness.seen.steps
    >>> step.mechanism.name, step.value.tolist(), bool((step.output == noisy).all()), len(witness.seen.charges)
    ('Gaussian', [12, 30], True, 1)
    >>> account.journal.entries[0].charge.noise
    'seeded'
    """

    def __init__(
        self,
        seed: Seed = 0,
        *,
        tape: Tape | None = None,
        identifiers: NDArray[np.int64] | None = None,
        coins: Source | None = None,
    ) -> None:
        super().__init__(seed=seed)
        self.seen = WitnessedRun()
        self._tape = tape
        # Another stream than the coins: the high bit keeps its seed apart from every seed that is asked for.
        self._noise = Source(seed=(1 << 64) | int(seed))
        self._seed = seed
        self._identifiers = identifiers
        self._coins = coins
        self._words_drawn: dict[int, int] = {}

    @property
    def provenance(self) -> Provenance:
        """Always seeded: a run whose values a witness sees is not private."""
        return "seeded"

    def bytes(self, count: int) -> bytes:
        """So many secret coins, `count` bytes of them."""
        return super().bytes(count) if self._coins is None else self._coins.bytes(count)

    def words_of(self, records: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Where records have identifiers, the next word of each one's own stream, which no other record moves."""
        if self._identifiers is None:
            return super().words_of(records)
        names = self._identifiers[records].tolist()
        words = np.empty(len(names), dtype=np.uint64)
        for place, name in enumerate(names):
            count = self._words_drawn[name] = self._words_drawn.get(name, -1) + 1
            words[place] = _own_word(self._seed, name, count)
        return words

    def record_charge(self, account: Any, charge: Charge) -> None:
        """Record the `charge` of an `account`; the account calls this."""
        self.seen.charges.append(charge)
        self.seen.payers.append(account)
        self.seen.order.append("charge")

    def draw_and_record(self, account: Any, mechanism: Mechanism, value: Any) -> Any:
        """Draw from `mechanism` around `value`, or take the tape's output, and record it.

        The `account` calls this in place of a draw.
        """
        number = len(self.seen.steps)
        if self._tape is None:
            output = mechanism.sample(value, self._noise)
        else:
            output = self._tape(Draw(number=number, mechanism=mechanism, value=value, account=account))
        self.seen.steps.append(
            Draw(number=number, mechanism=mechanism, value=value, output=output, account=account)
        )
        self.seen.order.append("draw")
        return output


def _own_word(seed: Seed, name: int, count: int) -> int:
    digest = blake2b(b"%d/%d/%d" % (seed, name, count), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class TapeEnded(Exception):
    """A run asked for more outputs than were recorded."""


def replay_tape(outputs: list[Any]) -> Tape:
    """The tape of recorded outputs; a run that asks for more ends in `TapeEnded`.

    >>> replay_tape([7])(Draw(number=0, mechanism=None, value=None))
    7
    """

    def tape(step: Draw) -> Any:
        if step.number >= len(outputs):
            raise TapeEnded(f"step {step.number + 1} was asked for, {len(outputs)} outputs are on the tape")
        return outputs[step.number]

    return tape

"""Planted faults in tables, releases and the ledger."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="users: one row more than the bound",
        target="data:Statements._kept",
        old="WHERE slot <= {unit.max_rows}",
        new="WHERE slot <= {unit.max_rows + 1}",
        tests=("tests/contracts/test_engines.py",),
    ),
    Fault(
        name="users: L2 sensitivity of counts grows with the root",
        target="data:counts_l2",
        old="unit.max_rows if distinct_cells else unit.max_rows**2",
        new="unit.max_rows",
        tests=("tests/data/test_sensitivity.py",),
    ),
    Fault(
        name="order: a key that is not fresh",
        target="data:Order.shuffled",
        old="source.bytes(KEY_BYTES)",
        new="bytes(KEY_BYTES)",
        tests=("tests/contracts/test_engines.py",),
    ),
    Fault(
        name="encode: rows clipped to twice the norm",
        target="privacy:clip_rows",
        old="relative > row_norm / size",
        new="relative > 2 * row_norm / size",
        tests=("tests/data/test_encode.py",),
    ),
    Fault(
        name="ledger: twice the limit",
        target="ledger:LedgerJournal.charge",
        old='("", self._limit)',
        new='("", self._limit.scaled(Fraction(2)))',
        tests=("tests/ledger/test_ledger.py",),
    ),
    Fault(
        name="ledger: open accounts hold only what they spent",
        target="ledger:committed",
        old='chain.entry(opened).body["amount"]',
        new='chain.total(name, "") or ["0", "0", "0"]',
        tests=("tests/ledger/test_ledger.py",),
    ),
    Fault(
        name="release: one seeded charge overlooked",
        target="release:Release.of",
        old='or any(e.charge.noise == "seeded" for e in paid)',
        new="",
        tests=("tests/release/test_release.py",),
    ),
)

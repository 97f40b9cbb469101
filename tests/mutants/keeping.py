"""Planted faults in tables, releases and the ledger."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="users: one row more than the bound",
        file="data/sql.py",
        old="WHERE slot <= {unit.max_rows}",
        new="WHERE slot <= {unit.max_rows + 1}",
        tests=("tests/contracts/test_engines.py",),
    ),
    Fault(
        name="users: L2 sensitivity of counts grows with the root",
        file="data/sensitivity.py",
        old="rows = unit.max_rows if distinct_cells else unit.max_rows**2",
        new="rows = unit.max_rows",
        tests=("tests/test_data_sensitivity.py",),
    ),
    Fault(
        name="order: a key that is not fresh",
        file="data/order.py",
        old="return Shuffled(key=source.bytes(KEY_BYTES), ",
        new="return Shuffled(key=bytes(KEY_BYTES), ",
        tests=("tests/contracts/test_engines.py",),
    ),
    Fault(
        name="encode: rows clipped to twice the norm",
        file="data/encode.py",
        old="too_long = relative > row_norm / size",
        new="too_long = relative > 2 * row_norm / size",
        tests=("tests/test_data_encode.py",),
    ),
    Fault(
        name="ledger: twice the limit",
        file="ledger/journal.py",
        old='caps = (("", self._limit), *',
        new='caps = (("", self._limit.scaled(Fraction(2))), *',
        tests=("tests/test_ledger.py",),
    ),
    Fault(
        name="ledger: open accounts hold only what they spent",
        file="ledger/dataset.py",
        old='chain.entry(opened).body["amount"] if closed is None',
        new='chain.total(name, "") or ["0", "0", "0"] if closed is None',
        tests=("tests/test_ledger.py",),
    ),
    Fault(
        name="release: one seeded charge overlooked",
        file="release/release.py",
        old=' or any(e.charge.noise == "seeded" for e in paid)',
        new="",
        tests=("tests/test_release.py",),
    ),
)

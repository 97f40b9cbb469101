"""Planted faults in tables, releases and the ledger."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="users: one row more than the bound",
        target="data:Statements._kept",
        old="WHERE slot <= {unit.max_rows}",
        new="WHERE slot <= {unit.max_rows + 1}",
        tests=(
            "tests/contracts/test_engines.py::TestUsers::test_every_engine_keeps_the_same_rows[duckdb-parquet-1]",
        ),
    ),
    Fault(
        name="users: L2 sensitivity of counts grows with the root",
        target="data:counts_l2",
        old="unit.max_rows if distinct_cells else unit.max_rows**2",
        new="unit.max_rows",
        tests=("tests/data/test_sensitivity.py::test_counts",),
    ),
    Fault(
        name="order: a key that is not fresh",
        target="data:Order.shuffled",
        old="source.bytes(KEY_BYTES)",
        new="bytes(KEY_BYTES)",
        tests=("tests/contracts/test_engines.py::TestOrder::test_shuffled_is_uniform[duckdb-parquet]",),
    ),
    Fault(
        name="encode: rows clipped to twice the norm",
        target="privacy:_clip_block",
        old="lengths > row_norm / size",
        new="lengths > 2 * row_norm / size",
        tests=("tests/data/test_encode.py::test_every_container_gives_the_same_rows",),
    ),
    Fault(
        name="ledger: twice the limit",
        target="ledger:LedgerJournal.charge",
        old='("", self._limit)',
        new='("", self._limit.scaled(Fraction(2)))',
        tests=("tests/ledger/test_ledger.py::test_ten_tenths_fit_and_the_eleventh_does_not",),
    ),
    Fault(
        name="ledger: open accounts hold only what they spent",
        target="ledger:committed",
        old='chain.entry(opened).body["amount"]',
        new='chain.total(name, "") or ["0", "0", "0"]',
        tests=(
            "tests/ledger/test_ledger.py::test_open_accounts_hold_their_whole_limit_and_closed_ones_what_they_spent",
        ),
    ),
    Fault(
        name="release: the mark of a seed is not passed on to the guarantee of an old file",
        target="release:Release.__post_init__",
        old="self.guarantee.drawn_from(self.provenance.noise)",
        new="self.guarantee",
        tests=("tests/privacy/test_guarantee.py", "tests/release/test_archive.py"),
    ),
)

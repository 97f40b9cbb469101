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
        target="data:_clip_block",
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
        target="ledger:committed_amounts",
        old='chain.entry(opened).body["amount"]',
        new='chain.total(name, "") or ["0", "0", "0"]',
        tests=(
            "tests/ledger/test_ledger.py::test_open_accounts_hold_their_whole_limit_and_closed_ones_what_they_spent",
        ),
    ),
    Fault(
        name="release: the mark of a seed is not passed on to the guarantee",
        target="release:Release.__post_init__",
        old="self.guarantee.drawn_from(self.provenance.noise)",
        new="self.guarantee",
        tests=("tests/release/test_release.py::test_a_seed_marks_the_promise_too",),
    ),
    Fault(
        name="ledger: what is put in after opening is not met",
        target="ledger:Store.writing",
        old="require_layout(connection, self.path)",
        new="pass",
        tests=(
            "tests/ledger/test_layout.py::test_what_is_put_in_while_it_is_open_is_met_by_the_next_charge",
        ),
    ),
    Fault(
        name="ledger: triggers are not looked at",
        target="ledger:schema_objects",
        old="FROM sqlite_master",
        new="FROM sqlite_master WHERE type IN ('table', 'view')",
        tests=("tests/ledger/test_layout.py::test_a_file_with_anything_else_in_it_is_refused_at_opening",),
    ),
    Fault(
        name="ledger: two objects in one place of the file",
        target="ledger:require_layout",
        old="len(set(places)) < len(places)",
        new="False",
        tests=("tests/ledger/test_layout.py::test_a_file_with_anything_else_in_it_is_refused_at_opening",),
    ),
    Fault(
        name="ledger: indexes are not held against their tables",
        target="ledger:Chain.integrity",
        old="integrity_check(1)",
        new="quick_check(1)",
        tests=("tests/ledger/test_layout.py::test_an_index_that_hides_a_row_is_found_at_opening",),
    ),
    Fault(
        name="ledger: a total that is gone counts as nothing spent",
        target="ledger:Chain._moved",
        old='share == "" and self.charges(account)',
        new="False",
        tests=("tests/ledger/test_layout.py::test_a_total_that_is_gone_does_not_count_as_nothing_spent",),
    ),
    Fault(
        name="ledger: a charge is not read back",
        target="ledger:Chain.append",
        old="self._require_written(entry, payload)",
        new="pass",
        tests=("tests/ledger/test_layout.py::test_a_charge_that_did_not_arrive_draws_no_noise",),
    ),
    Fault(
        name="keys: a public part is written over",
        target="ledger:_write_new",
        old="os.O_CREAT | os.O_EXCL | os.O_WRONLY",
        new="os.O_CREAT | os.O_WRONLY",
        tests=("tests/ledger/signing/test_keys.py::test_whatever_is_there_stays",),
    ),
    Fault(
        name="rows: whole numbers in logarithmic bins are even",
        target="synth:_numbers",
        old='logarithmic=column.spacing == "log"',
        new="logarithmic=False",
        tests=("tests/synth/rows/test_laws_in_bins.py",),
    ),
    Fault(
        name="outputs: inodes are not compared",
        target="release:_identities",
        old="identities.add((status.st_dev, status.st_ino))",
        new="pass",
        tests=("tests/release/test_outputs.py::test_another_name_of_a_file_is_the_file",),
    ),
    Fault(
        name="outputs: case is not looked through",
        target="release:_without_case",
        old=".casefold()",
        new="",
        tests=("tests/release/test_outputs.py::test_what_is_read_is_never_written_however_it_is_spelled",),
    ),
    Fault(
        name="outputs: parts of a database are forgotten",
        target="release:FileRead._parts",
        old="for ending in PARTS",
        new="for ending in ()",
        tests=("tests/release/test_outputs.py::test_what_is_read_is_never_written_however_it_is_spelled",),
    ),
    Fault(
        name="outputs: a ledger that nobody named is written over",
        target="release:whole",
        old="require_replaceable(path)",
        new="pass",
        tests=("tests/release/test_outputs.py::test_ledgers_and_private_keys_are_written_over_by_nothing",),
    ),
    Fault(
        name="outputs: commands do not ask",
        target="cli:Command.invoke",
        old="outputs_of(self, ctx.params).require()",
        new="pass",
        tests=("tests/cli/test_written_paths.py::test_nothing_that_is_read_or_written_is_written_over",),
    ),
    Fault(
        name="plan: outputs are not compared",
        target="plan:ReleasePlan.require_outputs",
        old="self.outputs().require_apart()",
        new="pass",
        tests=("tests/plan/test_outputs.py::test_no_step_writes_over_what_the_plan_reads",),
    ),
    Fault(
        name="plan: steps write anywhere",
        target="plan:ReleasePlan.require_outputs",
        old="not self.outside and",
        new="False and",
        tests=("tests/plan/test_outputs.py::test_outside_of_the_folder_is_said_by_who_runs_the_plan",),
    ),
)

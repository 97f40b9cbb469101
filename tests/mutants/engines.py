"""Planted faults in PostgreSQL, Spark and what they compute."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="sql gradient: clipped by the score, not by the length",
        target="learn:GradientSum.spelled",
        old="greatest(abs(gg) * l, {clip})",
        new="greatest(abs(gg), {clip})",
        tests=("tests/learn/rows/test_engine_sums.py::TestStatistics::test_no_row_adds_more_than_the_clip",),
    ),
    Fault(
        name="sql rows: stretched to the bound, not clipped",
        target="data:FeatureRow._clip",
        old="greatest({length}, {bound})",
        new="{length}",
        tests=("tests/learn/rows/test_engine_sums.py::TestStatistics::test_moments",),
    ),
    Fault(
        name="postgres: every statement its own snapshot",
        target="data:SETTINGS",
        old="REPEATABLE READ",
        new="READ COMMITTED",
        tests=("tests/data/engines/postgres/test_ways.py::TestWays::test_one_snapshot",),
    ),
    Fault(
        name="postgres: NaN is not missing",
        target="data:PostgresDialect.is_nan",
        old="= 'NaN'",
        new="IS NULL",
        tests=(
            "tests/contracts/test_engines.py::TestSameAnswers::test_counts_of_every_type[postgres-server]",
        ),
    ),
    Fault(
        name="partitions: weighted sensitivity halved",
        target="learn:Averaged.l2_sensitivity",
        old="size / self.course.records",
        new="size / self.course.records / 2",
        tests=("tests/learn/rows/test_engine_epochs.py::test_the_bound_is_nearly_reached",),
    ),
    Fault(
        name="partitions: used where the count is private",
        target="learn:in_parts",
        old="not course.adjacency.count_is_public",
        new="course is None",
        tests=("tests/learn/rows/test_engine_epochs.py::test_under_add_remove_rows_are_streamed",),
    ),
    Fault(
        name="spark: a repeated key passes",
        target="data:_rises",
        old="after[:, word] > before[:, word]",
        new="after[:, word] >= before[:, word]",
        tests=("tests/data/engines/spark/test_table.py::TestLostRows::test_keys_must_rise",),
    ),
    Fault(
        name="spark: parts that lost rows are used",
        target="data:_gathered",
        old='all(row["intact"] for row in made)',
        new="bool(made)",
        tests=("tests/data/engines/spark/test_table.py::TestLostRows::test_a_loss_that_a_repetition_hides",),
    ),
    Fault(
        name="extension: a row may come twice",
        target="kernel:in_order",
        old="|| (compared == 0 && e->key_size >= size)",
        new="",
        tests=(
            "tests/data/engines/postgres/test_extension.py::TestOrder::test_rows_out_of_order_are_refused",
        ),
    ),
    Fault(
        name="extension: the number of rows is not compared",
        target="data:AggregatePasses.check",
        old="(reached.steps, reached.rows, reached.passes) != wanted",
        new="(reached.steps, reached.passes) != (wanted[0], wanted[2])",
        tests=(
            "tests/data/engines/postgres/test_extension.py::TestBadRows::test_another_number_of_rows_is_refused",
        ),
    ),
    Fault(
        name="extension: one order for everybody",
        target="data:_key",
        old="order.key + portion",
        new="portion",
        tests=(
            "tests/data/engines/postgres/test_extension.py::TestOrder::test_a_shuffle_is_a_keyed_hash_of_the_place_with_a_key_for_each_statement",
        ),
    ),
    Fault(
        name="copy: rows in storage order",
        target="learn:ShuffledCopy._write",
        old="self._examples.shuffled(source)",
        new="self._examples.chunks()",
        tests=("tests/learn/rows/test_shuffled_copy.py::test_the_order_is_drawn_for_each_run",),
    ),
    Fault(
        name="copy: a row lost",
        target="learn:ShuffledCopy._append",
        old="self._rows += len(labels)",
        new="self._rows += max(0, len(labels) - 1)",
        tests=("tests/learn/rows/test_shuffled_copy.py::test_every_pass_is_the_first_one_bit_by_bit",),
    ),
    Fault(
        name="DuckDB: NaN is asked of a file's statistics",
        target="data:Dialect.is_nan",
        old="(CASE WHEN isfinite({0}) THEN FALSE ELSE CAST({0} AS VARCHAR) LIKE '%nan' END)",
        new="isnan({0})",
        tests=("tests/review/test_data_findings.py",),
    ),
    Fault(
        name="errors: a password is shown",
        target="errors:without_password",
        old="text = pattern.sub(hidden, text)",
        new="pass",
        tests=("tests/review/test_data_findings.py",),
    ),
    Fault(
        name="errors: the words of another library are passed on",
        target="errors:withholding",
        old="except Exception as error:",
        new="except ZeroDivisionError as error:",
        tests=("tests/data/engines/test_failures.py::test_a_caller_s_view_that_cannot_be_computed",),
    ),
    Fault(
        name="csv: a stray quote is let through",
        target="data:LineRules.sound",
        old="good[self._misplaced(raw, quotes, before, among, starts, stops)] = False",
        new="good &= True",
        tests=("tests/data/engines/test_csv_files.py::test_a_broken_line_is_a_row_of_nothing",),
    ),
    Fault(
        name="csv: one bad byte breaks the lines of its block",
        target="data:_is_unicode",
        old="raw[starts[place] : stops[place]].tobytes().decode()",
        new="raw.tobytes().decode()",
        tests=("tests/data/engines/test_csv_files.py::test_a_row_is_made_of_its_own_line",),
    ),
    Fault(
        name="csv: a broken line is dropped",
        target="data:LineRules.cleaned",
        old='b"" if empty[place] else nothing',
        new='b""',
        tests=("tests/data/engines/test_csv_files.py::test_a_broken_line_is_a_row_of_nothing",),
    ),
    Fault(
        name="csv: a byte order mark of a row is taken for the file's",
        target="data:LineRules.parsed",
        old="lines.startswith(_BYTE_ORDER_MARK)",
        new="False",
        tests=("tests/data/engines/test_csv_files.py::test_a_row_is_made_of_its_own_line",),
    ),
    Fault(
        name="csv: joined lines are not carried over the end of a block",
        target="data:LineRules.joined",
        old="after is None and not last and len(raw) - starts[here] <= MOST_BYTES",
        new="False",
        tests=(
            "tests/data/engines/test_csv_files.py::test_records_of_several_lines_where_they_are_declared",
        ),
    ),
    Fault(
        name="csv: an undecodable letter is replaced by a question mark",
        target="data:CsvFile._blocks",
        old='"holdfast-broken"',
        new='"replace"',
        tests=("tests/data/engines/test_csv_files.py::test_a_broken_letter_of_utf_16_spoils_its_line_only",),
    ),
    Fault(
        name="csv: decimal commas everywhere",
        target="data:CsvRows.batches",
        old='comma = self.file.format.decimal == ","',
        new="comma = True",
        tests=(
            "tests/data/engines/test_csv_files.py::test_a_comma_is_a_decimal_sign_only_where_it_is_declared",
        ),
    ),
    Fault(
        name="objects: one type for all elements",
        target="data:single_type",
        old="len(found) == 1 and next(iter(found)) in _ALIKE",
        new="len(found) >= 1",
        tests=("tests/contracts/test_engine_neighbours.py::test_one_object_changes_no_other",),
    ),
    Fault(
        name="duckdb: an interrupt is waited for",
        target="data:interruptible",
        old="raise KeyboardInterrupt from None",
        new="return made[0]",
        tests=("tests/data/engines/test_failures.py::test_an_interrupt_ends_a_query",),
    ),
    Fault(
        name="spark: identifiers as Java writes doubles",
        target="data:SparkDialect.bits",
        old="_BITS",
        new='"CAST({0} AS STRING)"',
        tests=(
            "tests/contracts/test_engine_neighbours.py::test_every_engine_writes_identifiers_alike[spark]",
        ),
    ),
    Fault(
        name="identifiers: decimals keep their zeros",
        target="data:Dialect.without_zeros",
        old="THEN {short} ELSE",
        new="THEN {digits} ELSE",
        tests=(
            "tests/contracts/test_engine_neighbours.py::test_every_engine_writes_identifiers_alike[duckdb]",
        ),
    ),
    Fault(
        name="postgres: a time limit is a lost connection",
        target="data:Session._kind",
        old='(not state and "timeout" in said and self._alive())',
        new="False",
        tests=(
            "tests/data/engines/test_failures.py::TestPostgres::test_a_time_limit_is_not_a_lost_connection",
        ),
    ),
    Fault(
        name="postgres: hidden rows are not spoken of",
        target="data:Session.filters",
        old="row_security = off",
        new="row_security = on",
        tests=(
            "tests/data/engines/test_failures.py::TestPostgres::test_rows_that_policies_hide_are_spoken_of",
        ),
    ),
)

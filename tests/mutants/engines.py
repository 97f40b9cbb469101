"""Planted faults in PostgreSQL, Spark and what they compute."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="sql gradient: clipped by the score, not by the length",
        target="learn:GradientSum.spelling",
        old="greatest(abs(gg) * l, {clip})",
        new="greatest(abs(gg), {clip})",
        tests=("tests/learn/rows/test_engine_sums.py::TestStatistics::test_no_row_adds_more_than_the_clip",),
    ),
    Fault(
        name="sql rows: stretched to the bound, not clipped",
        target="data:FeatureRow._clip",
        old="greatest({length}, {bound})",
        new="{length}",
        tests=("tests/learn/rows/test_engine_sums.py::TestStatistics::test_moments[symmetric-0.0]",),
    ),
    Fault(
        name="duckdb: files stay within reach",
        target="data:SEAL",
        old="SET GLOBAL enable_external_access = false",
        new="SET GLOBAL enable_external_access = true",
        tests=(
            "tests/data/engines/duckdb/test_sealed.py::test_a_sealed_connection_stays_shut",
            "tests/data/engines/duckdb/test_sealed.py::test_every_connection_is_sealed_before_it_reads",
        ),
    ),
    Fault(
        name="duckdb: the seal can be broken",
        target="data:SEAL",
        old="SET GLOBAL lock_configuration = true",
        new="SET GLOBAL lock_configuration = false",
        tests=("tests/data/engines/duckdb/test_sealed.py::test_a_sealed_connection_stays_shut",),
    ),
    Fault(
        name="duckdb: variables of Python are tables on every cursor",
        target="data:SEAL",
        old="SET GLOBAL python_enable_replacements",
        new="SET python_enable_replacements",
        tests=("tests/data/engines/duckdb/test_sealed.py::test_every_cursor_has_the_settings",),
    ),
    Fault(
        name="duckdb: any view of a file is read",
        target="data:DatabaseTable.find",
        old='kind != "BASE TABLE" and not reads_own_tables(connection, name, database=STORED_DATABASE)',
        new="False",
        tests=("tests/data/engines/duckdb/test_sealed.py::test_a_view_reads_nothing_but_its_file",),
    ),
    Fault(
        name="duckdb: the database of a file has a name that a schema may have",
        target="data:STORED_DATABASE",
        old="holdfast_stored_{_TOKEN}",
        new="holdfast_stored",
        tests=("tests/data/engines/duckdb/test_sealed.py::test_a_schema_may_be_called_anything",),
    ),
    Fault(
        name="duckdb: one table of the file is enough for a view",
        target="data:reads_own_tables",
        old="all(",
        new="any(",
        tests=(
            "tests/data/engines/duckdb/test_sealed.py::"
            "test_a_view_reads_nothing_but_its_file[settings beside rows]",
        ),
    ),
    Fault(
        name="duckdb: macros of a connection stand for functions",
        target="data:require_no_shadows",
        old="if not internal and str(name).lower() in own",
        new="if not internal and str(name) in ()",
        tests=(
            "tests/data/engines/duckdb/test_sealed.py::test_a_connection_with_macros_for_functions_is_refused",
        ),
    ),
    Fault(
        name="duckdb: the file's collations decide what is equal",
        target="data:Dialect.bytewise",
        old='({0} COLLATE "C")',
        new="({0})",
        tests=("tests/data/engines/duckdb/test_sealed.py::test_collations_of_a_file_change_no_answer",),
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
        target="learn:AveragedRuns.l2_sensitivity",
        old="size / self.run.records",
        new="size / self.run.records / 2",
        tests=("tests/learn/rows/test_part_training.py::test_the_bound_is_nearly_reached",),
    ),
    Fault(
        name="partitions: used where the count is private",
        target="learn:average_over_parts",
        old="not run.adjacency.count_is_public",
        new="run is None",
        tests=("tests/learn/rows/test_part_training.py::test_under_add_remove_rows_are_streamed",),
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
        target="data:_results_in_order",
        old='all(row["intact"] for row in answers)',
        new="bool(results)",
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
        old="(state.steps, state.rows, state.passes) != expected",
        new="(state.steps, state.passes) != (expected[0], expected[2])",
        tests=(
            "tests/data/engines/postgres/test_extension.py::"
            "TestBadRows::test_another_number_of_rows_is_refused[10-202]",
        ),
    ),
    Fault(
        name="extension: one order for everybody",
        target="data/epochs:_key",
        old="order.key + portion",
        new="portion",
        tests=(
            "tests/data/engines/postgres/test_extension.py::TestOrder::test_a_shuffle_is_a_keyed_hash_of_the_place_with_a_key_for_each_statement",
        ),
    ),
    Fault(
        name="copy: rows in storage order",
        target="learn:ShuffledCopy._write",
        old="self._examples.shuffled_chunks(source)",
        new="self._examples.chunks()",
        tests=("tests/learn/rows/test_shuffled_copy.py::test_the_order_is_drawn_for_each_run",),
    ),
    Fault(
        name="copy: a chunk that was cut is taken for a whole one",
        target="learn:PrivateFile._read_into",
        old='raise DataError("the private copy of the rows is shorter than it was; nothing was released")',
        new="break",
        tests=("tests/learn/rows/test_row_copy.py::test_a_copy_that_was_cut_is_an_error",),
    ),
    Fault(
        name="copy: a part of a write counts as all of it",
        target="learn:_write",
        old="rest = rest[file.write(rest) :]",
        new="file.write(rest); break",
        tests=("tests/learn/rows/test_row_copy.py::test_a_system_that_writes_and_reads_in_parts",),
    ),
    Fault(
        name="copy: a pass that was broken off is read as a whole one",
        target="learn:RowCopy._write",
        old="self._writing = False",
        new="self._writing, self._complete = False, self._file.usable",
        tests=(
            "tests/learn/rows/test_row_copy.py::test_a_pass_inside_the_first_one_and_a_broken_one_change_nothing",
        ),
    ),
    Fault(
        name="copy: the file stays after the fit",
        target="learn:PrivateLinearEstimator.fit",
        old="with closing(prepared.examples):",
        new="if True:",
        tests=("tests/learn/rows/test_row_copy.py::test_the_copy_is_gone_with_the_fit",),
    ),
    Fault(
        name="copy: rows are taken for short after one look at any pass",
        target="learn:ClippedBlocks._cut_blocks",
        old="self._known_within_norm = all_within and self._examples.repeats",
        new="self._known_within_norm = self._examples.repeats",
        tests=("tests/learn/rows/test_row_copy.py::test_rows_too_long_are_clipped_in_every_pass",),
    ),
    Fault(
        name="copy: made where the caller forbids it",
        target="data:Table.copies",
        old="if self.local_copy is None else self.local_copy",
        new="or bool(self.local_copy)",
        tests=("tests/learn/rows/test_row_copy.py::test_which_tables_are_copied",),
    ),
    Fault(
        name="work folder: one that is in use is swept",
        target="data:remove_abandoned_folders",
        old="if ours:",
        new="if True:",
        tests=("tests/data/test_work_folder.py::test_what_is_not_ours_stays",),
    ),
    Fault(
        name="work folder: others may read what is spilled",
        target="data:WorkFolder.__init__",
        old="_make_files_private(self.path)",
        new="pass",
        tests=("tests/data/test_work_folder.py::test_files_are_for_their_owner_alone",),
    ),
    Fault(
        name="work folder: commands leave what a killed one left",
        target="cli:Commands.invoke",
        old="remove_abandoned_folders()",
        new="pass",
        tests=("tests/data/test_work_folder.py::test_every_command_sweeps_what_was_left",),
    ),
    Fault(
        name="work folder: the file of rows keeps its name",
        target="data:_attach_work",
        old="os.unlink(place)",
        new="pass",
        tests=("tests/data/test_work_folder.py::test_rows_have_no_name",),
    ),
    Fault(
        name="work folder: rows are written to a log that has a name",
        target="data:_attach_work",
        old=", RECOVERY_MODE no_wal_writes",
        new="",
        tests=("tests/data/test_work_folder.py::test_rows_have_no_name",),
    ),
    Fault(
        name="work folder: a fork removes what its parent uses",
        target="data:WorkFolder.delete",
        old="if os.getpid() == self._process:",
        new="if True:",
        tests=("tests/data/test_work_folder.py::test_a_fork_removes_nothing",),
    ),
    Fault(
        name="work folder: a signal leaves it",
        target="data:_end",
        old="delete_all()",
        new="pass",
        tests=(
            "tests/data/test_work_folder.py::"
            "test_it_goes_with_every_ending_that_can_be_caught[os.kill(os.getpid(), signal.SIGTERM)]",
        ),
    ),
    Fault(
        name="additive: chunks beyond memory are lost",
        target="learn:CellRows.chunks",
        old="if self.file is not None:",
        new="if self.file is None:",
        tests=("tests/learn/additive/test_engines.py::test_from_parquet_wherever_rows_are_kept",),
    ),
    Fault(
        name="DuckDB: NaN is asked of a file's statistics",
        target="data:Dialect.is_nan",
        old="(CASE WHEN isfinite({0}) THEN FALSE ELSE CAST({0} AS VARCHAR) LIKE '%nan' END)",
        new="isnan({0})",
        tests=(
            "tests/review/test_data_findings.py::"
            "test_a_nan_in_a_file_follows_its_columns_policy[category-float-pyarrow-view]",
        ),
    ),
    Fault(
        name="errors: a password is shown",
        target="errors:without_password",
        old="text = pattern.sub(hidden, text)",
        new="pass",
        tests=("tests/review/test_data_findings.py::test_schema_draft_prints_no_password[without slashes]",),
    ),
    Fault(
        name="errors: a password stays behind a usage error",
        target="cli:errors_in_one_line",
        old="raise error from None  #",
        new="raise  #",
        tests=("tests/cli/test_ending.py",),
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
        old="good[self._records_with_stray_quotes(raw, quotes, before, among, starts, stops)] = False",
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
        name="csv: a line that ends twice is two lines",
        target="data:_with_single_returns",
        old='b"\\r\\n"',
        new='b"\\n\\n"',
        tests=("tests/data/engines/test_csv_files.py::test_lines_may_end_twice",),
    ),
    Fault(
        name="csv: a broken line is dropped",
        target="data:LineRules.readable_lines",
        old='b"" if empty[place] else empty_record',
        new='b""',
        tests=("tests/data/engines/test_csv_files.py::test_a_broken_line_is_a_row_of_nothing",),
    ),
    Fault(
        name="csv: a byte order mark of a row is taken for the file's",
        target="data:LineRules.table_of",
        old="lines.startswith(_BYTE_ORDER_MARK)",
        new="False",
        tests=("tests/data/engines/test_csv_files.py::test_a_row_is_made_of_its_own_line",),
    ),
    Fault(
        name="csv: joined lines are not carried over the end of a block",
        target="data:LineRules.whole_records",
        old="after is None and not last and len(raw) - starts[here] <= MOST_RECORD_BYTES",
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
        old="len(types) == 1 and next(iter(types)) in _ALIKE",
        new="len(types) >= 1",
        tests=("tests/contracts/test_engine_neighbours.py::test_one_object_changes_no_other",),
    ),
    Fault(
        name="duckdb: an interrupt is waited for",
        target="data:interruptible",
        old="raise KeyboardInterrupt from None",
        new="return results[0]",
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
        old='(not state and "timeout" in message and self._alive())',
        new="False",
        tests=(
            "tests/data/engines/test_failures.py::"
            "TestPostgres::test_a_time_limit_is_not_a_lost_connection[sql]",
        ),
    ),
    Fault(
        name="postgres: hidden rows are not spoken of",
        target="data:PINS",
        old='"row_security": "off"',
        new='"row_security": "on"',
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[a policy]",
        ),
    ),
    Fault(
        name="postgres: the path is not part of the connection",
        target="data:with_pins",
        old="*(f\"-c {name}={value.replace(' ', '')}\" for name, value in pins.items())",
        new="",
        tests=(
            "tests/data/engines/postgres/test_strangers.py::"
            "test_the_path_of_a_url_or_of_the_environment_is_not_ours[None-]",
        ),
    ),
    Fault(
        name="postgres: the path is not said first",
        target="data:SETTINGS",
        old="*pin_statements(local=True)",
        new="",
        tests=("tests/data/engines/postgres/test_strangers.py::test_every_connection_begins_with_the_path",),
    ),
    Fault(
        name="postgres: a reader's connection may write",
        target="data:with_pins",
        old="READ_ONLY if read_only else {}",
        new="{}",
        tests=("tests/data/engines/postgres/test_code.py::test_every_statement_runs_pinned",),
    ),
    Fault(
        name="postgres: a catalogue without its schema",
        target="data:find_relation",
        old="FROM pg_catalog.pg_class c",
        new="FROM pg_class c",
        tests=(
            "tests/data/engines/postgres/test_code.py::test_the_server_sees_no_statement_before_the_pins",
        ),
    ),
    Fault(
        name="postgres: checks are computed to plan",
        target="data:PINS",
        old='"constraint_exclusion": "off"',
        new='"constraint_exclusion": "on"',
        tests=("tests/data/engines/postgres/test_code.py::test_every_statement_runs_pinned",),
    ),
    Fault(
        name="postgres: everybody is trusted with code",
        target="data:is_trusted_sql",
        old="(r.rolsuper OR r.rolname = CURRENT_USER{named})",
        new="(true{named})",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[a view]",
        ),
    ),
    Fault(
        name="postgres: any view is read",
        target="data:_OWNER_OF_RELATION",
        old="c.relkind IN ('v', 'f')",
        new="c.relkind IN ('f')",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[a view without functions of theirs]",
        ),
    ),
    Fault(
        name="postgres: foreign tables of others are read",
        target="data:_OWNER_OF_RELATION",
        old="c.relkind IN ('v', 'f')",
        new="c.relkind IN ('v')",
        tests=("tests/data/engines/postgres/test_code.py::test_a_foreign_table_of_a_stranger_is_refused",),
    ),
    Fault(
        name="postgres: indexes are not looked at",
        target="data/_engines/postgres/code:_STEPS",
        old="i.indrelid = reached.id",
        new="false",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[the predicate of an index]",
        ),
    ),
    Fault(
        name="postgres: statistics are not looked at",
        target="data/_engines/postgres/code:_STEPS",
        old="s.stxrelid = reached.id",
        new="false",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[statistics]",
        ),
    ),
    Fault(
        name="postgres: children and partitions are not looked at",
        target="data/_engines/postgres/code:_STEPS",
        old="h.inhparent = reached.id",
        new="false",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[an index of a partition]",
        ),
    ),
    Fault(
        name="postgres: what code is made of is not followed",
        target="data/_engines/postgres/code:_STEPS",
        old="d.objid = reached.id AND d.objsubid = 0",
        new="false",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_code_of_a_stranger_is_refused_and_not_run[the predicate of an index]",
        ),
    ),
    Fault(
        name="postgres: policies run unjudged",
        target="data:find_relation",
        old="_watch(session, row, policies=True, whose=whose)",
        new="pass",
        tests=("tests/data/engines/postgres/test_code.py::test_code_of_a_stranger_is_refused_and_not_run",),
    ),
    Fault(
        name="postgres: an open table is not looked at again",
        target="data:Session.stream",
        old="self._look()",
        new="pass",
        tests=(
            "tests/data/engines/postgres/test_code.py::test_code_that_is_added_later_does_not_run[an index-sql]",
        ),
    ),
    Fault(
        name="postgres: a superuser reads tables of anybody",
        target="data:find_relation",
        old='session.answer(MAY_DO_MORE, "ask for your rights").to_pylist()[0]["more"]',
        new="False",
        tests=("tests/data/engines/postgres/test_code.py::test_what_runs_nothing_is_read[a table]",),
    ),
    Fault(
        name="postgres: triggers on login are not spoken of",
        target="data:Session._require_no_login_trigger",
        old="if triggers:",
        new="if not triggers and False:",
        tests=("tests/data/engines/postgres/test_code.py::test_a_trigger_on_login_is_spoken_of",),
    ),
    Fault(
        name="postgres: enumerations are read by their owner's cast",
        target="data:_label",
        old="pg_catalog.enum_out(CAST({_DIALECT.identifier(column['name'])} AS {column['written']}))",
        new="{_DIALECT.identifier(column['name'])}",
        tests=(
            "tests/data/engines/postgres/test_code.py::"
            "test_what_runs_nothing_is_read[words with a cast of theirs]",
        ),
    ),
    Fault(
        name="postgres: event triggers of others run",
        target="data:_facts",
        old="if triggers:",
        new="if not triggers and False:",
        tests=(
            "tests/data/engines/postgres/test_code.py::test_an_event_trigger_with_a_function_of_a_stranger_stops_an_installation",
        ),
    ),
    Fault(
        name="postgres: an extension of a stranger's is called",
        target="data:find_installation",
        old='not is_ours(schemas[0]) or not all(function["trusted"] for function in functions)',
        new="False",
        tests=(
            "tests/data/engines/postgres/test_strangers.py::test_a_function_that_was_given_to_them_is_not_called",
        ),
    ),
)

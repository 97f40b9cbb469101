"""Planted faults in PostgreSQL, Spark and what they compute."""

from __future__ import annotations

from .fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="sql gradient: clipped by the score, not by the length",
        file="learn/engine_sums.py",
        old='f"{norm} / greatest({length}, {norm})"',
        new='f"{norm} / greatest(q, {norm})"',
        tests=("tests/test_learn_engine_sums.py::TestStatistics::test_no_row_adds_more_than_the_clip",),
    ),
    Fault(
        name="sql rows: stretched to the bound, not clipped",
        file="data/sql_features.py",
        old='return f"{bound} / greatest({length}, {bound})"',
        new='return f"{bound} / {length}"',
        tests=("tests/test_learn_engine_sums.py::TestStatistics::test_moments",),
    ),
    Fault(
        name="postgres: every statement its own snapshot",
        file="data/engines/postgres_session.py",
        old='"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"',
        new='"BEGIN ISOLATION LEVEL READ COMMITTED, READ ONLY"',
        tests=("tests/test_data_engine_postgres_ways.py::TestWays::test_one_snapshot",),
    ),
    Fault(
        name="postgres: NaN is not missing",
        file="data/engines/postgres_dialect.py",
        old="is_nan: str = \"({0} = 'NaN')\"",
        new='is_nan: str = "({0} IS NULL)"',
        tests=(
            "tests/contracts/test_engines.py::TestSameAnswers::test_counts_of_every_type[postgres-server]",
        ),
    ),
    Fault(
        name="partitions: weighted sensitivity halved",
        file="learn/partitioned.py",
        old="course.l2_sensitivity * (size / self.course.records)",
        new="course.l2_sensitivity * (size / self.course.records) / 2",
        tests=("tests/test_learn_partitioned.py::test_the_bound_is_nearly_reached",),
    ),
    Fault(
        name="partitions: used where the count is private",
        file="learn/partitioned.py",
        old="or not course.adjacency.count_is_public",
        new="or course is None",
        tests=("tests/test_learn_partitioned.py::test_under_add_remove_rows_are_streamed",),
    ),
    Fault(
        name="spark: a repeated key passes",
        file="data/engines/spark_worker.py",
        old="above |= equal & (after[:, word] > before[:, word])",
        new="above |= equal & (after[:, word] >= before[:, word])",
        tests=("tests/test_data_engine_spark.py::TestLostRows::test_keys_must_rise",),
    ),
    Fault(
        name="spark: parts that lost rows are used",
        file="data/engines/spark.py",
        old='and all(row["intact"] for row in made)',
        new="and bool(made)",
        tests=("tests/test_data_engine_spark.py::TestLostRows::test_a_loss_that_a_repetition_hides",),
    ),
    Fault(
        name="extension: a row may come twice",
        file="kernel/postgres/holdfast_sgd.c",
        old="compared > 0 || (compared == 0 && e->key_size >= size)",
        new="compared > 0",
        tests=("tests/test_postgres_extension.py::TestOrder::test_rows_out_of_order_are_refused",),
    ),
    Fault(
        name="extension: the number of rows is not compared",
        file="data/engines/postgres_plan.py",
        old="if (reached.steps, reached.rows, reached.passes) != wanted:",
        new="if (reached.steps, reached.passes) != (wanted[0], wanted[2]):",
        tests=("tests/test_postgres_extension.py::TestBadRows::test_another_number_of_rows_is_refused",),
    ),
    Fault(
        name="extension: one order for everybody",
        file="data/engines/postgres_epochs.py",
        old='sha256(order.key + portion.to_bytes(8, "big"))',
        new='sha256(portion.to_bytes(8, "big"))',
        tests=(
            "tests/test_postgres_extension.py::TestOrder::test_a_shuffle_is_a_keyed_hash_of_the_place_with_a_key_for_each_statement",
        ),
    ),
    Fault(
        name="copy: rows in storage order",
        file="learn/shuffled_copy.py",
        old="in self._examples.shuffled(source):",
        new="in self._examples.chunks():",
        tests=("tests/test_learn_shuffled_copy.py::test_the_order_is_drawn_for_each_run",),
    ),
    Fault(
        name="copy: a row lost",
        file="learn/shuffled_copy.py",
        old="self._rows += len(labels)",
        new="self._rows += max(0, len(labels) - 1)",
        tests=("tests/test_learn_shuffled_copy.py::test_every_pass_is_the_first_one_bit_by_bit",),
    ),
)

"""Planted faults in columns of real files: dates, spellings, levels, types, drafts and checks."""

from __future__ import annotations

from .fault import Fault

ENGINES = "tests/contracts/test_engines.py::TestSameAnswers::test_columns_of_real_files[duckdb-connection]"
DRAFT = "tests/data/draft/test_guesses.py::"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="written otherwise: numerals of a file are those of its declaration alone",
        target="data:Categorical.spellings",
        old="spellings.setdefault(self.normal_text(writing), spellings[self.normal_text(category)])",
        new="pass",
        tests=(
            "tests/learn/estimators/test_label_types.py::test_classes_are_found_however_a_program_writes_them",
        ),
    ),
    Fault(
        name="written otherwise: a table's rows are asked about where a matrix was fitted",
        target="learn:PrivateLinearEstimator._scores",
        old="input_matrix(self, X) if self._fitted_on_matrix else X",
        new="X",
        tests=("tests/learn/estimators/test_web_rows.py::test_what_is_no_number_is_refused_as_in_the_fit",),
    ),
    Fault(
        name="written otherwise: any European letter is Western",
        target="data:_in_an_alphabet",
        old="if not letters or _misplaced_share(text) >= _MOST_MISPLACED_SHARE:\n        return False",
        new="return bool(letters)",
        tests=("tests/data/draft/test_written_files.py::test_the_letters_of_a_language_tell_its_encoding",),
    ),
    Fault(
        name="columns: the 30th of February is a day in SQL",
        target="data:Dialect.moment",
        old="{day} <= ({length})",
        new="{day} <= 31",
        tests=(ENGINES,),
    ),
    Fault(
        name="columns: blanks around a text count in SQL",
        target="data:Dialect.canonical_text",
        old="if column.trim:",
        new="if column.ordered:",
        tests=(ENGINES,),
    ),
    Fault(
        name="columns: a marker of missing values is clipped in memory",
        target="data:numeric_values",
        old="raw[raw == marker] = np.nan",
        new="raw[raw == marker] = column.high",
        tests=(ENGINES,),
    ),
    Fault(
        name="columns: a level is chosen from the largest true count",
        target="synth/forecast:at_visible_levels",
        old="data.public_units if data.public_rows is None else data.public_rows",
        new="int(table.counts([table.schema.open_levels[:1]])[0].max())",
        tests=(f"{DRAFT}test_the_level_follows_from_public_numbers_alone",),
    ),
    Fault(
        name="columns: a model's level is chosen from the largest true count",
        target="learn:with_open_levels_chosen",
        old="schema.visible_levels(rows=rows, noise=noise)",
        new="schema.visible_levels(rows=int(table.counts([['code']])[0].max()), noise=noise)",
        tests=("tests/learn/estimators/test_levels.py::test_the_level_follows_from_public_numbers_alone",),
    ),
    Fault(
        name="columns: a point of thousands is read as a decimal point",
        target="data/moments:column_numbers",
        old="form.numerals(texts(values)) if text else values",
        new="values",
        tests=("tests/data/schema/test_columns.py::test_an_amount_is_never_read_by_another_form",),
    ),
    Fault(
        name="columns: a private copy of a database reads amounts as plain numbers",
        target="data/sql:Statements._number",
        old='self.dialect.read_amount(column, f"c{i}", self.kinds[name])',
        new='self.dialect.read_number(f"c{i}", self.kinds[name])',
        tests=(ENGINES,),
    ),
    Fault(
        name="columns: a type moves values to other cells",
        target="synth:as_type",
        old="if not in_other_cell.any(): return candidate",
        new="return candidate",
        tests=("tests/synth/rows/test_frames.py::test_a_value_beside_an_edge_is_rounded_into_its_own_cell",),
    ),
    Fault(
        name="columns: a public check shows exact counts",
        target="cli:check",
        old="check_table(source, schema_of_file) if internal else check_columns_of(source, schema_of_file)",
        new="check_table(source, schema_of_file)",
        tests=(f"{DRAFT}test_others_see_nothing_of_any_row",),
    ),
    Fault(
        name="columns: a drafted bound lies inside of what was seen",
        target="data/draft/round_bounds:round_bounds",
        old="math.ceil(Fraction(high) / step)",
        new="math.floor(Fraction(high) / step)",
        tests=("tests/data/draft/test_round_bounds.py::test_whole_numbers_stay_whole_and_keep_their_cells",),
    ),
    Fault(
        name="columns: two cells have one label",
        target="data/schema/bins:edge_words",
        old="if all(a < b for a, b in pairwise(map(float, texts))):",
        new="if texts:",
        tests=("tests/data/draft/test_round_bounds.py::test_labels_are_short_and_differ",),
    ),
    Fault(
        name="columns: blanks around texts are forgotten by a draft",
        target="data/draft/category_guesses:categories",
        old="elif trim or evidence.blanks:",
        new="elif False:",
        tests=("tests/data/draft/test_written_files.py::test_the_fit_reads_what_the_draft_read",),
    ),
    Fault(
        name="columns: a file of which only the beginning is UTF-8 is read as UTF-8",
        target="data/draft/sniff:_first_that_is_not_utf8",
        old="block = file.read(_BLOCK_BYTES)",
        new="block = b''",
        tests=("tests/data/draft/test_written_files.py::test_a_late_letter_decides_the_encoding",),
    ),
    Fault(
        name="columns: numbers that say why there is no answer are measured",
        target="data/draft/codes:special_numbers",
        old="marks[order[markers]] = True",
        new="pass",
        tests=("tests/data/draft/test_layouts.py::test_a_draft_is_what_the_documentation_says",),
    ),
    Fault(
        name="columns: an hour after noon is one before it in SQL",
        target="data/sql/dialect:Dialect._hour",
        old='("P", 12)',
        new='("P", 0)',
        tests=(
            "tests/data/schema/test_kinds.py::test_months_by_name_and_hours_after_noon_are_one_in_databases",
        ),
    ),
    Fault(
        name="columns: numbers of policies are categories of a draft",
        target="data/draft/identifier_guesses:_reason_for_texts",
        old="not are_serial_numbers(probe) and ",
        new="",
        tests=(f"{DRAFT}test_numbers_of_things_are_identifiers_and_no_codes_or_amounts",),
    ),
)

"""Planted faults in what opens files of strangers: their kind, their size, and what they say of themselves."""

from __future__ import annotations

from .fault import Fault

KINDS = ("tests/test_regular_file.py::test_other_kinds_are_refused_at_once",)
EXCHANGED = ("tests/test_regular_file.py::test_what_is_exchanged_after_the_look_is_still_refused",)
SIZE = ("tests/test_regular_file.py::test_a_file_is_read_up_to_the_size_that_it_had",)
TOML = ("tests/test_plain_data.py::test_toml_that_would_grow_is_not_parsed",)
PARQUET = "tests/data/engines/test_parquet_files.py::"
HOSTILE = "tests/release/test_hostile.py::"

FAULTS: tuple[Fault, ...] = (
    Fault(
        name="parquet: pages unpack to anything",
        target="data:require_room",
        old="needed > _GROWTH * size + _FREE_BYTES",
        new="needed < 0",
        tests=(
            "tests/data/engines/test_parquet_files.py::test_a_page_that_unpacks_to_more_than_its_file_allows_is_refused_before_it_is_read",
        ),
    ),
    Fault(
        name="parquet: a long value is written out as often as it is there",
        target="data:_parts_of_bounded_size",
        old="before + BATCH_BYTES",
        new="before + 2**60",
        tests=(
            "tests/data/engines/test_parquet_files.py::test_a_value_that_is_repeated_is_written_out_a_few_times_only",
        ),
    ),
    Fault(
        name="page: what could not be read back is written",
        target="dossier:render",
        old="_require_readable(page)",
        new="pass",
        tests=("tests/dossier/test_page.py::test_what_could_not_be_read_back_is_not_written",),
    ),
    Fault(
        name="files: a pipe is a file",
        target="regular_file:_other_kind",
        old="stat.S_ISREG(mode)",
        new="stat.S_ISREG(mode) or stat.S_ISFIFO(mode)",
        tests=KINDS,
    ),
    Fault(
        name="files: a device is looked at when it is open",
        target="regular_file:open_regular",
        old="_require_file(os.stat(path).st_mode, path)",
        new="",
        tests=("tests/test_regular_file.py::test_no_device_is_opened",),
    ),
    Fault(
        name="files: what is open is not looked at again",
        target="regular_file:open_regular",
        old="_require_file(status.st_mode, path)",
        new="",
        tests=EXCHANGED,
    ),
    Fault(
        name="files: a file of any size is read",
        target="regular_file:read_regular",
        old="size <= most_bytes",
        new="True",
        tests=SIZE,
    ),
    Fault(
        name="toml: keys of any length",
        target="plain_data:parse_toml",
        old="_LONG_KEY.search(bare)",
        new="False",
        tests=TOML,
    ),
    Fault(
        name="toml: tables and lists without end",
        target="plain_data:parse_toml",
        old="bytes_needed > _GROWTH * len(data) + _FREE_BYTES",
        new="False",
        tests=TOML,
    ),
    Fault(
        name="toml: quotes in a comment hide what follows",
        target="plain_data:_TOML_TEXTS",
        old=r"|#[^\n]*",
        new="",
        tests=TOML,
    ),
    Fault(
        name="toml: a text that never ends is read again from each of its quotes",
        target="plain_data:_TOML_TEXTS",
        old='*+"?|',
        new='*+"|',
        tests=("tests/test_plain_data.py::test_a_text_that_never_ends_is_taken_apart_once",),
    ),
    Fault(
        name="json: a text that never ends is read again from each of its quotes",
        target="plain_data:_JSON_TEXTS",
        old='*+"?',
        new='*+"',
        tests=("tests/test_plain_data.py::test_a_text_that_never_ends_is_taken_apart_once",),
    ),
    Fault(
        name="archive: what would not be read again is written",
        target="release:to_bytes",
        old="    _require_readable(text, entries)\n",
        new="",
        tests=("tests/release/test_archive.py::test_what_would_not_be_read_again_is_not_written",),
    ),
    Fault(
        name="json: in any encoding",
        target="plain_data:parse_json",
        old="data.removeprefix(_MARK).decode()",
        new="data.decode(json.detect_encoding(data))",
        tests=("tests/test_plain_data.py::test_json_in_another_encoding_is_not_read",),
    ),
    Fault(
        name="arrays: elements without bytes",
        target="release:_storable",
        old="0 < dtype.itemsize",
        new="0 <= dtype.itemsize",
        tests=("tests/release/test_hostile.py::test_an_array_is_as_large_as_its_bytes[|S0-1000, 9000]",),
    ),
    Fault(
        name="arrays: a side without end beside one of nothing",
        target="release:_array",
        old="max(shape, default=0) > len(data) + _MOST_EMPTY_SIDE",
        new="False",
        tests=(HOSTILE + "test_an_array_is_as_large_as_its_bytes",),
    ),
    Fault(
        name="tables: lists of nulls are read",
        target="release:_is_flat",
        old='"string large_string binary large_binary"',
        new='"string large_string binary large_binary list fixed_size_list struct union run_end_encoded"',
        tests=(HOSTILE + "test_columns_that_can_be_longer_than_their_bytes_are_neither_stored_nor_read",),
    ),
    Fault(
        name="tables: bytes of no length are read",
        target="release:_is_flat",
        old="return bool(dtype.byte_width)",
        new="return True",
        tests=(HOSTILE + "test_columns_that_can_be_longer_than_their_bytes_are_neither_stored_nor_read",),
    ),
    Fault(
        name="tables: nulls without end",
        target="release:_require_bytes",
        old="nulls > _NULLS_PER_BYTE * size + _FREE_NULLS or",
        new="",
        tests=(HOSTILE + "test_nulls_without_a_type_are_stored_as_far_as_they_are_read",),
    ),
    Fault(
        name="tables: dictionaries that grow from batch to batch",
        target="release:_may_expand",
        old="(adds is not None and message[adds])",
        new="False",
        tests=(HOSTILE + "test_a_dictionary_that_grows_from_batch_to_batch_is_refused",),
    ),
    Fault(
        name="parquet: metadata of any size",
        target="data:open_parquet",
        old="_Footer(file.read(length)).memory() > allowed",
        new="False",
        tests=(PARQUET + "test_metadata_that_would_grow_are_refused",),
    ),
    Fault(
        name="parquet: chunks of columns are not counted",
        target="data:_Structure._list",
        old="self.elements += min(count, len(self.data) - self.at)",
        new="self.elements += min(count, len(self.data) - self.at) if depth < 3 else 0",
        tests=(PARQUET + "test_metadata_that_would_grow_are_refused",),
    ),
    Fault(
        name="parquet: a wide schema counts like anything else",
        target="data:_Footer.memory",
        old="_COLUMN_BYTES * self.columns",
        new="_ELEMENT_BYTES * self.columns",
        tests=(PARQUET + "test_metadata_that_would_grow_are_refused",),
    ),
    Fault(
        name="parquet: a list is as long as it says",
        target="data:open_parquet",
        old="thrift_container_size_limit=length",
        new="thrift_container_size_limit=10**6",
        tests=(PARQUET + "test_no_list_is_longer_than_the_metadata",),
    ),
    Fault(
        name="parquet: rows that no group holds",
        target="data:open_parquet",
        old="sum(groups) != opened.metadata.num_rows",
        new="False",
        tests=(PARQUET + "test_rows_that_no_group_holds_are_refused",),
    ),
    Fault(
        name="arrays: a file of numbers is as large as its header says",
        target="data:_array",
        old="math.prod(shape) * dtype.itemsize != size - file.tell()",
        new="False",
        tests=(PARQUET + "test_an_array_is_as_large_as_its_header_says",),
    ),
    Fault(
        name="classes: as many as a schema declares",
        target="learn:ClassLabels.__post_init__",
        old="known > MOST_CLASSES",
        new="known > 10**9",
        tests=(
            "tests/learn/problem/test_labels.py::"
            "test_a_target_of_more_classes_than_a_classifier_can_hold_is_refused_before_anything_is_paid",
        ),
    ),
    Fault(
        name="doors: an option takes a pipe",
        target="cli:ReadFile.convert",
        old="if kind:",
        new="if False:",
        tests=("tests/contracts/test_doors.py::test_no_option_takes_anything_but_a_regular_file",),
    ),
    Fault(
        name="doors: rows are read from a device",
        target="data:_paths_of",
        old='require_regular(path, what="rows", error=DataError)',
        new="pass",
        tests=(
            "tests/contracts/test_doors.py::test_no_public_name_reads_anything_but_a_regular_file[a pipe]",
        ),
    ),
    Fault(
        name="doors: a release that cannot be read is a fault of the page",
        target="dossier:verify_dossier",
        old="given_files = [(file_digest(path), path) for path in paths]",
        new="given_files = [(file_digest(path) if path.is_file() else '', path) for path in paths]",
        tests=("tests/contracts/test_doors.py::test_no_public_name_reads_anything_but_a_regular_file",),
    ),
)

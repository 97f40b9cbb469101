"""How CSV files are written: marks, encodings, line ends, headings and delimiters; and what a draft leaves out."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from holdfast._cli.app import app
from holdfast.data import Categorical, CsvFormat, Hierarchy, Numeric, draft_schema, open_table
from holdfast.data._draft import draft_of
from holdfast.errors import DataError, ParameterError
from holdfast.privacy._adjacency import PrivacyUnit
from holdfast.synth import Synthesizer
from tests.layouts import HELD_OUT, LAYOUTS

WORDS = {
    "utf-8": ["Köln", "Łódź", "東京", "naïve"],
    "utf-8-sig": ["Köln", "Łódź", "東京", "naïve"],
    "utf-16": ["Köln", "Łódź", "東京", "naïve"],
    "cp1252": ["Köln", "Besançon", "Málaga", "Tromsø"],
    "cp932": ["東京都", "大阪府", "ホッカイドウ", "埼玉県"],
}
DRAWS = np.random.default_rng(3).permutation(
    [
        (e, d, n, h, q)
        for e in WORDS
        for d in ",;\t|"
        for n in ("\n", "\r\n", "\r\r\n")
        for h in (0, 3)
        for q in (0, 1)
    ]
)[:24]


@pytest.mark.parametrize("drawn", DRAWS, ids=lambda drawn: "-".join(map(repr, drawn)))
def test_a_file_is_read_as_it_is_written(drawn: tuple[str, ...], tmp_path: Path) -> None:
    """Whatever the encoding, delimiter, line end, heading and quotes: the same categories and the same numbers."""
    encoding, delimiter, newline, heading, quoted = drawn
    words = WORDS[str(encoding)]
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if int(quoted) else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=str(delimiter), lineterminator="\n", quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(["town", "amount", "note"])
    for place in range(200):
        writer.writerow([words[place % 4], f"{place}.25", f"a{delimiter} b{place % 3}"])
    whole = "".join(f"line {place} of a heading\n" for place in range(int(heading))) + text.getvalue()
    path = tmp_path / "f.csv"
    path.write_bytes(whole.replace("\n", str(newline)).encode(str(encoding)))
    draft = draft_of(str(path))
    assert not draft.left_out
    assert draft.schema.csv.skip == int(heading)
    town, amount, note = (draft.schema[name] for name in ("town", "amount", "note"))
    assert isinstance(town, Categorical)
    assert isinstance(amount, Numeric)
    assert set(town.declared_labels) == set(words)
    assert (amount.low, amount.high) == (0.0, 200.0)
    assert note.cells == 4
    with pytest.warns(match="draft"):
        counts = open_table(path, draft.schema).counts([["town"]])[0]
    assert counts.tolist() == [50, 50, 50, 50, 0]


def test_what_cannot_be_told_is_refused_with_the_way_out(tmp_path: Path) -> None:
    """Cyrillic in one byte a letter is no Western text; whoever names it may go on."""
    path = tmp_path / "f.csv"
    path.write_bytes(("город,n\n" + "Псков,1\nЖдиц,2\n" * 30).encode("cp1251"))
    with pytest.raises(DataError, match="--encoding"):
        draft_of(str(path))
    town = draft_of(str(path), encoding="cp1251").schema["город"]
    assert set(town.labels) >= {"Псков", "Ждиц"}
    with pytest.raises(ParameterError, match="encoding must be one of"):
        draft_of(str(path), encoding="utf-7")
    path.write_bytes(b"a,b\r1,2\r3,4\r")
    with pytest.raises(DataError, match="carriage return alone"):
        draft_of(str(path))
    path.write_bytes(b"a,a\n1,2\n")
    with pytest.raises(DataError, match="names that differ"):
        draft_of(str(path))
    path.write_text(
        "39, State-gov, 77516, <=50K\n" + "39, State-gov, 77516, <=50K\n50, Private, 8331, >50K\n" * 40
    )
    with pytest.raises(DataError, match="looks like a row"):
        draft_of(str(path))


def test_a_late_letter_decides_the_encoding(tmp_path: Path) -> None:
    """What is no UTF-8 is met wherever it stands, not only at the beginning."""
    path = tmp_path / "f.csv"
    path.write_bytes(b"town,n\n" + b"Ulm,12345\n" * 150_000 + "Köln,1\n".encode("cp1252") * 30)
    draft = draft_of(str(path))
    assert draft.schema.csv.encoding == "cp1252"
    assert "Köln" in draft.schema["town"].labels


@pytest.mark.parametrize("encoding", ["cp932", "gbk", "big5", "euc_kr"])
def test_a_broken_letter_of_two_bytes_spoils_its_own_line_only(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    for lead in range(0x80, 0x100, 3):
        path.write_bytes(b"a,b\nx,1\ny" + bytes([lead]) + b"\nx,2\nx,3" + bytes([lead]) + b"\r\nx,4\n")
        form = CsvFormat(encoding=encoding)
        from holdfast.data._engines.csv_files import CsvFile

        rows = [
            row for batch in CsvFile(path=str(path), format=form).batches([0, 1]) for row in batch.to_pylist()
        ]
        assert [row["n1"] for row in rows if row["n0"] == "x" and row["n1"] in ("1", "2", "4")] == [
            "1",
            "2",
            "4",
        ]


def test_what_is_no_feature_is_said(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    notes = [f"seen on ward {place % 7} and sent home with letter {place}" for place in range(300)]
    lines = [f"P{place:05d},{place % 90},{note}" for place, note in enumerate(notes)]
    path.write_text("patient,age,note\n" + "\n".join(lines) + "\n")
    done = CliRunner().invoke(app, ["schema", "draft", str(path)])
    assert done.exit_code == 0
    assert "identifier, no feature: 'patient'" in done.stderr
    assert "left out: 'note' holds free text (300 different texts in 300 rows)" in done.stderr
    assert "# left out: 'note' holds free text" in done.stdout
    assert 'name = "note"' not in done.stdout


def test_many_texts_that_come_back_are_the_most_frequent_ones() -> None:
    """A charge, a product or a city of some hundred texts stays a feature, and what is left of it is said."""
    draw = np.random.default_rng(1)
    letters = np.array(
        [f"{a}{b} theft" for a in "abcdefghijklmnopqrst" for b in "abcdefghijklmnopqrstuvwxyz"]
    )
    share = 1 / np.arange(1, len(letters) + 1)
    draft = draft_of({"charge": draw.choice(letters, 6000, p=share / share.sum())})
    charge = draft.schema["charge"]
    assert isinstance(charge, Categorical)
    assert (len(charge.declared_labels), charge.other) == (200, "(other)")
    assert "the 200 most frequent" in " ".join(draft.reasons["charge"])


@pytest.mark.filterwarnings("ignore:the schema is a draft", "ignore::holdfast.errors.NotPrivateWarning")
@pytest.mark.parametrize(
    "name", ["adult", "german_export", "japanese_export", "online_retail", "soep", "hmda"]
)
def test_the_fit_reads_what_the_draft_read(name: str, tmp_path: Path) -> None:
    """Counts of categories through the engine are those of the texts that the layout drew."""
    layout = {**LAYOUTS, **HELD_OUT}[name]()
    path = layout.write(tmp_path / f"{name}.csv")
    schema = replace(draft_of(str(path)).schema, unit=PrivacyUnit.row())
    listed = [
        one for one in schema.columns if isinstance(one, Categorical) and not isinstance(one, Hierarchy)
    ]
    counts = open_table(path, schema).counts([[column.name] for column in listed])
    for column, count in zip(listed, counts, strict=True):
        expected = Counter(
            column.normal_text(text.strip() if column.trim else text) for text in layout.columns[column.name]
        )
        for label, cell in zip(column.declared_labels, count.tolist(), strict=False):
            same = [
                text for text, code in column.spellings.items() if code == column.declared_labels.index(label)
            ]
            assert cell == sum(expected[text] for text in same), (column.name, label)
    made = Synthesizer(1.0, 1e-6, method="independent", random_state=1).fit(path, schema)
    assert set(made.sample().column_names) == set(schema.names)


@pytest.mark.filterwarnings("ignore::holdfast.errors.NotPrivateWarning")
def test_names_that_are_none() -> None:
    """An index column without a name is left out, and said; the rest is read."""
    assert draft_schema({"": [1, 2, 3], "x": [1.5, 2.5, 3.5]}).names == ("x",)
    assert "left out: '' a column without a name" in " ".join(draft_of({"": [1, 2], "x": [1, 2]}).reasons[""])


LANGUAGES = {
    "pl": ("cp1250 iso8859-2", "łódź śląsk gdańsk kraków świętokrzyskie żółć"),
    "cs": ("cp1250 iso8859-2", "plzeň zlín děčín třebíč žďár ústí ostříž kůň"),
    "hu": ("cp1250 iso8859-2", "győr pécs szűz kőszeg műút körút útőr"),
    "ro": ("cp1250 iso8859-2", "iaşi bucureşti târgu constanţa gălăţi"),
    "hr": ("cp1250 iso8859-2", "šibenik čakovec đakovo požega ćuk"),
    "tr": (
        "cp1254 iso8859-9",
        "diyarbak\u0131r muğla eskişehir çank\u0131r\u0131 şişli \u0131ğd\u0131r",
    ),
    "de": ("cp1252 iso8859-1", "köln münchen weiß gräfelfing"),
    "fr": ("cp1252 iso8859-1", "besançon nîmes orléans évian forêt"),
    "es": ("cp1252 iso8859-1", "málaga logroño córdoba ¿qué ¿cómo"),
    "pt": ("cp1252 iso8859-1", "são joão braga évora avô português opções"),
    "da": ("cp1252 iso8859-1", "tromsø ålesund århus nærum"),
    "mixed": ("cp1252 iso8859-1", "köln besançon málaga tromsø são ålesund 5m² 20°c ½kg"),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_letters_of_a_language_tell_its_encoding(language: str, tmp_path: Path) -> None:
    """Words drawn from one language, in capitals or not: what is drafted are the words that were written."""
    encodings, listed = LANGUAGES[language]
    draws = np.random.default_rng(sum(map(ord, language)))
    for encoding in encodings.split():
        words = [word.title() if draws.random() < 0.3 else word for word in listed.split()]
        town = draws.choice(words, 300)
        path = tmp_path / "f.csv"
        path.write_bytes(
            ("town,n\n" + "".join(f"{one},{k}\n" for k, one in enumerate(town))).encode(encoding)
        )
        drafted = draft_of(str(path)).schema["town"]
        assert isinstance(drafted, Categorical)
        assert set(drafted.declared_labels) == set(map(str, town))


@pytest.mark.parametrize("content", ["a,b\n1;2;3\n4\n", 'a,b\n"1,2\n"3,4\n', "a,b\n,\n,\n"])
def test_a_file_of_which_no_line_can_be_read_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match="none of the 2 lines"):
        draft_of(tmp_path / "rows.csv", encoding="utf-8")

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner, Result

from holdfast._cli.app import app
from tests.synth.evaluation.samples import SCHEMA, people, released


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["evaluate", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real rows, synthetic rows in two formats, their release and the schema."""
    folder = tmp_path_factory.mktemp("evaluate")
    parquet.write_table(pa.table(people()), folder / "real.parquet")
    rows = released().release_.value["rows"]
    parquet.write_table(rows, folder / "made.parquet")
    pyarrow.csv.write_csv(rows, folder / "made.csv")
    released().save(folder / "r.holdfast")
    SCHEMA.save(folder / "s.toml")
    return folder


def test_against_real_rows(there: Path, tmp_path: Path) -> None:
    inside = (
        "--against",
        there / "real.parquet",
        "--schema",
        there / "s.toml",
        "--target",
        "ill",
        "--by",
        "sex",
    )
    shown = run(there / "made.csv", *inside, "-o", tmp_path / "page.html")
    assert shown.exit_code == 0, shown.output
    assert "do not publish" in shown.output
    assert '<body class="internal">' in (tmp_path / "page.html").read_text(encoding="utf-8")
    again = run(there / "made.csv", *inside, "-o", tmp_path / "page.html")
    assert again.exit_code == 2
    assert "--force" in again.output
    said = json.loads(run(there / "made.parquet", *inside, "--json", "-o", tmp_path / "d.json").stdout)
    assert said["audience"] == "internal"
    assert json.loads((tmp_path / "d.json").read_text(encoding="utf-8")) == said
    assert "against_release" not in said


def test_a_release_brings_its_schema_and_its_word(there: Path) -> None:
    for arguments in ((there / "r.holdfast",), (there / "made.parquet", "--release", there / "r.holdfast")):
        shown = run(*arguments, "--against", there / "real.parquet", "--columns", "age, sex", "--json")
        assert shown.exit_code == 0, shown.output
        said = json.loads(shown.stdout)
        assert said["audience"] == "internal"
        assert "against_release" in said
        assert len(said["against_real"]["one_way"]["errors"]) == 2


def test_a_release_alone_is_public(there: Path, tmp_path: Path) -> None:
    shown = run(there / "made.csv", "--release", there / "r.holdfast", "--audience", "public", "--json")
    assert shown.exit_code == 0, shown.output
    said = json.loads(shown.stdout)
    assert said["audience"] == "public"
    assert "against_real" not in said
    alone = run(there / "r.holdfast", "--by", "sex", "-o", tmp_path / "p.html")
    assert alone.exit_code == 0, alone.output
    assert "cannot be known" in alone.output
    assert "public edition" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_real_rows_are_not_shown_as_synthetic_ones(there: Path, tmp_path: Path) -> None:
    given = (there / "real.parquet", "--release", there / "r.holdfast")
    refused = run(*given, "-o", tmp_path / "p.html")
    assert refused.exit_code == 2
    assert "rows of the release" in refused.output
    assert not (tmp_path / "p.html").exists()
    declared = run(*given, "--rows-are-public")
    assert declared.exit_code == 0, declared.output
    assert "assumption: whoever ran this declared" in declared.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--against or --release must be given"),
        (("--against", "REAL"), "schema must be given"),
        (("--against", "REAL", "--schema", "SCHEMA", "--audience", "public"), "audience must be 'internal'"),
        (
            ("--against", "REAL", "--schema", "SCHEMA", "--target", "height"),
            "target must be one of the columns",
        ),
        (("--against", "REAL", "--schema", "SCHEMA", "--by", "height"), "by must be one of the columns"),
        (("--against", "REAL", "--schema", "SCHEMA", "-o", "page.pdf"), "output must end in"),
        (("--against", "nothing.parquet", "--schema", "SCHEMA"), "no Parquet or CSV file"),
        (("--release", "RELEASE", "--target", "ill"), "--against must be given with --target"),
        (("--release", "RELEASE", "--holdout", "REAL"), "--against must be given with --holdout"),
    ],
)
def test_what_cannot_be_done_is_refused(there: Path, arguments: tuple[str, ...], words: str) -> None:
    places = {"REAL": "real.parquet", "SCHEMA": "s.toml", "RELEASE": "r.holdfast"}
    shown = run(there / "made.csv", *(there / places[one] if one in places else one for one in arguments))
    assert shown.exit_code == 2
    assert words in shown.output

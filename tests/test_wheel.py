"""What a user installs: the wheel and the source archive hold what they must, and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib.metadata import version
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import pytest

import holdfast
from tests.docs.insurer import insurer
from tests.installed import environment

if TYPE_CHECKING:
    from tests.servers.postgres import Server

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow

REQUIRED = [
    "holdfast/py.typed",
    "holdfast/data/_datasets/adult_train.parquet",
    "holdfast/data/_datasets/adult_test.parquet",
    "holdfast/data/_datasets/adult.toml",
    "holdfast/dossier/_templates/page.html.j2",
    "holdfast/dossier/_templates/page.js.j2",
    "holdfast/_kernel/sgd.c",
    "holdfast/_kernel/sgd.h",
    "holdfast/_kernel/bregman.c",
    "holdfast/_kernel/bregman.h",
    "holdfast/_kernel/lookup.c",
    "holdfast/_kernel/lookup.h",
    "holdfast/_kernel/build.py",
    "holdfast/_kernel/reference.py",
]
NOT_OURS = re.compile(
    r"(^|/)(tests?|benchmarks|\.venv|\.git|__pycache__|build|dist)/|\.(pyc|o)$|_kernel/_kernel\.c$"
)


def tree(copy: Path) -> Path:
    """The working tree as a fresh clone would have it: what git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in filter(None, listing.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    return copy


def build(source: Path, out: Path, *arguments: str, **environment: str) -> None:
    """`python -m build`, in this environment where its setuptools is new enough, else in a fresh one."""
    here = ["--no-isolation"] if int(version("setuptools").partition(".")[0]) >= 77 else []
    command = [sys.executable, "-m", "build", *here, *arguments, "--outdir", str(out), str(source)]
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive, and the wheel built from that archive alone."""
    out = tmp_path_factory.mktemp("dist")
    build(tree(tmp_path_factory.mktemp("tree")), out)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def names_in(archive: Path) -> set[str]:
    if archive.suffix == ".whl":
        return set(zipfile.ZipFile(archive).namelist())
    with tarfile.open(archive) as source:
        return {name.partition("/")[2].removeprefix("src/") for name in source.getnames()}


def templates() -> set[str]:
    return {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.j2")}


def test_wheel_and_sdist_hold_what_they_must(archives: tuple[Path, Path]) -> None:
    sdist, wheel = archives
    assert templates(), "the dossier page has a template"
    for archive in (sdist, wheel):
        missing = {*REQUIRED, *templates()} - names_in(archive)
        assert not missing, archive.name
    assert {"LICENSE", "setup.py", "pyproject.toml", "README.md"} <= names_in(sdist)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names_in(wheel))


def test_every_module_is_in_the_wheel(archives: tuple[Path, Path]) -> None:
    modules = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert modules <= names_in(archives[1])


def test_nothing_else_is_inside(archives: tuple[Path, Path]) -> None:
    for archive in archives:
        assert not [name for name in names_in(archive) if NOT_OURS.search(name)]
        assert archive.stat().st_size < 3_000_000


def test_one_wheel_serves_every_python_from_3_11(archives: tuple[Path, Path], tmp_path: Path) -> None:
    wheel = archives[1]
    assert "-cp311-abi3-" in wheel.name
    assert any(re.fullmatch(r"holdfast/_kernel/_kernel\.(abi3\.so|pyd)", name) for name in names_in(wheel))
    zipfile.ZipFile(wheel).extractall(tmp_path)
    said = subprocess.run(
        [sys.executable, "-c", "import holdfast._kernel as k; print(k.__file__, k.implementation)"],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "HOLDFAST_KERNEL": ""},
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert str(tmp_path) in said
    assert said.split()[-1] == "c"


@pytest.mark.parametrize(
    "environment", [{"CC": "no-such-compiler"}, {"HOLDFAST_PURE": "1"}], ids=["no compiler", "asked for"]
)
def test_a_wheel_without_the_kernel_says_so_by_its_name(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "tree").mkdir()
    build(tree(tmp_path / "tree"), tmp_path / "dist", "--wheel", **environment)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name == f"holdfast-{holdfast.__version__}-py3-none-any.whl"
    assert "holdfast/_kernel/reference.py" in names_in(wheel)
    assert not [name for name in names_in(wheel) if name.endswith((".so", ".pyd"))]
    (record,) = (name for name in names_in(wheel) if name.endswith(".dist-info/WHEEL"))
    assert b"Root-Is-Purelib: true" in zipfile.ZipFile(wheel).read(record)


# The pages that a new reader types from, after the installation that they name.

RUN_PAGES = ROOT / "docs" / "run_pages.py"
BLOCKS_OF: Any = run_path(str(RUN_PAGES))["blocks_of"]
PAGES = [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
SERVED = ROOT / "docs" / "tutorials" / "claims.md"


def run_pages(
    python: Path, pages: list[Path], folder: Path, extras: str = ""
) -> subprocess.CompletedProcess[str]:
    """The pages in this environment, from a folder that is not the clone, which could be imported from."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(python), str(RUN_PAGES), "--extras", extras, *map(str, pages)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def needs(page: Path) -> set[str]:
    """The extras that a page says it needs somewhere."""
    return set().union(*(block.needs for block in BLOCKS_OF(page)))


@pytest.mark.skipif(os.name == "nt", reason="packages are linked")
def test_pages_run_in_an_environment_with_nothing_but_the_wheel_and_what_it_requires(
    archives: tuple[Path, Path], tmp_path: Path
) -> None:
    python = environment(tmp_path / "empty", archives[1])
    for extra in ("pandas", "polars", "matplotlib", "cryptography", "psycopg", "pytest"):
        gone = subprocess.run([str(python), "-c", f"import {extra}"], capture_output=True, check=False)
        assert gone.returncode != 0, f"{extra} is there"
    done = run_pages(python, PAGES, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(": runs\n") == len(PAGES)
    wrong = tmp_path / "page.md"
    wrong.write_text("```python\nimport pandas\n```\n", encoding="utf-8")
    assert "No module named 'pandas'" in run_pages(python, [wrong], tmp_path).stdout
    wrong.write_text("```sh\nholdfast fit nothing.csv\n```\n", encoding="utf-8")
    assert "FAILS" in run_pages(python, [wrong], tmp_path).stdout


@pytest.mark.skipif(os.name == "nt", reason="packages are linked")
def test_pages_that_need_extras_run_with_those_they_name(
    archives: tuple[Path, Path], tmp_path: Path, postgres_server: Server
) -> None:
    with insurer(postgres_server):
        for page in PAGES:
            if needs(page):
                python = environment(tmp_path / page.stem, archives[1], needs(page))
                done = run_pages(python, [page], tmp_path, ",".join(needs(page)))
                assert done.returncode == 0, done.stdout + done.stderr


def test_only_pages_that_say_so_need_an_extra() -> None:
    """README and the first page need none at all; most of the walks run without."""
    assert not needs(PAGES[0])
    assert not needs(PAGES[1])
    whole = [
        page.stem for page in PAGES if (blocks := list(BLOCKS_OF(page))) and all(one.needs for one in blocks)
    ]
    assert whole == ["claims", "scientist"]

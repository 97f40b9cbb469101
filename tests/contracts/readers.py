"""Every reader of a stranger's file, and files for each: real ones changed, and bombs drawn at random.

    python -m tests.contracts.readers                           # their names
    python -m tests.contracts.readers release --files 500       # so many files, from the same seed every time
    python -m tests.contracts.readers all --seconds 36000 --seed 7   # an hour or ten for each, from another

Each file is read by a fork that may take twenty times the file's size and 64 MB (`bounded`). A file that took more, or
that ended in anything but an error of holdfast's own, is kept in the folder that is named at the end, and the exit code
is 1. `make deep` gives every reader ten minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from holdfast.data import Categorical, Numeric, Schema
from holdfast.data._engines.file_rows import rows_of_files
from holdfast.data._engines.files import read_arrays
from holdfast.data._engines.parquet_files import open_parquet
from holdfast.dossier._stored_evidence import read_accuracy
from holdfast.errors import FormatError
from holdfast.ledger import SignedHead
from holdfast.ledger._signing.signature import public_hex
from holdfast.ledger._signing.trust import Trust
from holdfast.plan import ReleasePlan
from holdfast.synth._workload.workload import read_workload
from tests.contracts import drawn, hostile
from tests.contracts.bounded import Ending, ended
from tests.paths import ROOT

SEED = 1
Draw = random.Random
Make = Callable[[Draw, Path], Path]
SMALL = Schema([Categorical("sex", ["F", "M"]), Numeric("age", low=0, high=99)])


@dataclass(frozen=True)
class Reader:
    """What opens and uses a file as a command would, and what draws files for it."""

    use: Callable[[Path], object]
    makes: tuple[Make, ...]


def changed(kind: str) -> Make:
    """Real files of a kind, changed at random."""

    def make(draw: Draw, folder: Path) -> Path:
        path = folder / f"changed{kind}"
        for ending in ("", "-wal", "-shm"):
            Path(f"{path}{ending}").unlink(missing_ok=True)
        hostile.changed(kind, draw.choice(hostile.SEEDS[kind]), path, draw)
        return path

    return make


def text(content: Callable[[Draw], bytes], ending: str) -> Make:
    return drawn.of_text(content, ending)


def verifier_reads(path: Path) -> None:
    """The independent verifier; what it refuses is a `Wrong` of its own, which counts as an error of ours."""
    sys.path.insert(0, str(ROOT / "verifier"))
    holdfast_verify: Any = import_module("holdfast_verify")
    try:
        data = holdfast_verify.read(path)
        if path.suffix == ".holdfast":
            holdfast_verify.visible(holdfast_verify.archive(data))
        elif path.suffix == ".pem":
            holdfast_verify.Key(path)
        else:
            holdfast_verify.parsed(data, "a file")
    except (holdfast_verify.Wrong, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise FormatError("wrong") from error


def all_rows(path: Path) -> None:
    """Every row of a file, as engines read them: some at a time."""
    rows = rows_of_files(str(path))
    for _ in rows.reader(range(len(rows.names))):
        pass


READERS: dict[str, Reader] = {
    "release": Reader(hostile.use_release, (drawn.release, changed(".holdfast"))),
    "page": Reader(hostile.use_page, (drawn.page, changed(".html"))),
    "ledger": Reader(hostile.use_ledger, (drawn.ledger, changed(".db"))),
    "schema": Reader(
        Schema.load, (text(drawn.toml_text, ".toml"), text(drawn.json_text, ".json"), changed(".toml"))
    ),
    "plan": Reader(ReleasePlan.load, (text(drawn.toml_text, ".toml"), changed(".plan"))),
    "trust": Reader(Trust.of, (text(drawn.toml_text, ".toml"), drawn.pem)),
    "key": Reader(public_hex, (drawn.pem,)),
    "attack": Reader(hostile.use_attack, (text(drawn.evidence, ".json"), text(drawn.json_text, ".json"))),
    "audit": Reader(hostile.use_audit, (text(drawn.evidence, ".json"), text(drawn.json_text, ".json"))),
    "accuracy": Reader(read_accuracy, (text(drawn.json_text, ".json"),)),
    "head": Reader(SignedHead.load, (text(drawn.json_text, ".json"),)),
    "workload": Reader(lambda path: read_workload(str(path), SMALL), (text(drawn.json_text, ".json"),)),
    "arrays": Reader(lambda path: read_arrays(path, None), (text(drawn.npy, ".npy"),)),
    "rows": Reader(all_rows, (drawn.parquet_rows,)),
    "parquet": Reader(lambda path: open_parquet(path).schema_arrow, (drawn.parquet,)),
    "verifier": Reader(
        verifier_reads, (drawn.release, text(drawn.json_text, ".json"), drawn.pem, changed(".holdfast"))
    ),
}


def run(
    name: str, *, seed: int, files: int | None = None, seconds: float = 0.0
) -> tuple[Counter[str], list[Ending], list[str]]:
    """So many files, or as many as the processor time lasts; how they ended, each ending, and what went wrong."""
    reader, draw = READERS[name], random.Random(seed)
    counts: Counter[str] = Counter()
    endings, wrong = [], []
    with tempfile.TemporaryDirectory() as there:
        folder, spent, number = Path(there), 0.0, 0
        while (files is not None and number < files) or (files is None and spent < seconds):
            begun = sum(os.times()[:4])
            path = reader.makes[number % len(reader.makes)](draw, folder)
            ending = ended(reader.use, path)
            counts[ending.words] += 1
            endings.append(ending)
            if ending.wrong:
                kept = Path(tempfile.mkdtemp(prefix="hostile-")) / f"{name}-{seed}-{number}{path.suffix}"
                shutil.copy(path, kept)
                wrong.append(f"{name} {number} of seed {seed}: {ending.words}; kept as {kept}")
            spent, number = spent + sum(os.times()[:4]) - begun, number + 1
    return counts, endings, wrong


def main() -> int:
    """The command."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("reader", nargs="?", choices=[*READERS, "all"])
    asked.add_argument("--files", type=int)
    asked.add_argument("--seconds", type=float, default=5.0)
    asked.add_argument("--seed", type=int, default=SEED)
    given = asked.parse_args()
    if given.reader is None:
        sys.stdout.write("\n".join(READERS) + "\n")
        return 0
    failed = False
    for name in READERS if given.reader == "all" else (given.reader,):
        counts, endings, wrong = run(name, seed=given.seed, files=given.files, seconds=given.seconds)
        seconds, peak = sum(e.seconds for e in endings), max(e.peak_bytes for e in endings) / 2**20
        said = {"reader": name, "seed": given.seed, "files": len(endings), "seconds": round(seconds, 1)}
        sys.stdout.write(json.dumps(said | {"most_megabytes": round(peak), "ended": counts}) + "\n")
        sys.stdout.write("".join(f"{line}\n" for line in wrong))
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

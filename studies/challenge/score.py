"""Score whoever claims to tell the sound ones from the others.

    python studies/challenge/score.py claims.json      # {"01": "sound", "02": "forged", ...}
    python studies/challenge/score.py --ours           # what verifier/holdfast_verify.py claims

Unpack `cases.zip`: each of the twenty folders holds a page, a release and an extract of a ledger; `officer.pub` is the
key of the officer, and it is true; `renderer.txt` is the renderer of the holdfast that drew the pages. Which are as
they were made, and which are not? Standard library only.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERIFIER = HERE.parents[1] / "verifier" / "holdfast_verify.py"


def ours() -> dict[str, str]:
    """The claims of the independent verifier: forged is what does not end with 0."""
    claims = {}
    with tempfile.TemporaryDirectory() as there, zipfile.ZipFile(HERE / "cases.zip") as packed:
        packed.extractall(there)
        for folder in sorted(Path(there).iterdir()):
            command = [
                sys.executable,
                VERIFIER,
                folder / "page.html",
                "--release",
                folder / "release.holdfast",
                "--extract",
                folder / "extract.json",
                "--public-key",
                HERE / "officer.pub",
                "--renderer",
                (HERE / "renderer.txt").read_text(encoding="utf-8").strip(),
            ]
            done = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
            claims[folder.name] = "sound" if done.returncode == 0 else "forged"
            sys.stderr.write(f"{folder.name}: {claims[folder.name]}: {done.stdout.splitlines()[-1]}\n")
    return claims


def score(claims: dict[str, str]) -> int:
    """How many of the twenty are told rightly."""
    answers = json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
    return sum(claims.get(name) == truth for name, truth in answers.items())


def main() -> int:
    """Print the score."""
    if len(sys.argv) != 2:
        sys.stderr.write(__doc__ or "")
        return 2
    claims = ours() if sys.argv[1] == "--ours" else json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.stdout.write(f"{score(claims)} of 20\n")
    return 0 if score(claims) == 20 else 1


if __name__ == "__main__":
    sys.exit(main())

"""Write what holdfast rests on, from what is installed here: `python docs/make_dependencies.py [--lock] [--sbom FILE]`.

Without an option: `constraints.txt`, the versions that the tests ran with, and the table of licences. With `--lock`
also `requirements.lock`: the same versions with the hashes of the wheels that an index has of them for this kind of
machine, which pip is asked for. With `--sbom` a bill of materials of holdfast and all its extras (CycloneDX 1.6) alone,
made by the release workflow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

HERE = Path(__file__).resolve().parent
CONSTRAINTS, LOCK = HERE.parent / "constraints.txt", HERE.parent / "requirements.lock"
PAGE = HERE / "_generated" / "licences.md"
OURSELVES = "holdfast"
USED = "all"
"""The extra that brings everything that a user may want; what else is installed is for contributors."""
_TOOLS = ("pip", "setuptools", "wheel", "uv")
_LONGEST_LICENCE = 60


@dataclass(frozen=True, kw_only=True)
class Package:
    """An installed distribution: its name as packaging tools spell it, version, licence and what it needs."""

    name: str
    version: str
    licence: str
    requires: tuple[str, ...]
    files: str
    """SHA-256 of the list of its files with their hashes: what was installed, on this kind of machine."""


def canonical(name: str) -> str:
    """A name as packaging tools compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needs_of(requires: Iterable[str], extras: Iterable[str] = ()) -> dict[str, set[str]]:
    """What is required on this machine with these extras: names, and the extras that are asked of each."""
    names: dict[str, set[str]] = {}
    for needed in map(Requirement, requires):
        if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            more = {canonical(needed.name): needed.extras}
            if canonical(needed.name) == OURSELVES:  # an extra that is made of extras
                more = needs_of(requires, needed.extras)
            for name, asked in more.items():
                names.setdefault(name, set()).update(asked)
    return names


def licence_of(distribution: metadata.Distribution) -> str:
    """What the metadata say: an expression, else a short name, else a classifier."""
    said: Any = distribution.metadata
    short = str(said.get("License") or "").strip()
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in said.get_all("Classifier") or ()
        if line.startswith("License :: ") and not line.endswith("OSI Approved")
    ]
    if said.get("License-Expression"):
        return str(said["License-Expression"])
    if short and "\n" not in short and len(short) <= _LONGEST_LICENCE and short != "UNKNOWN":
        return short
    return " and ".join(classifiers) or "not said in its metadata"


def installed() -> dict[str, Package]:
    """Every distribution of this environment but ourselves and what installs."""
    packages = {}
    for distribution in metadata.distributions():
        name = canonical(distribution.metadata["Name"])
        if name != OURSELVES and name not in _TOOLS:
            files = distribution.read_text("RECORD") or ""
            packages[name] = Package(
                name=name,
                version=distribution.version,
                licence=licence_of(distribution),
                requires=tuple(distribution.requires or ()),
                files=hashlib.sha256(files.encode()).hexdigest(),
            )
    return dict(sorted(packages.items()))


def reached(packages: dict[str, Package], extras: Iterable[str] = ()) -> dict[str, set[str]]:
    """What holdfast with these extras needs and what that needs, as far as it is installed: names and their extras."""
    known: dict[str, set[str]] = {}
    waiting = list(needs_of(metadata.requires(OURSELVES) or (), extras).items())
    while waiting:
        name, asked = waiting.pop()
        if name in packages and not (name in known and asked <= known[name]):
            known.setdefault(name, set()).update(asked)
            waiting += needs_of(packages[name].requires, known[name]).items()
    return dict(sorted(known.items()))


def constraints(packages: dict[str, Package]) -> str:
    """The lock: exact versions, as pip and uv take them by `-c`."""
    head = (
        "# The versions that the tests of this commit ran with "
        f"(CPython {platform.python_version()}, {platform.system()} {platform.machine()}).\n"
        "# A record; and who wants exactly these: pip install holdfast -c constraints.txt\n"
        "# Written by python docs/make_dependencies.py. requirements.lock has them with hashes, for one platform.\n"
    )
    return head + "".join(f"{package.name}=={package.version}\n" for package in packages.values())


def lock(report: dict[str, Any]) -> str:
    """Exact versions with the hash of each wheel, from what pip says that it would install."""
    hashes = {
        canonical(part["metadata"]["name"]): (
            part["metadata"]["version"],
            part["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for part in report["install"]
    }
    head = (
        f"# constraints.txt with the hashes of its wheels for CPython {platform.python_version()} on "
        f"{platform.system()} {platform.machine()}, and for nothing else:\n"
        "# pip install --require-hashes -r requirements.lock, then pip install --no-deps holdfast\n"
        "# Written by python docs/make_dependencies.py --lock, which asks an index.\n"
    )
    return head + "".join(
        f"{name}=={version} --hash=sha256:{digest}\n" for name, (version, digest) in sorted(hashes.items())
    )


def report_of_pip() -> dict[str, Any]:
    """What pip would install for the versions of `constraints.txt`; nothing is installed."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--ignore-installed",
        "--no-deps",
        "--quiet",
    ]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run([*command, "--report", str(report), "-r", str(CONSTRAINTS)], check=True)
        read: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return read


def page(packages: dict[str, Package]) -> str:
    """The licences of what a user may have installed, in Markdown."""
    needed = reached(packages)
    rows = [
        f"| {name} | {'' if name in needed else 'extra'} | {packages[name].licence} |"
        for name in reached(packages, [USED])
    ]
    return "\n".join(["| package | with | licence, as its metadata say |", "|---|---|---|", *rows]) + "\n"


def bill(packages: dict[str, Package]) -> dict[str, Any]:
    """A bill of materials in the form of CycloneDX: the parts, and which needs which."""
    ours = metadata.distribution(OURSELVES)
    needed, parts = reached(packages), reached(packages, [USED])
    root = _reference(OURSELVES, ours.version)
    content = json.dumps([(name, packages[name].version, packages[name].files) for name in parts])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, root + content)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": OURSELVES,
                "version": ours.version,
                "purl": root,
                "licenses": [{"license": {"name": licence_of(ours)}}],
            },
            "properties": [
                {"name": "holdfast:python", "value": platform.python_version()},
                {"name": "holdfast:platform", "value": f"{platform.system()} {platform.machine()}"},
            ],
        },
        "components": [
            {
                "type": "library",
                "bom-ref": _reference(name, packages[name].version),
                "name": name,
                "version": packages[name].version,
                "scope": "required" if name in needed else "optional",
                "purl": _reference(name, packages[name].version),
                "licenses": [{"license": {"name": packages[name].licence}}],
                "properties": [{"name": "holdfast:sha256-of-RECORD", "value": packages[name].files}],
            }
            for name in parts
        ],
        "dependencies": [
            {"ref": ref, "dependsOn": [_reference(n, packages[n].version) for n in needs if n in packages]}
            for ref, needs in [
                (root, needs_of(ours.requires or (), [USED])),
                *(
                    (_reference(name, packages[name].version), needs_of(packages[name].requires, asked))
                    for name, asked in parts.items()
                ),
            ]
        ],
    }


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def main() -> None:
    """The command."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sbom", type=Path, help="write a bill of materials here, and nothing else")
    asked.add_argument(
        "--lock", action="store_true", help="write the hashes of wheels too: an index is asked"
    )
    given, packages = asked.parse_args(), installed()
    if given.sbom is not None:
        given.sbom.write_text(json.dumps(bill(packages), indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"{given.sbom}: {len(bill(packages)['components'])} parts\n")
        return
    CONSTRAINTS.write_text(constraints(packages), encoding="utf-8")
    PAGE.write_text(page(packages), encoding="utf-8")
    if given.lock:
        LOCK.write_text(lock(report_of_pip()), encoding="utf-8")


if __name__ == "__main__":
    main()

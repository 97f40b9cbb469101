"""An environment as an installation leaves it: a wheel and what it declares, and nothing else that is installed here.

Made without a network: the packages are links to those of this environment, chosen by following declared dependencies,
so that a package which nobody declares is absent, as on the reader's machine.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import zipfile
from collections.abc import Iterable
from email import message_from_string
from pathlib import Path
from venv import EnvBuilder

from packaging.requirements import Requirement


def required(wheel: Path, extras: Iterable[str]) -> set[str]:
    """The names of all packages that an installation of the wheel with these extras would bring."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        told = message_from_string(archive.read(name).decode())
    names: set[str] = set()
    waiting = [(told.get_all("Requires-Dist") or [], frozenset(extras))]
    met: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        wanted, chosen = waiting.pop()
        for requirement in map(Requirement, wanted):
            marker = requirement.marker
            if marker and not any(marker.evaluate({"extra": extra}) for extra in ("", *chosen)):
                continue
            found = re.sub(r"[-_.]+", "-", requirement.name).lower()
            asked = found, frozenset(requirement.extras)
            if asked not in met:
                met.add(asked)
                names.add(found)
                waiting.append((importlib.metadata.requires(found) or [], asked[1]))
    return names


def environment(folder: Path, wheel: Path, extras: Iterable[str] = ()) -> Path:
    """The interpreter of a new environment with the wheel, and with links to what it requires."""
    EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    asked = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = Path(subprocess.run(asked, check=True, capture_output=True, text=True).stdout.strip())
    for name in required(wheel, extras):
        for place in top_level(importlib.metadata.distribution(name)):
            if not (packages / place.name).exists():
                (packages / place.name).symlink_to(place, target_is_directory=place.is_dir())
    zipfile.ZipFile(wheel).extractall(packages)
    command = python.parent / "holdfast"
    command.write_text(f"#!{python}\nfrom holdfast._cli.app import main\nmain()\n", encoding="utf-8")
    command.chmod(0o755)
    return python


def top_level(package: importlib.metadata.Distribution) -> set[Path]:
    """The files and folders beside which a package was installed."""
    return {
        Path(str(package.locate_file(file.parts[0])))
        for file in package.files or []
        if file.parts[0] not in ("..", "__pycache__") and not file.parts[0].endswith(".pth")
    }

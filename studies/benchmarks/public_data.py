"""The public data of benchmarks and reproductions: what each file of the folder HOLDFAST_DATA is made from.

Nothing is downloaded: `docs/data.md` says how each file is made, and a script whose data or package is missing ends
with one line and exit code 2.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

SOURCES = {
    "adult_train.parquet": "Adult, UCI Machine Learning Repository, adult.data",
    "adult_test.parquet": "Adult, UCI Machine Learning Repository, adult.test",
    "adult_discrete.parquet": "Adult in cells, github.com/ryan112358/private-pgm, data/adult.csv",
    "adult_domain.json": "Adult in cells, github.com/ryan112358/private-pgm, data/adult-domain.json",
    "covertype.parquet": "Covertype, UCI Machine Learning Repository, covtype.data",
    "kddcup04_protein.parquet": "protein homology of KDD Cup 2004, bio_train.dat",
    "mnist_train.parquet": "MNIST, train-images-idx3-ubyte and train-labels-idx1-ubyte",
    "mnist_test.parquet": "MNIST, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte",
    "pima_diabetes.parquet": "Pima Indians diabetes, pima-indians-diabetes.data",
    "warfarin_iwpc_clean.parquet": "the warfarin table of the IWPC, PharmGKB",
    "location30.parquet": "Location-30, github.com/privacytrustlab/datasets, dataset_location.tgz",
    "gss.parquet": "GSS of Mehnaz et al. 2022, github.com/smehnaz/Black-box-Model-Inversion-Attribute-Inference",
    "nist_acs": "Diverse Communities Data Excerpts, github.com/usnistgov/privacy_collaborative_research_cycle",
}
"""Each file or folder, and the public source that it is made from."""
PAGE = "docs/data.md says how the folder is made"


def ended(line: str) -> NoReturn:
    """Say what is missing in one line, and end with exit code 2."""
    print(line, file=sys.stderr)
    raise SystemExit(2)


def data_file(name: str) -> Path:
    """A file or folder of HOLDFAST_DATA; ends the script where it is missing."""
    named = os.environ.get("HOLDFAST_DATA")
    if not named:
        ended(f"this script reads {name} ({SOURCES[name]}): set HOLDFAST_DATA to the folder with it; {PAGE}")
    path = Path(named) / name
    if not path.exists():
        ended(f"{name} is not in the folder HOLDFAST_DATA; it is made from {SOURCES[name]}; {PAGE}")
    return path


def package(name: str) -> Any:
    """A package that only contributors have; ends the script where it is missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        ended(f"this script needs {name}, which is not installed: pip install -e '.[dev]'")

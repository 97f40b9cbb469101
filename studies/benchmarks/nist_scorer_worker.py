"""NIST's scorer (`sdnist`), inside an environment of its own: a CSV of synthetic rows in, one JSON line out.

Run by nist.py; imports neither holdfast nor anything of this folder. The scores are computed by the package's own
classes, in the order and on the data of its report; what is left out are pictures, regressions and components. With
`--report FOLDER` the whole report is written as well, and its score must be the same. `subsamples` in place of a file
computes what random parts of the target itself score, by the package's function, at a fixed seed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

warnings.simplefilter("ignore")


def dataset(file: Path, root: Path) -> Any:
    """The target and the synthetic rows, cleaned and binned by the package."""
    from sdnist.load import TestDatasetName
    from sdnist.report import Dataset
    from sdnist.utils import SimpleLogger

    return Dataset(file, SimpleLogger(), TestDatasetName.national2019, root, download=False)


def scores(file: Path, root: Path) -> dict[str, Any]:
    """K-marginal, propensity, correlations and inconsistencies, as `sdnist.report.score.utility` computes them."""
    from sdnist.metrics.inconsistency import Inconsistencies
    from sdnist.metrics.kmarginal import KMarginal
    from sdnist.metrics.pearson_correlation import PearsonCorrelationDifference
    from sdnist.metrics.propensity import PropensityMSE
    from sdnist.report.plots.correlation import correlation_difference

    data = dataset(file, root)
    marginal = KMarginal(data.d_target_data, data.d_synthetic_data, groups(data))
    marginal.compute_score()
    found: dict[str, Any] = {
        "k_marginal": int(marginal.score),
        "k_marginal_exact": float(marginal.score),
        "features": len(data.features),
        "rows": len(data.synthetic_data),
        "out_of_bound": list(data.validation_log["values_out_of_bound"]),
    }
    if groups(data):
        found["puma"] = {
            "worst": int(marginal.scores.min()),
            "best": int(marginal.scores.max()),
        }
    names = [name for name in data.data_dict if name in data.config["correlation_features"]]
    with tempfile.TemporaryDirectory() as folder:
        propensity = PropensityMSE(data.t_target_data, data.t_synthetic_data, Path(folder), data.features)
        found["propensity_mse"] = float(propensity.compute_score())
        broken = Inconsistencies(data.c_synthetic_data, Path(folder))
        broken.compute()
        found["inconsistent"] = {
            one["Inconsistency Group"]: int(one["Number of Records Inconsistent"])
            for one in broken.report_data["summary"]
        }
    pearson = PearsonCorrelationDifference(data.t_target_data, data.t_synthetic_data, names)
    pearson.compute()
    kendall = correlation_difference(data.t_synthetic_data, data.t_target_data, names)
    for name, apart in (("pearson", pearson.pp_corr_diff), ("kendall", kendall)):
        size = abs(apart.to_numpy())
        off = size[~(size != size)]  # a column of one value has no correlation
        found[name] = {"largest": float(off.max()), "mean": float(off.sum() / max(1, off.size - len(names)))}
    return found


def groups(data: Any) -> list[str]:
    """PUMA, where the rows have it."""
    found: list[str] = data.config["k_marginal"]["group_features"]
    return found


def subsamples(names: list[str], root: Path) -> dict[str, Any]:
    """K-marginal of random parts of the target, by `sdnist`'s own function."""
    import numpy as np
    import pandas as pd
    from sdnist.metrics.kmarginal import KMarginal
    from sdnist.report.score.utility import kmarginal_subsamples

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "target.csv"
        target = pd.read_csv(root / "national" / "national2019.csv", dtype=str, keep_default_na=False)
        target[names].to_csv(file, index=False)
        data = dataset(file, root)
    np.random.seed(0)  # noqa: NPY002  # what pandas' sample draws from
    found, _ = kmarginal_subsamples(data, KMarginal, groups(data))
    return {f"{round(100 * share)}": score for share, score in found.items()}


def report(file: Path, root: Path, folder: Path) -> int:
    """The whole report, by the function that `python -m sdnist.report` calls; its k-marginal score."""
    from sdnist.load import TestDatasetName
    from sdnist.report.__main__ import run

    folder.mkdir(parents=True, exist_ok=True)
    run(file, folder, TestDatasetName.national2019, root, None, False, False)
    written = json.loads((folder / "report.json").read_text())
    return int(written["k_marginal"]["k_marginal_synopsys"]["k_marginal_score"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="synthetic rows, or `subsamples`")
    parser.add_argument("root", type=Path)
    parser.add_argument("--columns", nargs="*", default=[])
    parser.add_argument("--report", type=Path)
    asked = parser.parse_args()
    import matplotlib

    matplotlib.use("Agg")
    import sdnist.report  # first: modules of the package import each other in a circle

    assert sdnist.report.Dataset
    with contextlib.redirect_stdout(io.StringIO()):
        if asked.file == "subsamples":
            found = subsamples(asked.columns, asked.root)
        else:
            found = scores(Path(asked.file), asked.root)
            if asked.report is not None:
                found["report_k_marginal"] = report(Path(asked.file), asked.root, asked.report)
    found["version"] = f"sdnist {version('sdnist')}"
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

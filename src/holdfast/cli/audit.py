"""`holdfast audit`: plant canaries, train, and hold a claim against what the model gives away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click


@click.command()
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    required=True,
    help="Numbers only: Parquet, CSV or NPY.",
)
@click.option("--label", help="The column of labels; without it the function gets rows only.")
@click.option("--classes", nargs=2, help="The two labels, in order.")
@click.option("--epsilon", type=float, required=True, help="The claim.")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The claim.")
@click.option("--adjacency", type=click.Choice(["replace", "add_remove"]), required=True, help="The claim.")
@click.option(
    "--kind",
    type=click.Choice(["one-run", "multi-run", "sequential"]),
    default="one-run",
    show_default=True,
    help="One training with many planted records, or many trainings with one.",
)
@click.option(
    "--bound",
    type=click.Choice(["path", "geometric", "fixed", "gaussian", "clopper-pearson", "bayesian"]),
    help="One run: path (default), geometric, fixed, gaussian. Many: clopper-pearson (default), gaussian, bayesian.",
)
@click.option("--canaries", type=int, default=1000, show_default=True, help="Planted records, in one run.")
@click.option("--runs", type=int, default=400, show_default=True, help="Trainings, in many runs.")
@click.option("--row-norm", type=float, default=1.0, show_default=True, help="The length of planted records.")
@click.option(
    "--rows",
    type=click.Choice(["public", "generated", "real"]),
    help="What the rows of --data are. Audits on real rows, the default, stay off public pages.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the lower bound.")
@click.option("--seed", type=int, help="Repeat the same coins; for examples only.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw claim and audit (SVG).")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def audit(
    function: str,
    data: Path,
    label: str | None,
    classes: tuple[str, str] | None,
    epsilon: float,
    delta: float,
    adjacency: str,
    kind: Any,
    bound: Any,
    canaries: int,
    runs: int,
    row_norm: float,
    rows: Any,
    confidence: float,
    seed: int | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """How much a training function leaks at least, and whether its claim survives.

    FUNCTION takes an array of rows (or a pair (X, y) with --label) and returns a vector of weights or a model.
    Exit code 1 when the claim is refuted.

    \b
    Example:
      holdfast audit mymodel:train --data rows.npy --epsilon 1 --delta 1e-6 --adjacency add_remove
    """
    from holdfast.audit import audit as run
    from holdfast.audit.run import load
    from holdfast.data.engines.files import read_arrays
    from holdfast.privacy.curves.curve import ApproxDP
    from holdfast.progress import progress
    from holdfast.release.outputs import require_writable

    if plot is not None:
        require_writable(plot, force=True, name="plot")
    claim = ApproxDP(epsilon, delta)
    features, labels = read_arrays(data, label)
    named = None if labels is None else _as_labels(classes or (), labels)
    with progress(desc="training", total=1 if kind == "one-run" else runs) as bar:
        result = run(
            load(function),
            features if labels is None else (features, labels),
            claim=claim,
            kind=kind,
            adjacency=adjacency,
            canaries=canaries,
            row_norm=row_norm,
            rows=rows,
            classes=named,
            bound=bound,
            runs=runs,
            confidence=confidence,
            seed=seed,
            progress=lambda done, total: bar.update(done - bar.n),
        )
    verdict = result.verdict(claim, confidence)
    if as_json:
        found = {
            "verdict": verdict,
            "epsilon_lower": result.epsilon_lower(confidence) if result.valid else None,
            "epsilon_estimate": result.epsilon_estimate(confidence),
            "result": result.to_json(),
        }
        click.echo(json.dumps(found))
    else:
        click.echo(result.summary(claim, confidence=confidence))
    if plot is not None:
        from holdfast.dossier.charts import standalone, trade_off_chart

        curves = [("claimed", claim.trade_off()), ("audited", result.trade_off(confidence))]
        plot.write_text(standalone(trade_off_chart(curves), trade_off_chart(curves, log=True)))
    if verdict == "refuted":
        click.secho("REFUTED: the claim is false with the stated confidence", fg="red", bold=True, err=True)
        raise SystemExit(1)


def _as_labels(classes: tuple[str, ...], labels: Any) -> list[Any]:
    """The classes as they stand in the column: texts, or numbers."""
    from holdfast.errors import ParameterError

    if labels.dtype.kind not in "iuf":
        return list(classes)
    try:
        return [labels.dtype.type(name).item() for name in classes]
    except (ValueError, OverflowError):
        raise ParameterError(f"classes must be numbers, as the labels are, got classes={classes!r}") from None

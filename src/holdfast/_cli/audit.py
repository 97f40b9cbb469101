"""`holdfast audit`: plant canaries, train, and hold a claim against what the model gives away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from holdfast._cli.default_delta import delta_or_default
from holdfast._cli.paths import FORCE_OPTION, FUNCTION_TEXT, PICTURE_FILE, READ_FILE, Command


@click.command(cls=Command)
@click.argument("function", type=FUNCTION_TEXT, metavar="MODULE:FUNCTION|METHOD")
@click.option(
    "--data",
    type=READ_FILE,
    help="Numbers only: Parquet, CSV or NPY. Needed unless METHOD has public tables of its own.",
)
@click.option(
    "--neighbour",
    type=READ_FILE,
    help="Of transcripts: the same table with one record changed.",
)
@click.option("--label", help="The column of labels; without it the function gets rows only.")
@click.option("--classes", nargs=2, help="The two labels, in order.")
@click.option("--epsilon", type=float, required=True, help="The claim.")
@click.option("--delta", type=float, help="The claim; default: 1e-6, and 0 for pure privacy.")
@click.option("--adjacency", type=click.Choice(["replace", "add_remove"]), required=True, help="The claim.")
@click.option(
    "--kind",
    type=click.Choice(["one-run", "multi-run", "sequential", "transcript"]),
    default="one-run",
    show_default=True,
    help="One training with many planted records, many trainings with one, or many runs on two public tables.",
)
@click.option(
    "--bound",
    type=click.Choice(["path", "geometric", "fixed", "gaussian", "clopper-pearson", "bayesian"]),
    help="One run: path (default), geometric, fixed, gaussian. Many: clopper-pearson (default), gaussian, bayesian.",
)
@click.option("--canaries", type=int, help="Planted records, in one run: 1000.")
@click.option("--runs", type=int, help="Trainings, in many runs: 400; on each of two tables: 4000.")
@click.option("--seconds", type=float, help="Of transcripts: at most so many CPU seconds.")
@click.option("--currency", help="Of transcripts: what the function's account counts in.")
@click.option("--row-norm", type=float, help="The length of planted records: 1.")
@click.option(
    "--rows",
    type=click.Choice(["public", "generated", "real"]),
    help="What the rows of --data are. Audits on real rows, the default, stay off public pages.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the lower bound.")
@click.option("--seed", type=int, help="Repeat the same coins; for examples only.")
@click.option("--plot", type=PICTURE_FILE, help="Draw claim and audit (SVG).")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@FORCE_OPTION
def audit(
    function: str,
    data: Path | None,
    neighbour: Path | None,
    label: str | None,
    classes: tuple[str, str] | None,
    epsilon: float,
    delta: float | None,
    adjacency: str,
    kind: Any,
    bound: Any,
    canaries: int | None,
    runs: int | None,
    seconds: float | None,
    currency: str | None,
    row_norm: float | None,
    rows: Any,
    confidence: float,
    seed: int | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """How much a training function leaks at least, and whether its claim survives.

    FUNCTION takes an array of rows (or a pair (X, y) with --label) and returns a vector of weights or a model.
    With --kind transcript it takes rows and an account of holdfast, from which it draws all its noise, and METHOD may
    stand for it, a learning method, which then runs on public tables made to be bad. Runs and CPU seconds are said
    first. Exit code 1 when the claim is refuted.

    \b
    Examples:
      holdfast audit mymodel:train --data rows.npy --epsilon 1 --delta 1e-6 --adjacency add_remove
      holdfast audit noisy_gd --kind transcript --epsilon 1 --delta 1e-3 --adjacency replace --seconds 60
    """
    from holdfast._progress import progress
    from holdfast.audit import audit as run_audit
    from holdfast.audit._designs.named import named_design, settings_of
    from holdfast.audit._run import load
    from holdfast.data._engines.files import read_arrays
    from holdfast.privacy._curves.curve import ApproxDP

    delta = delta_or_default(delta, None, announce=not as_json)
    claim = ApproxDP(epsilon, delta)
    settings: dict[str, Any] = {
        "bound": bound,
        "canaries": canaries,
        "runs": runs,
        "seconds": seconds,
        "currency": currency,
        "row_norm": row_norm,
    }
    if "confidence" in settings_of(kind):
        settings["confidence"] = confidence
    if kind == "transcript":
        train, tables, method_currency = _code_and_tables(
            function, data, neighbour, label=label, adjacency=adjacency
        )
        if method_currency is not None:
            settings["currency"], rows = currency or method_currency, "public"
        settings |= {"announce": None if as_json else _print_plan, "classes": classes}
    else:
        if data is None:
            raise click.UsageError(f"--data is needed for --kind {kind}")
        if neighbour is not None:
            raise click.UsageError("--neighbour is for --kind transcript")
        train, (features, labels) = load(function), read_arrays(data, label)
        tables = _table(features, labels)
        settings["classes"] = None if labels is None else _typed_labels(classes or (), labels)
    design = named_design(kind, settings)
    with progress(desc="transcripts" if kind == "transcript" else "training", total=design.runs) as bar:
        result = run_audit(
            train,
            tables,
            claim=claim,
            design=design,
            adjacency=adjacency,
            rows=rows,
            seed=seed,
            progress=lambda done, total: bar.update(done - bar.n),
        )
    _print_verdict(result, claim, confidence, plot, as_json=as_json)


def _print_plan(budget: Any) -> None:
    click.echo(f"planned: {budget.summary()}")


def _code_and_tables(
    function: str, data: Path | None, neighbour: Path | None, *, label: str | None, adjacency: str
) -> tuple[Any, Any, str | None]:
    """For transcripts: a function and two tables of yours; or a learning method, public tables, and its currency."""
    from holdfast.audit._run import load
    from holdfast.audit._worst_pairs import learner_under_audit, opposite_records
    from holdfast.data._engines.files import read_arrays

    if ":" in function:
        if data is None or neighbour is None:
            raise click.UsageError("a function needs two tables: --data and --neighbour")
        pair = tuple(_table(*read_arrays(path, label)) for path in (data, neighbour))
        return load(function), pair, None
    if data is not None or neighbour is not None:
        raise click.UsageError(
            "a learning method has public tables of its own; leave out --data and --neighbour"
        )
    train, currency = learner_under_audit(function)
    return train, opposite_records(rows=200, adjacency=adjacency), currency


def _table(features: Any, labels: Any) -> Any:
    return features if labels is None else (features, labels)


def _print_verdict(result: Any, claim: Any, confidence: float, plot: Path | None, *, as_json: bool) -> None:
    """What was found, in words or for machines, and as a picture; ends with 1 where the claim is refuted."""
    verdict = result.verdict(claim, confidence)
    if as_json:
        record = {
            "verdict": verdict,
            "epsilon_lower": result.epsilon_lower(confidence) if result.valid else None,
            "epsilon_estimate": result.epsilon_estimate(confidence),
            "result": result.to_json(),
        }
        click.echo(json.dumps(record))
    else:
        click.echo(result.summary(claim, confidence=confidence))
    if plot is not None:
        from holdfast.data._whole_file import write_whole
        from holdfast.dossier._charts import standalone, trade_off_chart

        curves = [("claimed", claim.trade_off()), ("audited", result.trade_off(confidence))]
        picture = standalone(trade_off_chart(curves), trade_off_chart(curves, log=True))
        write_whole(plot, picture.encode())
    if verdict == "refuted":
        click.secho("REFUTED: the claim is false with the stated confidence", fg="red", bold=True, err=True)
        raise SystemExit(1)


def _typed_labels(classes: tuple[str, ...], labels: Any) -> list[Any]:
    """The classes as they stand in the column: texts, or numbers."""
    from holdfast.errors import ParameterError

    if labels.dtype.kind not in "iuf":
        return list(classes)
    try:
        return [labels.dtype.type(name).item() for name in classes]
    except (ValueError, OverflowError):
        raise ParameterError(f"classes must be numbers, as the labels are, got classes={classes!r}") from None

"""`holdfast curve`: the privacy of a fixed list of releases."""

from __future__ import annotations

import json
from pathlib import Path

import click

DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)


@click.command()
@click.argument("mechanisms", nargs=-1, required=True, metavar="MECHANISM...")
@click.option(
    "--delta", "deltas", type=float, multiple=True, help="Report epsilon at this delta (repeatable)."
)
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, help="Report delta at this epsilon (repeatable)."
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw curve and trade-off (SVG)."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def curve(
    mechanisms: tuple[str, ...],
    deltas: tuple[float, ...],
    epsilons: tuple[float, ...],
    plot: Path | None,
    as_json: bool,
) -> None:
    """Which epsilon at this delta, for these mechanisms together.

    A mechanism is NAME:parameter=value,...*times; sensitivities are 1 unless given.

    \b
    Examples:
      holdfast curve 'gaussian:sigma=4.2247' --delta 1e-6
      holdfast curve 'subsampled_gaussian:sigma=0.8,rate=0.01*3000' --delta 1e-5
      holdfast curve 'gaussian:sigma=5*10' 'exponential:epsilon=0.1*20' --plot curve.svg
    """
    from holdfast.cli.spec import parse
    from holdfast.privacy.composition import compose

    parts = [parse(text) for text in mechanisms]
    total = compose([one.repeat(times) for one, times in parts])
    at_delta = {d: total.epsilon(d) for d in deltas or (() if epsilons else DELTAS)}
    at_epsilon = {e: total.delta(e) for e in epsilons}
    trade_off = total.trade_off()
    if as_json:
        document = {
            "curve": total.to_json(),
            "epsilon": {f"{d:g}": e for d, e in at_delta.items()},
            "delta": {f"{e:g}": d for e, d in at_epsilon.items()},
            "advantage": trade_off.advantage(),
        }
        click.echo(json.dumps(document))
    else:
        click.echo(f"{total!r}")
        for delta, epsilon in at_delta.items():
            click.echo(f"  epsilon {epsilon:<12.6g} at delta {delta:g}")
        for epsilon, delta in at_epsilon.items():
            click.echo(f"  delta {delta:<14.6g} at epsilon {epsilon:g}")
        click.echo(
            f"  whoever was 50 % sure guesses right at most {100 * trade_off.guess():.1f} % of the time"
        )
    if plot is not None:
        from holdfast.dossier.charts import curve_chart, standalone, trade_off_chart

        name = "proved"
        plot.write_text(standalone(curve_chart([(name, total)]), trade_off_chart([(name, trade_off)])))
        if not as_json:
            click.echo(f"  drawn to {plot}")

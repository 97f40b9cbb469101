"""`holdfast curve`: the privacy of a fixed list of mechanisms, written `name:parameter=value,...*times`."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from holdfast._cli.paths import FORCE_OPTION, PICTURE_FILE, Command
from holdfast.errors import ParameterError, require
from holdfast.privacy._curves.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy._curves.gaussian import GaussianDP
from holdfast.privacy._curves.renyi import ZCDP
from holdfast.privacy._guarantee import Sureness, guess_bound, guess_words
from holdfast.privacy._mechanisms import MECHANISMS
from holdfast.privacy._wording import rounded_up

CURVE_PARAMETERS: dict[str, tuple[type[PrivacyCurve], tuple[str, ...]]] = {
    "pure": (PureDP, ("epsilon",)),
    "approx": (ApproxDP, ("epsilon", "delta")),
    "zcdp": (ZCDP, ("rho",)),
    "gdp": (GaussianDP, ("mu",)),
}
"""The curves that can be named in the place of a mechanism, with their parameters."""
DEFAULT_DELTAS = (1e-3, 1e-5, 1e-6, 1e-9)
"""Where epsilon is reported if neither --delta nor --epsilon is given."""


def snake_case(name: str) -> str:
    """The name on the command line.

    >>> snake_case("SubsampledGaussian")
    'subsampled_gaussian'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def parse_mechanism(text: str) -> tuple[PrivacyCurve, int]:
    """The curve of one use, and how often it is used.

    >>> parse_mechanism("gaussian:sigma=2*100")
    (GaussianDP(mu=0.5), 100)
    >>> parse_mechanism("pure:epsilon=0.1")
    (PureDP(epsilon=0.1), 1)
    """
    match = re.fullmatch(r"([a-z_]+)(?::([^*]*))?(?:\*([0-9]{1,12}))?", text.strip())
    mechanisms = {snake_case(kind.__name__): kind for kind in MECHANISMS if kind.__name__ != "SubsampledPure"}
    known = sorted([*mechanisms, *CURVE_PARAMETERS])
    if match is None or match[1] not in known:
        raise ParameterError(
            f"mechanism must be NAME:parameter=value,...*times with a name of {', '.join(known)} and at most 12 digits "
            f"in times; got {text!r}"
        )
    name, values, times = match[1], _parse_settings(match[2] or "", text), int(match[3] or 1)
    if times < 1:
        raise ParameterError(f"times must be >= 1, got {text!r}")
    if name in CURVE_PARAMETERS:
        curve_class, needed_names = CURVE_PARAMETERS[name]
        _check_names(values, needed_names, needed_names, text)
        return curve_class(
            **{parameter: _parse_value(parameter, value, "Number") for parameter, value in values.items()}
        ), times
    mechanism_class = mechanisms[name]
    kinds = {f.name: str(f.type) for f in fields(mechanism_class) if f.name not in ("adjacency", "base")}
    _check_names(values, tuple(kinds), (), text)
    sensitivities = {parameter: 1.0 for parameter in kinds if parameter.endswith("sensitivity")}
    settings = {
        parameter: _parse_value(parameter, value, kinds[parameter]) for parameter, value in values.items()
    }
    try:
        return mechanism_class(**(sensitivities | settings)).curve, times
    except TypeError as error:
        raise ParameterError(f"{name} needs its parameters ({', '.join(kinds)}); got {text!r}") from error
    except ArithmeticError as error:
        raise ParameterError(f"{text!r} is beyond what numbers of double precision can hold") from error


def _parse_settings(text: str, whole: str) -> dict[str, str]:
    settings: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(f"parameters are written name=value, got {whole!r}")
        settings[name.strip()] = value.strip()
    return settings


def _parse_value(name: str, text: str, kind: str) -> Any:
    """The value that a text gives to a parameter of this declared kind.

    >>> _parse_value("sigma", "1/3", "Number"), _parse_value("categories", "4", "int")
    (Fraction(1, 3), 4)
    """
    if kind == "bool":
        require(text in ("true", "false"), name, text, "true or false")
        return text == "true"
    if kind == "Arithmetic":
        return text
    if re.fullmatch(r"[0-9]{1,18}", text):
        return int(text)
    if kind.startswith("int"):
        raise ParameterError(f"{name} must be a whole number of at most 18 digits, got {name}={text!r}")
    if re.fullmatch(r"[0-9]{1,18}/0*[1-9][0-9]{0,17}", text):
        return Fraction(text)
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{name} must be a number such as 2, 0.5 or 1/3, got {name}={text!r}") from None


def _check_names(
    settings: dict[str, str], allowed: tuple[str, ...], needed: tuple[str, ...], text: str
) -> None:
    unknown, absent = sorted(set(settings) - set(allowed)), sorted(set(needed) - set(settings))
    if unknown or absent:
        raise ParameterError(f"parameters are {', '.join(allowed)}; got {text!r}")


@click.command(cls=Command)
@click.argument("mechanisms", nargs=-1, required=True, metavar="MECHANISM...")
@click.option(
    "--delta", "deltas", type=float, multiple=True, help="Report epsilon at this delta (repeatable)."
)
@click.option(
    "--epsilon", "epsilons", type=float, multiple=True, help="Report delta at this epsilon (repeatable)."
)
@click.option("--plot", type=PICTURE_FILE, help="Draw curve and trade-off (SVG).")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@FORCE_OPTION
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
    from holdfast.privacy._curves.composition import compose

    parts = [parse_mechanism(text) for text in mechanisms]
    total = compose([curve.repeat(times) for curve, times in parts])
    at_delta = {d: total.epsilon(d) for d in deltas or (() if epsilons else DEFAULT_DELTAS)}
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
            click.echo(f"  epsilon {rounded_up(epsilon, 6):<12.6g} at delta {delta:g}")
        for epsilon, delta in at_epsilon.items():
            click.echo(f"  delta {rounded_up(delta, 6):<14.6g} at epsilon {epsilon:g}")
        click.echo(f"  {Sureness.of(total).words('one unit')}")
        click.echo(f"  {guess_words(guess_bound(total))}")
    if plot is not None:
        from holdfast.data._whole_file import write_whole
        from holdfast.dossier._charts import curve_chart, standalone, trade_off_chart

        name = "proved"
        picture = standalone(curve_chart([(name, total)]), trade_off_chart([(name, trade_off)]))
        write_whole(plot, picture.encode())
        if not as_json:
            click.echo(f"  drawn to {click.format_filename(plot)}")

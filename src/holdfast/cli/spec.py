"""Mechanisms as written on a command line: `name:parameter=value,...*times`."""

from __future__ import annotations

import re
from dataclasses import fields
from fractions import Fraction
from typing import Any

from holdfast.errors import ParameterError
from holdfast.privacy.curve import ApproxDP, PrivacyCurve, PureDP
from holdfast.privacy.gaussian_dp import GaussianDP
from holdfast.privacy.mechanisms import MECHANISMS
from holdfast.privacy.zcdp import ZCDP

CURVES: dict[str, tuple[type[PrivacyCurve], tuple[str, ...]]] = {
    "pure": (PureDP, ("epsilon",)),
    "approx": (ApproxDP, ("epsilon", "delta")),
    "zcdp": (ZCDP, ("rho",)),
    "gdp": (GaussianDP, ("mu",)),
}


def snake(name: str) -> str:
    """The name on the command line.

    >>> snake("SubsampledGaussian")
    'subsampled_gaussian'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def parse(text: str) -> tuple[PrivacyCurve, int]:
    """The curve of one use, and how often it is used.

    >>> parse("gaussian:sigma=2*100")
    (GaussianDP(mu=0.5), 100)
    >>> parse("pure:epsilon=0.1")
    (PureDP(epsilon=0.1), 1)
    """
    match = re.fullmatch(r"([a-z_]+)(?::([^*]*))?(?:\*(\d+))?", text.strip())
    mechanisms = {snake(cls.__name__): cls for cls in MECHANISMS if cls.__name__ != "SubsampledPure"}
    known = sorted([*mechanisms, *CURVES])
    if match is None or match[1] not in known:
        raise ParameterError(
            f"mechanism must be NAME:parameter=value,...*times with a name of {', '.join(known)}; got {text!r}"
        )
    name, settings, times = match[1], _settings(match[2] or "", text), int(match[3] or 1)
    if times < 1:
        raise ParameterError(f"times must be >= 1, got {text!r}")
    if name in CURVES:
        kind, wanted = CURVES[name]
        _names(settings, wanted, wanted, text)
        return kind(**settings), times
    cls = mechanisms[name]
    allowed = tuple(f.name for f in fields(cls) if f.name not in ("adjacency", "base"))
    sensitivities = {f: 1.0 for f in allowed if f.endswith("sensitivity")}
    _names(settings, allowed, (), text)
    try:
        return cls(**(sensitivities | settings)).curve, times
    except TypeError as error:
        raise ParameterError(f"{name} needs its parameters ({', '.join(allowed)}); got {text!r}") from error


def _settings(text: str, whole: str) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(f"parameters are written name=value, got {whole!r}")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    if re.fullmatch(r"\d+", text):
        return int(text)
    if re.fullmatch(r"\d+/\d+", text):
        return Fraction(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text


def _names(settings: dict[str, Any], allowed: tuple[str, ...], needed: tuple[str, ...], text: str) -> None:
    unknown, absent = sorted(set(settings) - set(allowed)), sorted(set(needed) - set(settings))
    if unknown or absent:
        raise ParameterError(f"parameters are {', '.join(allowed)}; got {text!r}")

"""Seeded draws of every mechanism, every kind of curve with its numbers, and accounts with their charges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from holdfast.privacy import (
    MECHANISMS,
    ZCDP,
    Account,
    ApproxDP,
    BoundedRange,
    DiscreteGaussian,
    Exponential,
    Gaussian,
    GaussianDP,
    Guarantee,
    Laplace,
    LossDistribution,
    PrivacyCurve,
    PrivacyUnit,
    PureDP,
    RenyiDP,
    SubsampledGaussian,
    WithSlack,
    calibrate,
    compose,
    subsample,
    to_replace,
)
from tests.golden.frozen_common import Plain, outcome, plain, raw

DELTAS = (1e-9, 1e-6, 1e-3)


def curves() -> dict[str, PrivacyCurve]:
    """Every kind that a file may hold: by hand, by composition, and by each mechanism's example."""
    laplace = Laplace(scale=2.0, l1_sensitivity=1.0).curve
    made: dict[str, PrivacyCurve] = {
        "pure": PureDP(0.7),
        "approximate": ApproxDP(0.7, 1e-6),
        "concentrated": ZCDP(0.125),
        "gaussian": GaussianDP(0.5),
        "range": BoundedRange(0.4),
        "renyi": RenyiDP((2.0, 4.0, 8.0), (0.1, 0.2, 0.5)),
        "slack": WithSlack(GaussianDP(0.25), 1e-12, 1e-9),
        "two laplace": compose([laplace, GaussianDP(0.5)]),
        "fifty laplace": laplace.repeat(50),
        "replaced": to_replace(laplace),
        "sampled": subsample(laplace, 0.125),
        "group": ZCDP(0.01).group(3),
    }
    losses = laplace.loss_distribution(spacing=2.0**-6)
    assert isinstance(losses, LossDistribution)
    made["losses"] = losses
    for kind in MECHANISMS:
        for place, example in enumerate(kind.examples()):
            made[f"{kind.__name__} {place}"] = example.curve
    subsampled = SubsampledGaussian.examples()[0].curve
    return made | {"subsampled, twice": subsampled.repeat(2), "subsampled, replaced": to_replace(subsampled)}


def numbers(curve: PrivacyCurve) -> Any:
    """The stored form, and what it says; also of the curve that is read back."""
    stored = Guarantee(curve=curve, adjacency="replace", unit=PrivacyUnit(), theorem="")  # type: ignore[arg-type]
    again = Guarantee.from_json(stored.to_json()).curve
    return {
        "json": curve.to_json(),
        "epsilon": [curve.epsilon(delta) for delta in DELTAS],
        "delta": [curve.delta(epsilon) for epsilon in (0.0, 0.5, 2.0)],
        "read back": [again.epsilon(delta) for delta in DELTAS],
        "currencies": [curve.as_pure(), curve.as_approximate(), curve.as_zcdp(), curve.as_gdp()],
        "renyi of order 3": curve.renyi(3.0),
        "guess": curve.trade_off().guess(),
        "repr": repr(curve),
    }


def mechanisms() -> Iterator[tuple[str, Plain]]:
    """Draws of each example at both worst values and its probes, from one seed."""
    for kind in MECHANISMS:
        for place, example in enumerate(kind.examples()):

            def drawn(made: Any = example) -> Any:
                source = Account(PureDP(1.0), seed=0).source
                values = [made.check(value) for value in (*made.worst_pair(), *made.probes())]
                draws = [
                    np.asarray(made.sample(value, source)).tolist() for value in values for _ in range(3)
                ]
                return {"json": made.to_json(), "theorem": made.theorem, "draws": draws}

            yield f"mechanism/{kind.__name__} {place}", outcome(drawn)


def calibrated() -> Iterator[tuple[str, Plain]]:
    """The least noise within a limit."""

    def within(limit: PrivacyCurve) -> Any:
        return Gaussian.within(limit, l2_sensitivity=1.0).to_json()

    limits = (PureDP(1.0), ApproxDP(1.0, 1e-6), ZCDP(0.5), GaussianDP(0.5))
    for limit in limits:
        yield f"within/Gaussian/{limit!r}", outcome(within, limit)

    yield (
        "calibrate/Laplace and Gaussian",
        outcome(
            lambda: calibrate(
                lambda noise: compose(
                    [GaussianDP(1 / noise), Laplace(scale=noise, l1_sensitivity=1.0).curve]
                ),
                ApproxDP(1.0, 1e-6),
                tolerance=1e-3,
            )
        ),
    )


def accounts() -> Iterator[tuple[str, Plain]]:
    """Charges with exact fractions, in every currency, with shares, keys and permits."""
    limits: dict[str, PrivacyCurve] = {
        "pure": PureDP(4.0),
        "basic": ApproxDP(4.0, 1e-5),
        "zcdp": ZCDP(2.0),
        "renyi": ApproxDP(6.0, 1e-5),
        "gdp": GaussianDP(2.0),
    }
    for currency, limit in limits.items():
        account = Account(limit, currency=currency, seed=0)
        values: list[Plain] = []
        for step, part in enumerate((account, *account.split(0.5, 0.25))):
            pure = currency in ("pure", "basic")
            noise = (
                Laplace(scale=4.0, l1_sensitivity=1.0) if pure else Gaussian(sigma=8.0, l2_sensitivity=1.0)
            )
            for key in (f"key {step}", f"key {step}", None):
                name = f"account/{currency}/{step}/{key}/{len(values)}"
                made = outcome(part.release, noise, [1.0, 2.5], key=key, label="two")
                values.append(made)
                yield name, made
        permit = outcome(_drawn, account, currency)
        charges = [
            asdict(one.charge) | {"cost": one.charge.cost.to_json()} for one in account.journal.entries
        ]
        yield f"account/{currency}/permit", permit
        yield f"account/{currency}/charges", [plain(one) for one in charges]
        states = [
            [one.number, one.state, one.charge.share, one.charge.key] for one in account.journal.entries
        ]
        yield f"account/{currency}/states", states
        yield (
            f"account/{currency}/standing",
            outcome(lambda a=account: [repr(a.remaining()), repr(a.spent()), a.guarantee().to_json()]),
        )


def _drawn(account: Account, currency: str) -> Any:
    """Three draws of one permit, or of an exponential mechanism where the currency counts epsilon."""
    noise = (
        Exponential(epsilon=0.25, sensitivity=1.0)
        if currency in ("pure", "basic")
        else Gaussian(sigma=20.0, l2_sensitivity=1.0)
    )
    permit = account.permit(noise, times=3)
    return [np.asarray(permit.release([1, 2, 3])).tolist() for _ in range(3)]


def stored() -> Iterator[tuple[str, Plain]]:
    """The exact text of charges and curves whose parameters are exact."""
    account = Account(ZCDP(1.0), seed=0)
    account.release(DiscreteGaussian(sigma=4.0, l2_sensitivity=1.0), [12, 30], key="a", label="counts")
    account.split(0.25)[0].release(Laplace(scale=8.0, l1_sensitivity=1.0), [0.5], key="b")
    for entry in account.journal.entries:
        charge = asdict(entry.charge) | {"cost": entry.charge.cost.to_json()}
        yield f"stored/charge {entry.number}", raw(charge)
        yield f"stored/payload {entry.number}", entry.payload
    plan = [(Gaussian(sigma=8.0, l2_sensitivity=1.0), 2)]
    planned = Account(ApproxDP(2.0, 1e-6), plan=plan, seed=0)
    yield (
        "stored/plan",
        outcome(lambda: [planned.release(plan[0][0], [1.0]), repr(planned.guarantee().curve)]),
    )
    exact = (
        "pure",
        "approximate",
        "concentrated",
        "gaussian",
        "range",
        "renyi",
        "slack",
        "replaced",
        "group",
    )
    known = curves()
    for name in exact:
        yield f"stored/curve {name}", raw(known[name].to_json())


def privacy() -> dict[str, Plain]:
    """All of it."""
    made: dict[str, Plain] = {f"curve/{name}": outcome(numbers, curve) for name, curve in curves().items()}
    return made | {name: one for part in (mechanisms, calibrated, accounts, stored) for name, one in part()}

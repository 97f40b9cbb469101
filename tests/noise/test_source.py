from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import holdfast.noise
from holdfast.noise import _idealised as continuous
from holdfast.noise._bernoulli import bernoulli, bernoulli_exp, bernoulli_many
from holdfast.noise._choose import choose_by_score, choose_many, permute_and_flip
from holdfast.noise._gaussian import discrete_gaussian, rounded_gaussian
from holdfast.noise._idealised import gamma_ball
from holdfast.noise._laplace import discrete_laplace, truncated_laplace
from holdfast.noise._source import Source
from holdfast.noise._symmetric import draw_symmetric, signed_magnitudes
from holdfast.noise._uniform import integers, permutation

CHOICE: dict[str, Any] = {"scores": np.arange(50), "factor": Fraction(1, 99)}
SAMPLERS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (discrete_laplace, {"scale": Fraction(2**30), "size": 20}),
    (discrete_gaussian, {"sigma": Fraction(2**30), "size": 20}),
    (rounded_gaussian, {"sigma": Fraction(2**30), "size": 20}),
    (truncated_laplace, {"scale": Fraction(2**20), "size": 20}),
    (bernoulli, {"p": Fraction(1, 2), "size": 200}),
    (bernoulli_exp, {"gamma": Fraction(1, 2), "size": 200}),
    (integers, {"bound": 10**9, "size": 20}),
    (permutation, {"n": 100}),
    (choose_many, {**CHOICE, "size": 20}),
    (choose_by_score, CHOICE),
    (permute_and_flip, CHOICE),
    (gamma_ball, {"dimension": 5, "scale": 1.0}),
    (continuous.uniform, {"size": 9}),
    (continuous.normal, {"size": 9}),
    (continuous.laplace, {"size": 9}),
    (continuous.exponential, {"size": 9}),
    (continuous.gumbel, {"size": 9}),
    (continuous.gamma, {"shape": 2.5, "size": 9}),
]
every = pytest.mark.parametrize(("sampler", "parameters"), SAMPLERS, ids=lambda x: getattr(x, "__name__", ""))


def several(sampler: Callable[..., Any], parameters: dict[str, Any], source: Source) -> Any:
    """Enough draws that two independent runs do not agree by chance."""
    return [np.asarray(sampler(source, **parameters)).tolist() for _ in range(30)]


@every
def test_a_seed_repeats_and_entropy_does_not(sampler: Callable[..., Any], parameters: dict[str, Any]) -> None:
    seeded, again, other, secure, afresh = (
        several(sampler, parameters, source)
        for source in (Source(seed=5), Source(seed=5), Source(seed=6), Source(), Source())
    )
    assert seeded == again
    assert seeded != other
    assert secure != afresh


@every
def test_a_source_moves_on(sampler: Callable[..., Any], parameters: dict[str, Any]) -> None:
    source = Source(seed=5)
    assert several(sampler, parameters, source) != several(sampler, parameters, source)


def public_functions() -> list[Callable[..., Any]]:
    modules = [
        importlib.import_module(f"holdfast.noise.{module.name}")
        for module in pkgutil.iter_modules(holdfast.noise.__path__)
    ]
    return [
        function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]


def test_nothing_can_be_drawn_without_a_source() -> None:
    sampling = [f for f in public_functions() if "source" in inspect.signature(f).parameters]
    for function in sampling:
        first, *others = inspect.signature(function).parameters.values()
        assert first.name == "source"
        assert first.default is inspect.Parameter.empty
        assert all(p.kind is p.KEYWORD_ONLY or p.name == "n" for p in others)
    assert {f.__name__ for f in sampling} == {f.__name__ for f, _ in SAMPLERS} | {
        f.__name__ for f in (bernoulli_many, signed_magnitudes, draw_symmetric)
    }


def test_no_sampler_reads_a_hidden_generator() -> None:
    for function in public_functions():
        code = inspect.getsource(inspect.getmodule(function))  # type: ignore[arg-type]
        if function.__module__ != "holdfast.noise._source":
            assert "np.random" not in code
            assert "urandom" not in code


def test_provenance_says_what_the_bits_are_worth() -> None:
    assert Source().provenance == "secure"
    assert Source(seed=0).provenance == "seeded"


@pytest.mark.parametrize("seed", [None, 3])
def test_a_source_is_never_copied_or_stored(seed: int | None) -> None:
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never copied"):
            attempt(Source(seed=seed))


def test_words_use_all_their_bits() -> None:
    for source in (Source(), Source(seed=1)):
        words = source.words(20_000)
        ones = [int(((words >> np.uint64(b)) & np.uint64(1)).sum()) for b in range(64)]
        assert all(abs(count - 10_000) < 6 * np.sqrt(5_000) for count in ones)


@pytest.mark.parametrize(
    ("sampler", "parameters"),
    [
        (discrete_laplace, {"scale": Fraction(9)}),
        (discrete_gaussian, {"sigma": Fraction(9)}),
        (rounded_gaussian, {"sigma": Fraction(9)}),
        (continuous.normal, {}),
        (choose_many, CHOICE),
    ],
)
def test_memory_beyond_the_result_does_not_grow(
    sampler: Callable[..., Any], parameters: dict[str, Any]
) -> None:
    sampler(Source(seed=1), size=10, **parameters)
    tracemalloc.start()
    try:
        sampler(Source(seed=1), size=1_000_000, **parameters)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    result = 8_000_000
    assert peak < result + 8_000_000

"""What the two pages on Wu 2016, figure 3.4, share: the printed ratios beside ours, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Times = Mapping[str, Mapping[float, Sequence[float]]]
"""By algorithm, and by epochs or batch size."""
Found = Mapping[str, tuple[Times, Times]]
"""By table: over epochs with batches of 10, and over batch sizes in one epoch."""
NOISELESS, BOLT_ON, SCS13, BST14 = "noiseless", "bolt-on", "SCS13", "BST14"
EPOCHS, BATCHES = (1, 10, 20), (1, 10, 50, 500)
PRINTED = {"20 epochs, b = 10": (2.0, 3.0), "one epoch, b = 1": (1.0, 6.0), "one epoch, b = 500": (1.0, 1.1)}
"""How many times slower than bolt-on the thesis finds the others: "between 2x and 3x", "up to 6x", "practically
disappears"."""
PLACES = {"20 epochs, b = 10": (0, 20.0), "one epoch, b = 1": (1, 1.0), "one epoch, b = 500": (1, 500.0)}


def over(both: tuple[Times, Times], where: tuple[int, float], name: str, base: str) -> float | None:
    """How many times as long one takes as the other; None where one was not measured."""
    which, place = where
    results = both[which]
    if place not in results.get(name, {}) or place not in results.get(base, {}):
        return None
    return results[name][place][0] / results[base][place][0]


def all_over(found: Found, wheres: Sequence[tuple[int, float]], name: str, base: str) -> Iterator[float]:
    """The same for all tables, without what was not measured."""
    for both in found.values():
        for where in wheres:
            value = over(both, where, name, base)
            if value is not None:
                yield value


def agreement(value: float, low: float, high: float) -> str:
    """Beside a ratio: whether it is as printed, and else by which factor it is not."""
    if value < low:
        return f"{value:.1f} ({low / value:.1f} times below)"
    return f"{value:.1f} (as printed)" if value <= high else f"{value:.1f} ({value / high:.1f} times above)"


def ratios(found: Found) -> list[str]:
    """The thesis's three sentences beside ours."""
    lines = ["| table | where | printed, times bolt-on | SCS13 | BST14 | bolt-on / noiseless, printed 1 |"]
    lines += ["|---|---|---|---:|---:|---:|"]
    for title, both in found.items():
        for where, (low, high) in PRINTED.items():
            rivals = [over(both, PLACES[where], name, BOLT_ON) for name in (SCS13, BST14)]
            cells = ["" if value is None else agreement(value, low, high) for value in rivals]
            own = over(both, PLACES[where], BOLT_ON, NOISELESS)
            cells.append("" if own is None else f"{own:.2f}")
            lines.append(f"| {title} | {where} | {low:g} to {high:g} | " + " | ".join(cells) + " |")
    return lines


def counted(found: Found) -> str:
    """How many of the printed ratios are ours, in words."""
    signs = []
    for both in found.values():
        for where, (low, high) in PRINTED.items():
            for name in (SCS13, BST14):
                value = over(both, PLACES[where], name, BOLT_ON)
                if value is not None:
                    signs.append((value > high) - (value < low))
    as_printed, larger, smaller = (signs.count(sign) for sign in (0, 1, -1))
    return f"Of {len(signs)} ratios {as_printed} are as printed, {larger} larger and {smaller} smaller."

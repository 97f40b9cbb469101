"""Paying code: what runs between the rows and a charged value, or decides a charge, a price or noise. Measured.

The rule, by room:

- `privacy` and `noise` make curves, prices, sensitivities and noise: every line that any traced test runs.
- `learn`, `synth`, `data` and `ledger`: every line that runs in a traced test before the last charge or draw of that
  test. What runs after it only reads what was released.
- A constant of a module counts where a function with such a line reads it, and a default where its function has one.

Left out (`SHOWN`): what only writes text, advises by public numbers, compares tables after the release, or makes the
bundled public tables.
"""

from __future__ import annotations

import ast
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.mutation.mutant import OUTSIDE, Candidate, Mutant, candidates, functions, plant_place
from tests.mutation.places import ROOMS, TRACES
from tests.mutation.tracing import Trace

ALL_THAT_RUNS = ("privacy", "noise")
#: Files that only show, advise or compare.
SHOWN = (
    "privacy/_wording.py",
    "ledger/_report.py",
    "synth/_evaluation/",
    "synth/_forecast.py",
    "learn/_forecast.py",
    "learn/_estimators/recommend.py",
    "data/_draft",
    "data/_datasets/",
)
#: Functions that only show.
TEXTS = re.compile(
    r"^(__repr__|__str__|__rich.*|_repr.*|.*summary|.*_text|to_html|describe.*|.*_sentence|.*wording)$"
)


@dataclass(frozen=True)
class Traces:
    """What was measured: each test's lines, and the sources as they were then."""

    tests: Mapping[str, Trace]
    sources: Path

    @classmethod
    def load(cls, folder: Path = TRACES) -> Traces:
        """From the files of all shards."""
        tests: dict[str, Trace] = {}
        for file in sorted(folder.glob("trace*.pickle")):
            tests |= pickle.loads(file.read_bytes())
        if not tests:
            raise SystemExit("nothing was traced yet; run `python -m tests.mutation trace`")
        return cls(
            {name: trace for name, trace in tests.items() if trace.passed}, folder / "traced" / "holdfast"
        )

    @cached_property
    def paying(self) -> dict[str, set[int]]:
        """Traced lines that pay, by file."""
        masks: dict[str, int] = defaultdict(int)
        for trace in self.tests.values():
            for file, lines in trace.lines.items():
                if file.partition("/")[0] in ALL_THAT_RUNS:
                    masks[file] |= lines
            for file, lines in trace.charged.items():
                masks[file] |= lines
        return {file: lines_of(mask) for file, mask in sorted(masks.items()) if not file.startswith(SHOWN)}

    @cached_property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every mutant of a paying line, in the order of files and lines."""
        read: set[str] = set()
        chosen: list[Candidate] = []
        constants: list[Candidate] = []
        for file in self.files():
            text = self.text(file)
            paying = self.paying.get(file, set())
            names, paid = _functions_that_pay(text, paying)
            read |= names
            for each in candidates(file, text):
                function = each.mutant.function
                if function == OUTSIDE:
                    constants.append(each)
                elif function in paid and (not each.in_body or paying & set(range(*_span(each)))):
                    chosen.append(each)
        chosen += [each for each in constants if _constant_of(each) in read and not _is_shown(each.mutant)]
        return tuple(sorted(chosen, key=lambda each: (each.mutant.file, each.line)))

    def files(self) -> list[str]:
        """All files of the rooms, as they were."""
        paths = [path for room in ROOMS for path in sorted((self.sources / room).rglob("*.py"))]
        return [path.relative_to(self.sources).as_posix() for path in paths]

    def text(self, file: str) -> str:
        """A source as it was when the tests were traced."""
        return _text(self.sources / file)

    def lines(self) -> Counter[str]:
        """How many lines pay, by room: those of statements that ran, and of constants and defaults that they read."""
        spans: set[tuple[str, int]] = set()
        for each in self.candidates:
            spans |= {(each.mutant.file, line) for line in range(*_span(each))}
        for file, lines in self.paying.items():
            _, paid = _functions_that_pay(self.text(file), lines)
            spans |= {(file, line) for where in paid.values() for line in where}
        return Counter(file.partition("/")[0] for file, _ in spans)

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that run the statement of a mutant; where it is new, those that run its function or its file."""
        if mutant.function == OUTSIDE:
            return self._readers_of(re.split(r"\W", mutant.wider, maxsplit=1)[0], mutant.file)
        try:
            place = plant_place(mutant, self.text(mutant.file))
        except (LookupError, OSError):
            place = self._function(mutant)
        # A default is read at the start: what matters is who calls its function.
        return self._that_run(mutant.file, [place]) or self._that_run(mutant.file, [self._function(mutant)])

    def _that_run(self, file: str, places: list[tuple[int, int]]) -> list[str]:
        mask = sum(1 << line for line in {line for first, last in places for line in range(first, last + 1)})
        return [name for name, trace in self.tests.items() if trace.lines.get(file, 0) & mask]

    def _readers_of(self, constant: str, home: str) -> list[str]:
        """The tests that run a function which reads a constant of a module: in its file, or where it is imported."""
        for files in ([home], self.files()):
            tests: dict[str, None] = {}
            for file in files:
                places = [
                    (function.body[0].lineno, function.end_lineno or function.lineno)
                    for _, function in functions(ast.parse(self.text(file)))
                    if constant in self.text(file)
                    and any(isinstance(node, ast.Name) and node.id == constant for node in ast.walk(function))
                ]
                tests |= dict.fromkeys(self._that_run(file, places) if places else ())
            if tests:
                return list(tests)
        return []

    def _function(self, mutant: Mutant) -> tuple[int, int]:
        try:
            tree = ast.parse(self.text(mutant.file))
        except OSError:
            return 0, -1
        for name, function in functions(tree):
            if name == mutant.function:
                return function.body[0].lineno, function.end_lineno or function.lineno
        return 1, 100_000


def lines_of(mask: int) -> set[int]:
    """The lines that a number stands for."""
    return {place for place, bit in enumerate(reversed(bin(mask)[2:])) if bit == "1"}


def _functions_that_pay(text: str, paying: set[int]) -> tuple[set[str], dict[str, set[int]]]:
    """Names that they read, and their paying lines; what only makes text pays nothing."""
    names: set[str] = set()
    paid: dict[str, set[int]] = {}
    for name, function in functions(ast.parse(text)):
        body = set(range(function.body[0].lineno, (function.end_lineno or 0) + 1))
        if paying & body and not any(TEXTS.match(part) for part in name.split(".")):
            paid[name] = paying & body
            names |= {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names, paid


def _constant_of(candidate: Candidate) -> str:
    return re.split(r"\W", candidate.mutant.wider, maxsplit=1)[0]


def _is_shown(mutant: Mutant) -> bool:
    return mutant.file.startswith(SHOWN)


def _span(candidate: Candidate) -> tuple[int, int]:
    first, last = candidate.statement
    return first, last + 1


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def by_line(all_of_them: tuple[Candidate, ...]) -> dict[tuple[str, int], list[Candidate]]:
    """Candidates by file and line."""
    lines: dict[tuple[str, int], list[Candidate]] = defaultdict(list)
    for each in all_of_them:
        lines[each.mutant.file, each.line].append(each)
    return lines


def rows_of(lines: Counter[str]) -> Iterator[str]:
    """A line of text for each room."""
    for room in ROOMS:
        yield f"{room:<8} {lines[room]:6}"
    yield f"{'all':<8} {sum(lines.values()):6}"

"""A mutant in a process that has imported everything: the functions that it changes get other code."""

from __future__ import annotations

import gc
from collections import defaultdict
from pathlib import Path
from types import CodeType, FunctionType

from tests.mutation.mutant import Mutant, _plain, place_of, plant
from tests.mutation.places import ROOT, SOURCES

Key = tuple[str, int]


class NeedsNewProcess(Exception):
    """What a mutant changes was already read: a constant, a default, or a module that is not imported yet."""


class Functions:
    """Every live function of the sources, by file, and the text from which it was made."""

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self.live: dict[str, list[FunctionType]] = defaultdict(list)
        home = str(root / SOURCES) + "/"
        for function in gc.get_objects():
            if isinstance(function, FunctionType) and function.__code__.co_filename.startswith(home):
                self.live[function.__code__.co_filename.removeprefix(home)].append(function)
        self.texts = {file: (root / SOURCES / file).read_text(encoding="utf-8") for file in self.live}

    def plant(self, mutant: Mutant) -> int:
        """Give every function that the mutant changes its new code, in this process; how many they are."""
        file = place_of(mutant, self.root)
        if file not in self.texts or not mutant.function:
            raise NeedsNewProcess(mutant.file)
        path = str(self.root / SOURCES / file)
        after = compile(plant(mutant, self.texts[file]), path, "exec", dont_inherit=True)
        before = compile(self.texts[file], path, "exec", dont_inherit=True)
        changed = {
            key: code for key, code in codes(after).items() if _plain(code) != _plain(codes(before)[key])
        }
        functions = [
            (each, changed[key_of(each.__code__)])
            for each in self.live[file]
            if key_of(each.__code__) in changed
        ]
        if not functions:
            raise NeedsNewProcess(f"{mutant.file}: no function of this process has the code that changes")
        for function, code in functions:
            try:
                function.__code__ = code
            except ValueError as problem:  # it uses other names of the functions around it
                raise NeedsNewProcess(str(problem)) from problem
        return len(functions)


def codes(code: CodeType) -> dict[Key, CodeType]:
    """The code of every function in a module, by its name and the line where it begins."""
    found: dict[Key, CodeType] = {}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= {key_of(each): each} | codes(each)
    return found


def key_of(code: CodeType) -> Key:
    """What tells functions of a file apart."""
    return code.co_qualname, code.co_firstlineno

"""Random argument lists over the real tree of commands: right and wrong values in every place."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import click
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from holdfast._cli.app import app
from holdfast.data import Categorical, Numeric, Schema
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from tests.dossier.dossier_samples import counts

SECRET = "Wintergreen-8812"
"""Stands in the data, and may never be printed."""
NUMBERS = (
    "0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e-6",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "1e-320",
    "9" * 30,
    "abc",
    "",
    "1/0",
    "½",
)
TEXTS = (
    "",
    " ",
    "ill",
    "age",
    "x",
    "clinic",
    "auto",
    "all",
    "k=2",
    "k=x",
    "naïve 统计 🙂",
    "a" * 3000,
    "--",
    "\udcff",
    "nowhere:train",
    "json:dumps",
    "json:",
    ":",
    "../..",
    "ill,age",
    "loss,unknown",
    "0" * 64,
)
SPECS = (
    "gaussian:sigma=2",
    "pure:epsilon=abc",
    "pure:epsilon=1/0",
    "zcdp:rho=nan",
    "gdp:mu=1*0",
    "gaussian",
    "",
    "laplace:scale=1e-320",
    "approx:epsilon=1,delta=2",
    "exponential:epsilon=1,monotone=maybe",
    "*",
    ":::",
    "gaussian:sigma=1*99999999999999999999",
    "randomised_response:epsilon=1,categories=1.5",
)
URLS = (
    "postgresql://nobody@127.0.0.1:1/none",
    "postgresql://",
    "duckdb:///nowhere.db?table=t",
    "http://x",
    "spark://x",
)


PLAN: dict[str, dict[str, Any]] = {
    "plan": {
        "ledger": "budget.db",
        "dataset": "clinic",
        "source": "c.parquet",
        "schema": "s.toml",
        "even_if_useless": True,
    },
    "fit": {
        "do": "fit",
        "name": "m",
        "target": "ill",
        "method": "output",
        "epsilon": 1e-4,
        "output": "pm.holdfast",
    },
    "synth": {
        "do": "synth",
        "name": "r",
        "method": "independent",
        "epsilon": 1e-4,
        "rows": 5,
        "output": "pr.holdfast",
    },
    "attack": {
        "do": "attack",
        "name": "a",
        "model": "m",
        "members": "c.csv",
        "non_members": "c.csv",
        "target": "ill",
        "attacks": ["loss"],
        "output": "pa.json",
    },
    "audit": {
        "do": "audit",
        "name": "u",
        "claim": "m",
        "function": "train:train",
        "data": "rows.npy",
        "canaries": 5,
        "output": "pu.json",
    },
    "dossier": {"do": "dossier", "name": "d", "releases": ["m"], "audits": ["u"], "output": "pd.html"},
}
"""A plan with every kind of step."""
SETTINGS: tuple[Any, ...] = (
    0,
    -1,
    2,
    0.5,
    1e308,
    -0.0,
    True,
    "",
    "x",
    "ill",
    "m",
    "a" * 3000,
    [],
    ["x"],
    ["m", "m"],
    [1],
    "c.parquet",
    "budget.db",
    "/",
    "absent/x",
    "replace",
    "auto",
    "output",
    "naïve 统计",
    {"x": 1},
)
"""Values for settings of a plan; most are wrong in most places."""


def toml(plan: dict[str, dict[str, Any]]) -> str:
    """The plan as a file holds it: what JSON writes of texts, numbers and lists is TOML."""
    lines = []
    for table, settings in plan.items():
        lines.append("[plan]" if table == "plan" else "[[step]]")
        lines += [f"{name} = {_toml(value)}" for name, value in settings.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    return "{ x = 1 }" if isinstance(value, dict) else json.dumps(value)


def bent_plan(draw: random.Random) -> str:
    """A plan of some of the steps, in which a setting or two are wrong, dropped or too many."""
    steps = draw.sample(sorted(set(PLAN) - {"plan"}), draw.randrange(1, 4))
    plan = {name: dict(PLAN[name]) for name in ("plan", *sorted(steps, key=list(PLAN).index))}
    for _ in range(draw.choice((1, 1, 2))):
        settings = plan[draw.choice(list(plan))]
        name = draw.choice(
            (*settings, "delta", "confidence", "n_public", "columns", "title", "purpose", "unknown")
        )
        if draw.random() < 0.2:
            settings.pop(name, None)
        else:
            settings[name] = draw.choice(SETTINGS)
    return toml(plan)


def files(folder: Path) -> list[str]:
    """Files of every kind that a command reads, whole and broken, in this folder."""
    draw = np.random.default_rng(3)
    age = draw.integers(0, 100, 60)
    ill = np.where(age > 50, "yes", "no")
    parquet.write_table(pa.table({"age": age, "ill": ill}), folder / "c.parquet")
    rows = "".join(f"{a},{b}\n" for a, b in zip(age, ill, strict=True))
    (folder / "c.csv").write_text("age,ill\n" + rows)
    (folder / "ragged.csv").write_text(f"age,ill\n1,yes\n2,no,{SECRET},4\n3\n")
    (folder / "latin.csv").write_bytes(f"age,ill\n1,Frau Müller {SECRET}\n".encode("latin-1"))
    (folder / "wide.csv").write_bytes(f"age,ill\n1,{SECRET}\n".encode("utf-16"))
    (folder / "quote.csv").write_text(f'age,ill\n1,"{SECRET}\n2,no\n')
    (folder / "empty.csv").write_text("")
    (folder / "binary.parquet").write_bytes(bytes(range(256)) + SECRET.encode())
    (folder / "binary.csv").write_bytes(bytes(range(256)) + SECRET.encode())
    (folder / "half.parquet").write_bytes((folder / "c.parquet").read_bytes()[:400])
    np.save(folder / "rows.npy", draw.normal(size=(20, 3)))
    (folder / "text.npy").write_text(SECRET)
    Schema([Numeric("age", 0, 100, bins=4), Categorical("ill", ["no", "yes"])]).save(folder / "s.toml")
    (folder / "broken.toml").write_bytes(b"[[columns\n\xff" + SECRET.encode())
    (folder / "plan.toml").write_text(toml(PLAN))
    (folder / "wrong.toml").write_text('[plan]\nledger = 3\n[[step]]\ndo = "fit"\nname = []\n')
    (folder / "numbers.json").write_text("[1, 2, 3]")
    (folder / "deep.json").write_text("[" * 5000)
    with Ledger.create(folder / "budget.db") as ledger:
        ledger.dataset("clinic", limit=ApproxDP(1.0, 1e-6), currency="zcdp")
    (folder / "half.db").write_bytes((folder / "budget.db").read_bytes()[:5000])
    counts().save(folder / "a.holdfast")
    _model(folder)
    (folder / "train.py").write_text("def train(rows):\n    return rows.sum(axis=0)\n")
    (folder / "half.holdfast").write_bytes((folder / "a.holdfast").read_bytes()[:300])
    (folder / "folder.csv").mkdir()
    (folder / "closed").write_text(SECRET)
    (folder / "closed").chmod(0)
    (folder / "ring").symlink_to("ring")
    here = sorted(str(path) for path in folder.iterdir())
    return [
        *here,
        str(folder),
        str(folder / "absent" / "x.csv"),
        str(folder / "new.csv"),
        str(folder / "new.holdfast"),
        "",
        "/",
        "/dev/null",
        "\udcff.csv",
        "a" * 300,
    ]


def _model(folder: Path) -> None:
    """A model paid from the ledger, and a page about it."""
    from holdfast.data import open_table
    from holdfast.dossier import Dossier
    from holdfast.learn import PrivateLogisticRegression

    with (
        Ledger.open(folder / "budget.db") as ledger,
        open_table(folder / "c.parquet", Schema.load(folder / "s.toml")) as table,
        ledger.temporary_account("clinic", name="model", limit=ApproxDP(0.2, 1e-6)) as account,
    ):
        made = PrivateLogisticRegression(method="output").fit(table, target="ill", account=account)
        assert made.release_ is not None
        made.release_.save(folder / "model.holdfast")
        Dossier.of_files([folder / "model.holdfast"], ledger=ledger).save(folder / "page.html")


def leaves(
    command: click.Command = app, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command that is not a group, with the words that call it."""
    if not isinstance(command, click.Group):
        return [(path, command)]
    context = click.Context(command)
    found = []
    for name in command.list_commands(context):
        child = command.get_command(context, name)
        assert child is not None
        found += leaves(child, (*path, name))
    return found


GOOD = (
    "attack membership model.holdfast --members c.csv --non-members c.parquet --target ill --attacks loss",
    "attack synthetic c.parquet --schema s.toml --members c.csv --non-members c.parquet --attacks all",
    "audit train:train --data rows.npy --epsilon 1 --adjacency add_remove --canaries 20 --seed 1 "
    "--plot new.svg --force",
    "compare a.holdfast model.holdfast --json",
    "compare --data c.csv --schema s.toml --target ill --methods output,bolt_on --fits 1 --epsilon 1 --delta 0",
    "curve gaussian:sigma=2*3 pure:epsilon=0.1 --delta 1e-6 --epsilon 1 --plot new.svg --force",
    "dossier model.holdfast -o new.csv --ledger budget.db --confidence 0.9 --title x --json --force",
    "fit c.csv --schema s.toml --target ill --epsilon 0.01 --delta 0 --method output -o new.csv --force "
    "--even-if-useless",
    "fit c.parquet --schema s.toml --target age --epsilon 0.01 --ledger budget.db --dataset clinic -o new.csv --force "
    "--even-if-useless",
    "ledger init other.csv --dataset clinic --epsilon 1 --delta 1e-6 --currency zcdp --max-rows 2 --user id",
    "ledger close budget.db model --reason x --approver y --force",
    "ledger history budget.db --dataset clinic --account x",
    "ledger verify budget.db --head 0 --public-key c.csv",
    "plan --rows 100 --columns 4 --epsilon 1 --delta 1e-6 --accuracy 0.8 --row-norm 1",
    "plan --public-data c.csv --schema s.toml --target ill --fits 1 --epsilon 1 --json",
    "plan --synth --schema s.toml --rows 60 --epsilon 1 --adjacency add_remove",
    "run plan.toml --dry-run --json",
    "schema draft c.csv -o new.csv --force",
    "schema show s.toml",
    "synth c.csv --schema s.toml --epsilon 0.01 --method independent --rows 5 --workload k=1 -o out.csv --force "
    "--even-if-useless",
    "synth c.parquet --schema s.toml --epsilon 0.01 --ledger budget.db --dataset clinic --release new.csv --force "
    "--even-if-useless",
    "synth c.csv --schema s.toml --epsilon 1 --columns ill --estimate --confidence 0.9 --certificate-share 0.2",
    "verify page.html --release model.holdfast --ledger budget.db --recompute",
)
"""Commands that work in the folder of `files`."""


def bent(draw: random.Random, paths: list[str]) -> list[str]:
    """One of GOOD with a word or two replaced, dropped or said twice."""
    words = draw.choice(GOOD).split()
    for _ in range(draw.choice((1, 1, 2))):
        place = draw.randrange(1, len(words))
        option = words[place].startswith("-")
        values = ("--unknown", "--json", "") if option else (*NUMBERS, *TEXTS, *paths, *SPECS, *URLS)
        match draw.randrange(4):
            case 0:
                del words[place]
            case 1:
                words[place:place] = words[place : place + 2]
            case _:
                words[place] = draw.choice(values)
    return words


def drawn(draw: random.Random, words: tuple[str, ...], command: click.Command, paths: list[str]) -> list[str]:
    """One argument list: mostly of the right shape, so that it gets past the parser, with wrong values in it."""
    given: list[str] = []
    for parameter in command.params:
        wanted = parameter.required or draw.random() < 0.25
        times = draw.choice((1, 1, 1, 2)) if wanted and draw.random() < 0.97 else 0
        for _ in range(
            times if isinstance(parameter, click.Option) or parameter.nargs == -1 else min(times, 1)
        ):
            values = (
                []
                if _is_flag(parameter)
                else [_value(draw, parameter, paths) for _ in range(max(1, parameter.nargs))]
            )
            given += [draw.choice(parameter.opts), *values] if isinstance(parameter, click.Option) else values
    if draw.random() < 0.05:
        given.insert(
            draw.randrange(len(given) + 1), draw.choice(("--unknown", "-z", "extra", "--help", "--json"))
        )
    return [*words, *given]


def _is_flag(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and parameter.is_flag


def _value(draw: random.Random, parameter: click.Parameter, paths: list[str]) -> str:
    kind: Any = parameter.type
    if draw.random() < 0.08:
        return draw.choice((*NUMBERS, *TEXTS, *paths))
    if isinstance(kind, click.Choice):
        return str(draw.choice(kind.choices))
    if isinstance(kind, click.Path) or parameter.name in ("source",):
        likely = [path for path in paths if parameter.name and _suits(parameter.name, path)]
        return draw.choice(likely if likely and draw.random() < 0.6 else [*paths, *URLS])
    if kind in (click.INT, click.FLOAT):
        return draw.choice(NUMBERS)
    if parameter.name == "mechanisms":
        return draw.choice(SPECS)
    if parameter.name == "url":
        return draw.choice(URLS)
    named = {"target": "ill", "dataset": "clinic", "label": "ill"}.get(parameter.name or "")
    return named if named and draw.random() < 0.7 else draw.choice(TEXTS)


_ENDINGS = {
    "schema_file": "s.toml",
    "file": ".toml",
    "plan": ".toml",
    "ledger": ".db",
    "path": ".db",
    "releases": ".holdfast",
    "model": ".holdfast",
    "members": ".csv",
    "non_members": ".csv",
    "source": "c.csv",
    "data": "c.parquet",
    "output": "new.holdfast",
    "release": "new.holdfast",
    "public_data": "c.parquet",
}


def _suits(name: str, path: str) -> bool:
    return name in _ENDINGS and path.endswith(_ENDINGS[name])

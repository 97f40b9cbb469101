"""Wu 2016, figure 3.4, in PostgreSQL: run time against epochs and batch size, as the thesis measured it.

Three tables at the thesis's sizes, as there: MNIST (one of its ten models), Protein and Covertype, each in a real
server that the script starts itself.

    python -m studies.reproductions.001_runtime_postgres [--quick] [--stored]

Needs what the tests of PostgreSQL need: a server to start and a C compiler. Writes
`studies/reproductions/results/001_runtime_postgres.json` after every number, so that a run that was cut off goes on;
then `studies/reproductions/results/001_runtime_postgres.md` and `docs/figures/bolt_on_runtime_postgres.svg`. CPU
seconds of client and server together, the shortest of the repeats. What SCS13 and BST14 take in memory comes from
`001_runtime`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

import numpy as np
import pyarrow as pa
from studies.benchmarks.postgres import processor
from studies.reproductions.runtime_words import (
    BATCHES,
    BOLT_ON,
    BST14,
    EPOCHS,
    NOISELESS,
    SCS13,
    Found,
    all_over,
    counted,
    ratios,
)
from studies.reproductions.seed_data import Split, covertype, mnist, protein
from studies.reproductions.seed_page import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PINK,
    LineStyle,
    panels,
    plot,
    table,
    ticks,
    write,
)
from studies.reproductions.seed_store import Store
from tests.servers.postgres import Server, start

from holdfast.data import Categorical, Encoder, Numeric, Schema, open_table
from holdfast.data._engines.postgres.install import install
from holdfast.learn._problem import Problem
from holdfast.learn._problem.losses import Logistic
from holdfast.learn._problem.problem import ClassLabels
from holdfast.learn._rows.table_examples import TableExamples
from holdfast.learn.methods.bolt_on import SgdPlan, bolt_on
from holdfast.noise._source import Source
from holdfast.privacy import Account, ApproxDP
from holdfast.privacy._adjacency import Adjacency

Results = dict[str, dict[float, list[float]]]
SEED, EPSILON, PENALTY, REPEATS = 20014, 0.1, 1e-4, 2
PULL = "pulling the rows"
LINE_STYLES: dict[str, LineStyle] = {
    NOISELESS: (INK, (0, (4, 2)), "x"),
    BOLT_ON: (BLUE, "-", "o"),
    PULL: (PINK, (0, (1, 1.5)), ""),
    SCS13: (ORANGE, (0, (6, 1.5)), "s"),
    BST14: (GREEN, (0, (3, 1, 1, 1)), "v"),
}


class Stored:
    """One table on the server, and its rows as examples: beside the server, or pulled."""

    def __init__(self, server: Server, split: Split, name: str) -> None:
        labels = split.train_labels
        if len(np.unique(labels)) > 2:
            labels = np.where(labels == labels.min(), 1.0, -1.0)
        features = {f"f{j}": split.train[:, j] for j in range(split.train.shape[1])}
        words = np.where(labels > 0, "yes", "no")
        server.load(pa.table(features | {"label": words}), name)
        self.server, self.name, self.count, self.width = server, name, len(labels), len(features)
        self.schema = Schema(
            [*(Numeric(each, -1, 1) for each in features), Categorical("label", ["no", "yes"])]
        )
        self.beside = self.examples("extension")

    def examples(self, way: str) -> TableExamples:
        """Rows of norm at most 1: what lies in [-1, 1] already is encoded as it is."""
        return TableExamples(
            table=open_table(self.server.url(self.name, way=way), self.schema),
            encoder=Encoder(self.schema, self.schema.names[:-1], intercept=False),
            target="label",
            coding=ClassLabels.of_column(self.schema["label"]),
            public_count=self.count,
        )

    def shortest(self, work: Callable[[], object], repeats: int) -> float:
        """CPU seconds of the fastest repeat, client and server."""
        times = []
        for _ in range(repeats):
            begin = processor(self.server)
            work()
            times.append(processor(self.server) - begin)
        return min(times)


def fit(stored: Stored, name: str, *, passes: int, batch: int) -> None:
    """Inside the database, account and calibration included."""
    problem = Problem(loss=Logistic(), dimension=stored.width, penalty=PENALTY)
    if name == NOISELESS:
        SgdPlan(
            problem=problem,
            adjacency=Adjacency.replace,
            records=stored.count,
            batch=batch,
            passes=passes,
            schedule="strongly_convex",
        ).train(stored.beside, Source(seed=SEED))
        return
    limit = ApproxDP(EPSILON, stored.count**-1.5)
    account = Account(limit, adjacency="replace", currency="gdp", seed=SEED)
    bolt_on(stored.beside, problem, account=account, passes=passes, batch=batch, arithmetic="idealised")


def pull(stored: Stored) -> None:
    """All rows into memory, encoded: what whoever needs noise in every step does first."""
    examples = stored.examples("pull")
    with examples.table:
        examples.for_many_passes()


class Tables:
    """Which tables there are on the server; each is loaded when something of it has still to be measured."""

    def __init__(self, server: Callable[[], Server]) -> None:
        self.server, self.stored = server, dict[str, Stored]()

    def of(self, split: Split) -> Stored:
        """Loaded once; late imports are done here."""
        if split.name not in self.stored:
            self.stored[split.name] = Stored(self.server(), split, f"t{len(self.stored)}")
            fit(self.stored[split.name], BOLT_ON, passes=1, batch=500)
        return self.stored[split.name]

    def shortest(self, split: Split, name: str, *, passes: int, batch: int) -> float:
        """Seconds."""
        stored = self.of(split)
        work = (
            partial(pull, stored) if name == PULL else partial(fit, stored, name, passes=passes, batch=batch)
        )
        return stored.shortest(work, REPEATS)


def collect(split: Split, store: Store, memory: Store, tables: Tables) -> tuple[Results, Results]:
    """Over epochs with batches of 10, and over batch sizes in one epoch."""
    title = f"{split.name}, {len(split.train)} rows"
    pulled = store.of(
        f"{title} in PostgreSQL: {PULL}, seconds", lambda: tables.shortest(split, PULL, passes=1, batch=500)
    )

    def line(settings: dict[int, tuple[int, int]]) -> Results:
        made: Results = {name: {} for name in LINE_STYLES}
        for place, (passes, batch) in settings.items():
            what = f"epochs {passes}, b {batch}, seconds"
            for name in (NOISELESS, BOLT_ON):
                measure = partial(tables.shortest, split, name, passes=passes, batch=batch)
                found = store.of(f"{title} in PostgreSQL: {name}, {what}", measure)
                if found:
                    made[name][float(place)] = found
            for name in (SCS13, BST14):
                alone = memory.values.get(f"{title}: {name}, {what}", [])
                if alone and pulled:
                    made[name][float(place)] = [pulled[0] + alone[0]]
            if pulled:
                made[PULL][float(place)] = pulled
        return made

    return line({k: (k, 10) for k in EPOCHS}), line({b: (1, b) for b in BATCHES})


HEAD = """All rows of each table in {release} on the same machine, a column of double precision for each feature;
strongly convex (λ = 0.0001), ε = 0.1, δ = m^-1.5, up to 20 epochs, as in the thesis's figure. Noiseless SGD and bolt-on
run inside the database (`way="extension"`): the rows are encoded and put in a secret order once and read again in every
epoch. Noise is drawn in the driver and nowhere else, so SCS13 and BST14, which need it in every step, cannot run there:
they pull the rows once and run in memory. Their time is that of the pull, measured here, and of the run in memory,
which the page before measured. CPU seconds of client and server, the shortest of {repeats} repeats on a shared machine,
on a clock of 10 milliseconds: read ratios, not digits."""


def words(found: Found) -> str:
    """What the numbers say."""
    everywhere = [*((0, float(k)) for k in EPOCHS), *((1, float(b)) for b in BATCHES)]
    own = list(all_over(found, everywhere, BOLT_ON, NOISELESS))
    apart = "within" if max(own) < 1.35 and min(own) > 1 / 1.35 else "beyond"
    longer = [
        times[0][name][20.0][0] / times[0][name][1.0][0]
        for times in found.values()
        for name in (NOISELESS, BOLT_ON)
        if 20.0 in times[0][name] and 1.0 in times[0][name]
    ]
    share = list(all_over(found, everywhere, PULL, BOLT_ON))
    rivals = {
        place: [v for name in (SCS13, BST14) for v in all_over(found, [place], name, BOLT_ON)]
        for place in ((0, 20.0), (1, 1.0), (1, 500.0))
    }
    spans = [f"{min(v):.1f} to {max(v):.1f}" if v else "not measured" for v in rivals.values()]
    return (
        f"{counted(found)} Bolt-on takes {min(own):.2f} to {max(own):.2f} times as long as SGD without privacy, "
        f"{apart} what two repeats on a shared machine resolve (what privacy adds is measured on its own in "
        "`studies/benchmarks/postgres_sgd.py`); the thesis's point is that the only private "
        "step is one vector of noise at the "
        f"end. Twenty epochs inside the database cost {min(longer):.1f} to {max(longer):.1f} times as much as one, "
        "because most of a fit is reading, encoding and sorting the rows. The pull alone takes "
        f"{min(share):.2f} to {max(share):.2f} times as long as a whole fit of bolt-on. With it the two baselines take "
        f"{spans[0]} times as long as bolt-on after 20 epochs, {spans[1]} times at b = 1 and {spans[2]} times at "
        "b = 500. In the thesis they ran inside the database, with a noise sampler in each transition; here that would "
        "put the noise beside the data, in code that the account does not see."
    )


def page(found: Found, store: Store) -> list[str]:
    """The generated Markdown."""
    lines = [
        "# Wu 2016, figure 3.4: run time, in PostgreSQL",
        "",
        f"Made by `python -m studies.reproductions.001_runtime_postgres`, seed {SEED}: "
        f"{store.total_seconds / 60:.0f} CPU "
        f"minutes of the client on one core, {store.memory}.",
        "",
        HEAD.format(repeats=REPEATS, release=store.made.get("server", "PostgreSQL")),
        *store.left_words(),
        "",
        "![](../../../docs/figures/bolt_on_runtime_postgres.svg)",
        "",
    ]
    for name, (epochs, batches) in found.items():
        lines += [f"## In PostgreSQL, {name}: epochs, batches of 10", ""]
        lines += [*table("seconds at epochs =", EPOCHS, epochs, digits=2), ""]
        lines += [f"## In PostgreSQL, {name}: batch size, one epoch", ""]
        lines += [*table("seconds at b =", BATCHES, batches, digits=2), ""]
    return [*lines, "## In PostgreSQL: ratios", "", *ratios(found), "", words(found)]


def draw(found: Found) -> None:
    """A row per table; times on a logarithmic axis."""
    with panels("bolt_on_runtime_postgres", rows=len(found), columns=2, size=(9.6, 9.0)) as axes:
        for row, (title, both) in zip(axes, found.items(), strict=True):
            for place, results, label in zip(row, both, ("epochs, b = 10", "b, one epoch"), strict=True):
                for name, values in results.items():
                    plot(place, name, values, LINE_STYLES[name])
                ticks(place, sorted(results[NOISELESS]))
                place.set(title=title, yscale="log", xlabel=label, ylabel="CPU seconds")


@contextmanager
def lazy_server() -> Iterator[Callable[[], Server]]:
    """A server that starts when it is first asked for, with the extension in it."""

    @cache
    def running() -> Server:
        server = start()
        install(server.url(user="postgres"))
        return server

    try:
        yield running
    finally:
        if running.cache_info().currsize:
            running().stop()


def main() -> int:
    """Load, time, draw, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="1,000 rows of one table, nothing written")
    parser.add_argument("--stored", action="store_true", help="measure nothing: a page of what is stored")
    asked = parser.parse_args()
    store = Store(None if asked.quick else "001_runtime_postgres", frozen=asked.stored)
    memory = Store("001_runtime", frozen=True)
    splits = [covertype(rows=1_000, test=1)]
    if not asked.quick:
        splits = [mnist(rows=60_000, test=1), protein(rows=72_876, test=1), covertype(rows=498_010, test=1)]
    with lazy_server() as server:
        tables = Tables(server)
        found = {
            f"{split.name}, d = {split.train.shape[1]}": collect(split, store, memory, tables)
            for split in splits
        }
        if tables.stored:
            with server().admin() as admin:
                store.made["server"] = (
                    "PostgreSQL " + admin.execute("SHOW server_version").fetchone()[0].split()[0]
                )
        for stored in tables.stored.values():
            stored.beside.table.close()
    lines = page(found, store)
    if not asked.quick:
        store.keep()
        write("001_runtime_postgres", lines)
        draw(found)
    sys.stdout.write("\n".join(lines) + "\n")
    if asked.quick:
        sys.stdout.write("\n--quick: 1,000 rows of one table, without the baselines; ratios say little.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

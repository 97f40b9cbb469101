"""Synthesizer: a private table in; rows, noisy counts and a certificate out.

`fit` reads from top to bottom: parameters, schema and workload are checked, a method is chosen from public
quantities, an account is opened, the method spends its share, rows are drawn, and the rest of the budget is spent
on what can be said about the errors of these very rows. What is released is a `SyntheticContents`.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

from holdfast.data.engines import open_table
from holdfast.data.schema import Schema
from holdfast.data.table import Table
from holdfast.errors import AssumptionWarning, ParameterError, require
from holdfast.noise.source import Source
from holdfast.privacy.account import Account
from holdfast.privacy.account.remaining import fractions_of_rest
from holdfast.privacy.account.request import (
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy.account.resume import ResumableAccount
from holdfast.privacy.adjacency import Adjacency, resolve_adjacency
from holdfast.release import Release
from holdfast.release.certificate import Certificate
from holdfast.synth.answers import Answers, Intervals, answer, identity, noise_quantile
from holdfast.synth.certificate import OVERALL, Certification, certify
from holdfast.synth.choice import SynthesizerChoice, choose_synthesis_method, find_synthesis_method
from holdfast.synth.contents import SyntheticContents, describe
from holdfast.synth.exact_counts import ExactCounts
from holdfast.synth.forecast import SynthesisEstimate, estimate_synthesis
from holdfast.synth.methods import METHODS
from holdfast.synth.methods.method import Synthesis, SynthesisMethod, SynthesisTask
from holdfast.synth.models.model import Model
from holdfast.synth.rows.coded_rows import (
    CodedRows,
    as_frame,
    decode_rows,
    empty_cells,
    frame_kind,
    row_coins,
)
from holdfast.synth.rows.impossible_rows import Zeros, possible_rows
from holdfast.synth.workload import Workload

#: No use is made of an account that has less left than this advantage: roundings leave about as much.
LEAST = 1e-5


class Synthesizer:
    """Synthetic rows with a privacy guarantee and an accuracy certificate.

    `workload` are the queries that the rows are meant to answer: by default all 3-way marginals of the columns
    that are not too large. `certificate_share` of the budget goes into the certificate; 0 leaves it out.
    `certified` are the queries it speaks of: those of the workload, unless said otherwise (`workload.closed()`
    has all lower marginals as well). `method` is "auto", a name of METHODS, or a method of your own.
    `random_state=None` draws secure noise; a seed makes a run that can be repeated and is not private. With a
    `key` and a ledger's account, a job that was killed and runs again does not pay twice.

    >>> from holdfast.data import Categorical, Schema
    >>> schema = Schema([Categorical("sex", ["F", "M"]), Categorical("ill", ["no", "yes"])])
    >>> frame = {"sex": ["F", "M"] * 200, "ill": ["no", "no", "yes", "no"] * 100}
    >>> made = Synthesizer(epsilon=2.0, delta=1e-6).fit(frame, schema)
    >>> sorted(made.sample()), len(made.sample()["ill"])
    (['ill', 'sex'], 400)
    >>> made.certificate_.confidence
    0.95
    """

    release_: Release[dict[str, Any]]
    """The contents with their promise: rows, noisy counts, certificates and provenance."""
    certification_: Certification | None
    """All that is claimed of the rows; None without a certificate, and of a release that was loaded."""
    method_: str
    choice_: SynthesizerChoice | None
    """Why this method, where `auto` chose it."""
    model_: Model | None
    """What rows are drawn from; None of a release that was loaded."""
    _contents: SyntheticContents
    _rows: CodedRows
    """The rows of the contents as cell codes."""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        *,
        method: str | SynthesisMethod = "auto",
        workload: Workload | None = None,
        certified: Workload | None = None,
        rows: int | None = None,
        columns: Sequence[str] | None = None,
        constraints: Sequence[Zeros] = (),
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        confidence: float = 0.95,
        certificate_share: float = 0.1,
        options: Mapping[str, Any] | None = None,
        random_state: int | None = None,
        key: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.workload = workload
        self.certified = certified
        self.rows = rows
        self.columns = columns
        self.constraints = tuple(constraints)
        self.adjacency = adjacency
        self.n_public = n_public
        self.confidence = confidence
        self.certificate_share = certificate_share
        self.options = {} if options is None else dict(options)
        self.random_state = random_state
        self.key = key

    # Fitting.

    def fit(self, source: Any, schema: Schema | None = None, account: Account | None = None) -> Self:
        """Synthesise a holdfast `Table`, or a frame or file with its schema.

        With `account` the fit spends all that remains in it, and `epsilon` and `delta` are not used.
        """
        self._check_parameters(account)
        table = self._open(source, schema)
        data = ExactCounts(table, self.columns)
        workload = self._declared(
            self.workload or Workload.marginals(table.schema, 3, columns=data.names), data
        )
        certified = workload if self.certified is None else self._declared(self.certified, data)
        zeros = self._zeros(data)
        limit = limit_of(self.epsilon, self.delta) if account is None else account.limit
        method, choice = self._decide(
            SynthesisTask(
                domain=data.domain,
                workload=workload,
                limit=limit,
                adjacency=data.adjacency,
                unit=data.unit,
                rows_are_public=data.public_rows is not None,
            )
        )
        if data.public_units is not None:
            require_small_delta(limit, data.public_units)
        if account is None:
            seed = seed_of(self.random_state)
            account = open_account(limit, method, adjacency=data.adjacency, unit=data.unit, seed=seed)
        job = account
        if self.key is not None:
            about = self._digest(data, method, workload, certified)
            job = ResumableAccount.of(account, self.key, about=about)
        require_something_left(job, least=LEAST)
        work, check = self._shares(job)
        synthesis = method.fit(data, workload, account=work, **self._options(method, choice, zeros))
        # From here on only the certificate looks at the table.
        coins = row_coins(synthesis.measurements, key=self.key or "")
        expected = round(synthesis.model.total) if data.public_rows is None else data.public_rows
        rows = self._draw(synthesis.model, self.rows or max(1, expected), coins, zeros)
        certification = None
        if check is not None:
            certification = certify(data, rows, certified, account=check, confidence=self.confidence)
        contents = SyntheticContents(
            schema=table.schema.select(*data.names), table=decode_rows(rows, table.schema, coins),
            measurements=synthesis.measurements, workload=workload, certified=tuple(certified.groups),
            public_rows=data.public_rows,
            confidence=self.confidence, choice=None if choice is None else choice.summary(),
        )  # fmt: skip
        self.release_ = self._as_release(contents, account, synthesis, method, data, certification)
        self.method_, self.choice_, self.model_ = method.name, choice, synthesis.model
        self.certification_ = certification
        self._contents, self._rows, self._constraints = contents, rows, zeros
        self._kind = frame_kind(source)
        return self

    def estimate(
        self, source: Any, schema: Schema | None = None, *, rows: int | None = None
    ) -> SynthesisEstimate:
        """Size, noise, time and memory before anything is spent, from public quantities only.

        `source` is a table, a frame or file with its schema, or a schema alone (with the public number of rows).
        """
        self._check_parameters(None)
        if isinstance(source, Schema):
            declared, count = source, rows or source.n_public or self.n_public
        else:
            table = self._open(source, schema)
            declared, count = table.schema, rows or ExactCounts(table, self.columns).public_rows
        names = declared.names if self.columns is None else tuple(self.columns)
        workload = self.workload or Workload.marginals(declared, 3, columns=names)
        workload.check(declared)
        task = SynthesisTask(
            domain={name: declared[name].cells for name in names}, workload=workload,
            limit=limit_of(self.epsilon, self.delta), unit=declared.unit,
            adjacency=resolve_adjacency(self.adjacency, declared.adjacency),
        )  # fmt: skip
        return estimate_synthesis(
            task, method=self._decide(task)[0], rows=count, certificate_share=self.certificate_share
        )

    # Using it.

    @property
    def certificate_(self) -> Certificate | None:
        """How wrong the rows can be over all certified queries; None where nothing is claimed."""
        return next((one for one in self.release_.certificates if one.name == OVERALL), None)

    def sample(self, rows: int | None = None) -> Any:
        """The released rows, in the kind of frame that was fitted.

        With another number of rows: a new draw from the released model, which costs nothing and which no
        certificate speaks of.
        """
        self._require_fitted()
        if rows is None or rows == len(self._rows):
            return as_frame(self._contents.table, self._kind)
        require(isinstance(rows, int) and rows >= 0, "rows", rows, "a whole number >= 0")
        if self.model_ is None:
            raise ParameterError(
                f"rows must be {len(self._rows)} or left out: a loaded release holds its rows and no model, got "
                f"rows={rows}"
            )
        warnings.warn(
            f"{rows} rows are a new draw: the certificate is about the {len(self._rows)} released rows only",
            AssumptionWarning,
            stacklevel=2,
        )
        coins = row_coins(self._contents.measurements, key=f"{self.key or ''}/rows={rows}")
        drawn = self._draw(self.model_, rows, coins, self._constraints)
        return as_frame(decode_rows(drawn, self._contents.schema, coins), self._kind)

    def answer(self, workload: Workload | None = None) -> Answers:
        """Proportions on the released rows with intervals for the table's own: free, whatever is asked.

        A marginal that was measured has the interval of its noise, another query of the declared workload that
        of the certificate, which covers the model's error; any other query has no interval.
        """
        self._require_fitted()
        asked = self._contents.workload if workload is None else workload
        asked.check(self._contents.schema)
        promise = self.release_.guarantee
        return answer(
            self._rows, asked, self._intervals(), confidence=self.confidence, kept=promise.unit.kept(),
            n_public=None if promise.adjacency.count_is_public else self._contents.public_rows,
        )  # fmt: skip

    def summary(self) -> str:
        """What was done, what it rests on, how wrong it can be, and what is promised."""
        self._require_fitted()
        return describe(self._contents, self.release_, method=self.method_)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the release: rows, noisy counts, guarantee and certificates in one file."""
        self._require_fitted()
        self.release_.save(path)

    @classmethod
    def from_release(cls, release: Release[Any]) -> Self:
        """A fitted synthesizer from a release: its rows, answers and claims; it cannot draw other rows."""
        contents = SyntheticContents.of_value(release.value)
        made = cls(confidence=contents.confidence)
        made.release_, made.method_ = release, release.provenance.method
        made.choice_, made.model_, made.certification_ = None, None, None
        made._contents, made._rows, made._constraints = contents, contents.coded(), ()
        made._kind = "arrow"
        return made

    # Steps.

    def _check_parameters(self, account: Account | None) -> None:
        limit_of(self.epsilon, self.delta)
        share = self.certificate_share
        require(0 <= share < 1, "certificate_share", share, "in [0, 1)", "use 0 for no certificate")
        require(0.5 < self.confidence < 1, "confidence", self.confidence, "in (0.5, 1)")
        whole = self.rows is None or (isinstance(self.rows, int) and self.rows >= 1)
        require(whole, "rows", self.rows, "None or a whole number >= 1")
        if self.method != "auto":
            find_synthesis_method(self.method)
        if account is not None and self.random_state is not None:
            raise ParameterError(
                "random_state must be None with an account, which draws the noise; open the account with a seed"
            )

    def _open(self, source: Any, schema: Schema | None) -> Table:
        if isinstance(source, Table):
            require(schema is None, "schema", "...", "left out where a Table is fitted, which has one")
            resolve_adjacency(self.adjacency, source.adjacency)
            same = self.n_public is None or self.n_public == source.n_public
            require(same, "n_public", self.n_public, "left out where a Table is fitted, which has its own")
            return source
        if schema is None:
            raise ParameterError(
                "schema must be given with a frame: what is public is declared, never read from the data; "
                "'holdfast schema draft' writes a first version"
            )
        return open_table(
            source, schema, adjacency=self.adjacency, n_public=self.n_public,
            entropy=Source(seed_of(self.random_state)),
        )  # fmt: skip

    @staticmethod
    def _declared(workload: Workload, data: ExactCounts) -> Workload:
        workload.check(data.table.schema)
        absent = [name for name in workload.columns if name not in data.domain]
        require(not absent, "workload", absent, f"about the columns {list(data.names)}")
        return workload

    def _decide(self, task: SynthesisTask) -> tuple[SynthesisMethod, SynthesizerChoice | None]:
        """The method, and why where it was chosen."""
        if self.method != "auto":
            return find_synthesis_method(self.method), None
        choice = choose_synthesis_method(task)
        return choice.entry, choice

    def _zeros(self, data: ExactCounts) -> tuple[Zeros, ...]:
        for constraint in self.constraints:
            constraint.check(data.domain)
        return (*self.constraints, *empty_cells(data.table.schema, data.names))

    def _shares(self, account: Account) -> tuple[Account, Account | None]:
        if self.certificate_share == 0:
            return account, None
        shares = fractions_of_rest(account, 1 - self.certificate_share, self.certificate_share)
        work, check = account.split(*shares)
        return work, check

    def _options(
        self, method: SynthesisMethod, choice: SynthesizerChoice | None, zeros: tuple[Zeros, ...]
    ) -> dict[str, Any]:
        own = {"constraints": zeros} if method.zeros and zeros else {}
        return {**({} if choice is None else choice.options), **self.options, **own}

    @staticmethod
    def _draw(model: Model, rows: int, coins: Source, zeros: tuple[Zeros, ...]) -> CodedRows:
        codes = possible_rows(model, rows, coins, zeros) if zeros else model.sample(rows, coins)
        return CodedRows(domain=dict(model.domain), codes=codes)

    def _as_release(
        self,
        contents: SyntheticContents,
        account: Account,
        synthesis: Synthesis,
        method: SynthesisMethod,
        data: ExactCounts,
        certification: Certification | None,
    ) -> Release[dict[str, Any]]:
        assumptions = [*data.assumptions, *synthesis.assumptions]
        if method not in METHODS:
            assumptions.append(f"the proof of method {method.name!r}, which is not holdfast's own")
        return Release.of(
            account,
            contents.value(),
            method=f"Synthesizer, {method.name}",
            parameters={
                "rows": contents.table.num_rows, "certificate_share": self.certificate_share,
                "constraints": len(self.constraints), **synthesis.parameters,
            },
            schema_hash=contents.schema.hash(),
            certificates=() if certification is None else certification.certificates,
            assumptions=assumptions,
            theorem=synthesis.theorem,
        )  # fmt: skip

    def _digest(
        self, data: ExactCounts, method: SynthesisMethod, workload: Workload, certified: Workload
    ) -> str:
        """All that a job asks, as far as it decides what its charges are about; nothing of the table's rows."""
        asked = (
            data.table.schema.select(*data.names).hash(), method.name, sorted(self.options.items(), key=str),
            [(identity(group), group.weight) for group in workload.groups],
            [(identity(group), group.weight) for group in certified.groups],
            self.constraints, self.rows, self.confidence, self.certificate_share,
        )  # fmt: skip
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:16]

    def _intervals(self) -> Intervals:
        # The overall claim only: choosing the smaller of two claims afterwards would not keep the confidence.
        alpha = None if self.certificate_ is None else self.certificate_.alpha
        groups = () if alpha is None else self._contents.certified
        alphas = {identity(group): float(alpha or 0.0) for group in groups}
        return Intervals(
            alphas=alphas, measured=self._contents.measured(), rows=self._contents.public_rows,
            quantile=noise_quantile(self.confidence, pure=self.release_.guarantee.curve.as_pure() is not None),
        )  # fmt: skip

    def _require_fitted(self) -> None:
        if not hasattr(self, "_contents"):
            raise ParameterError("this Synthesizer is not fitted yet; call fit first")

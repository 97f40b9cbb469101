"""Synthesizer: makes synthetic rows, noisy counts and a certificate from a private table.

The steps of `fit` are in the order of the code: parameters, schema and workload are checked, a method is chosen from
public quantities, an account is opened, the method spends its share, rows are drawn, and the rest of the budget pays
for a certificate of the errors of exactly these rows. What is released is a `SyntheticContents`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from holdfast._arguments import Seed, checked
from holdfast._caution import warn
from holdfast.data._engines import open_table
from holdfast.data._schema import Schema
from holdfast.data._table import Table
from holdfast.errors import AssumptionWarning, ParameterError, require
from holdfast.noise._source import Source
from holdfast.privacy._account import Account
from holdfast.privacy._account.remaining import fractions_of_rest
from holdfast.privacy._account.request import (
    limit_of,
    open_account,
    require_small_delta,
    require_something_left,
    seed_of,
)
from holdfast.privacy._account.resume import ResumableAccount
from holdfast.privacy._adjacency import Adjacency, resolve_adjacency
from holdfast.release import Provenance, Release
from holdfast.release._usefulness import Prospect, announce
from holdfast.synth._answers import identity
from holdfast.synth._certificate import Certification, certify
from holdfast.synth._certificate_request import CertificateRequest
from holdfast.synth._choice import (
    SynthesizerChoice,
    choose_synthesis_method,
    find_synthesis_method,
    package_and_claim,
)
from holdfast.synth._contents import SyntheticContents
from holdfast.synth._exact_counts import ExactCounts
from holdfast.synth._forecast import (
    SynthesisEstimate,
    at_visible_levels,
    chosen_levels,
    estimate_synthesis,
    synthesis_prospects,
)
from holdfast.synth._released import ReleasedTable, draw_coded_rows
from holdfast.synth._rows.coded_rows import CodedRows, decode_rows, empty_cells, row_coins
from holdfast.synth._rows.frames import frame_kind
from holdfast.synth._rows.impossible_rows import Zeros, require_possible
from holdfast.synth._whole_table import cap_assumption, certify_whole
from holdfast.synth._workload import Workload
from holdfast.synth.methods.method import OBJECTIVES, Synthesis, SynthesisMethod, SynthesisTask

if TYPE_CHECKING:
    from holdfast.synth._evaluation.report import EvaluationReport

#: An account with less than this advantage left is refused: about as much is left by rounding.
LEAST_ADVANTAGE = 1e-5
#: The most rows that can be asked for, so that a typing error is refused before anything is spent.
MOST_ROWS = 10**9
DEFAULT_CERTIFICATE = CertificateRequest()


@checked
class Synthesizer(ReleasedTable):
    """Synthetic rows with a privacy guarantee and an accuracy certificate.

    `fit(table)` spends the budget; sampling and answering cost nothing more.

    Parameters
    ----------
    epsilon : float
        The promise, together with `delta`, where `fit` is not given an account.
    delta : float, optional
        0 for pure privacy; by default at most 1e-6, and less for a large public number of units.
    method : str or SynthesisMethod
        'auto', a name of SYNTHESISERS, or a method of your own. 'auto' chooses from public quantities.
    workload : Workload, optional
        The queries that the rows are meant to answer; by default all 3-way marginals that are not too large.
    target : str, optional
        The column that others are to predict; it weighs as much in the workload as all others together.
    objective : {'average', 'largest'}
        What 'auto' makes small: the average total variation of the workload's tables, or the largest error of an
        answer.
    certificate : CertificateRequest, optional
        What is to be claimed of the rows' errors, and what pays for it; None for no certificate.
    rows : int, optional
        How many rows are drawn; by default as many as the table has, where that is public, or is measured to have.
    columns : sequence of str, optional
        The columns that are synthesised; by default all of the schema.
    constraints : sequence of Zeros
        Combinations of values in which no record can be, and no drawn row is.
    adjacency : Adjacency or str, optional
        The neighbour relation; by default that of the schema, else 'replace'.
    n_public : int, optional
        The public number of units, if the schema does not declare it; a conflict is an error.
    confidence : float
        Of certificate and intervals, in (0.5, 1).
    options : mapping, optional
        The method's own options, by name.
    random_state : int or SeedSequence, optional
        None draws secure noise. A seed makes a run that can be repeated and is not private.
    key : str, optional
        With the account of a ledger: the name of the job, so that one that was killed and runs again does not pay
        twice.

    Attributes
    ----------
    release_ : Release
        Rows, noisy counts, guarantee and certificates.
    method_ : str
        The name of the method that ran.
    choice_ : SynthesizerChoice or None
        Why this method, where 'auto' chose it.
    certificate_ : Certificate or None
        How wrong the rows can be over all certified queries.
    certification_ : Certification or None
        All that is claimed of the rows; None of a release that was loaded.
    model_ : Model or None
        What rows are drawn from; None of a release that was loaded.

    Formal guarantees
    -----------------
    * Neighbours: those of `adjacency`, between units of the schema (a row, or all rows of a user).
    * Privacy: what is released satisfies the curve of the account, or (epsilon, delta) where none is given. Every
      look at the table is charged to it before noise is drawn; rows, answers and files are post-processing. The
      theorem of the method that ran is in `release_.guarantee`.
    * Accuracy: with probability at least `confidence`, no certified query is off by more than the certificate says
      (soundness, section 10).
    * Public: the schema, the workload, all parameters, what 'auto' chose, and the number of units unless
      neighbours are of `add_remove`.
    * Assumed: nothing about the rows, but what the schema declares of them and is enforced; where `user_cap` is
      given to the certificate, that no user owns more rows. `release_.guarantee.assumptions` lists what else a
      method takes for granted.

    Examples
    --------
    >>> from holdfast.data import Categorical, Schema
    >>> schema = Schema([Categorical("sex", ["F", "M"]), Categorical("ill", ["no", "yes"])])
    >>> frame = {"sex": ["F", "M"] * 200, "ill": ["no", "no", "yes", "no"] * 100}
    >>> synthesizer = Synthesizer(epsilon=2.0, delta=1e-6).fit(frame, schema)
    >>> sorted(synthesizer.sample()), len(synthesizer.sample()["ill"])
    (['ill', 'sex'], 400)
    >>> synthesizer.certificate_.confidence
    0.95
    """

    certification_: Certification | None
    """All that is claimed of the rows; None without a certificate, and of a release that was loaded."""
    choice_: SynthesizerChoice | None
    """Why this method, where `auto` chose it."""

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        *,
        method: str | SynthesisMethod = "auto",
        workload: Workload | None = None,
        target: str | None = None,
        objective: str = "average",
        certificate: CertificateRequest | None = DEFAULT_CERTIFICATE,
        rows: int | None = None,
        columns: Sequence[str] | None = None,
        constraints: Sequence[Zeros] = (),
        adjacency: Adjacency | str | None = None,
        n_public: int | None = None,
        confidence: float = 0.95,
        options: Mapping[str, Any] | None = None,
        random_state: Seed | None = None,
        key: str | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.method = method
        self.workload = workload
        self.target = target
        self.objective = objective
        self.certificate = certificate
        self.rows = rows
        self.columns = columns
        self.constraints = tuple(constraints)
        self.adjacency = adjacency
        self.n_public = n_public
        self.confidence = confidence
        self.options = dict(options or {})
        self.random_state = random_state
        self.key = key

    # Fitting.

    def fit(self, source: Any, schema: Schema | None = None, account: Account | None = None) -> Self:
        """Spend the budget: learn a model, draw the rows, certify them.

        Parameters
        ----------
        source : Table, data frame, mapping of arrays or path
            The private rows.
        schema : Schema, optional
            What is public about them; left out with a `Table`, which has its own.
        account : Account, optional
            What pays. The fit then spends all that remains in it, and `epsilon` and `delta` are not used.

        Returns
        -------
        Synthesizer
            Itself, fitted.
        """
        self._check_parameters(account)
        table = self._open(source, schema)
        if table.schema.open_levels:
            limit = limit_of(self.epsilon, self.delta, count=table.n_public)
            left = limit if account is None else account.remaining()
            table = at_visible_levels(table, left, self.columns)
        data = ExactCounts(table, self.columns)
        workload = self._check_columns(self._requested_workload(table.schema, data.names), data)
        joint = not any(group.by_rows for group in workload.groups)
        advice = "give it as certificate=CertificateRequest(workload=Workload([...]))"
        require(joint, "workload", "OneLayer", "queries on joint counts", advice)
        request = self.certificate
        certified = workload
        if request is not None and request.workload is not None:
            certified = self._check_columns(request.workload, data)
        zeros = self._zeros(data)
        if request is not None:
            request.check_unit(data.unit)
        count = data.public_units
        limit = limit_of(self.epsilon, self.delta, count=count) if account is None else account.limit
        task = SynthesisTask(
            domain=data.domain,
            workload=workload,
            limit=limit,
            adjacency=data.adjacency,
            unit=data.unit,
            rows_are_public=data.public_rows is not None,
            rows=data.public_rows,
            objective=self.objective,
            currency=None if account is None else account.currency.name,
        )
        method, choice = self._decide(task)
        require_small_delta(limit, count)
        if account is None:
            seed = seed_of(self.random_state)
            account = open_account(limit, method, adjacency=data.adjacency, unit=data.unit, seed=seed)
        job = account
        if self.key is not None:
            about = self._digest(data, method, workload, certified)
            job = ResumableAccount.of(account, self.key, about=about)
        # An account whose whole limit is that small gets a warning that it is useless, not this error.
        require_something_left(job, least=min(LEAST_ADVANTAGE, 0.5 * job.promised.delta(0.0)))
        work, check = self._shares(job)
        prospects = synthesis_prospects(
            task, method, work, check, units=data.public_units, confidence=self.confidence
        )
        useless = announce(prospects)
        model_zeros = tuple(zero for zero in zeros if zero.fits_in_model(data.domain))
        synthesis = method.fit(data, workload, account=work, **self._options(method, choice, model_zeros))
        # After this, only the certificate reads the private table.
        coins = row_coins(synthesis.measurements, key=self.key or "")
        expected = round(synthesis.model.total) if data.public_rows is None else data.public_rows
        rows = draw_coded_rows(synthesis.model, int(self.rows or max(1, expected)), coins, zeros)
        certification = None if check is None else self._certify(data, rows, certified, check)
        alpha = None if certification is None else certification.overall.alpha
        contents = SyntheticContents(
            schema=table.schema.select(*data.names),
            table=decode_rows(rows, table.schema, coins, zeros),
            measurements=synthesis.measurements,
            workload=workload,
            certified=tuple(certified.groups),
            public_rows=data.public_rows,
            constraints=zeros,
            confidence=self.confidence,
            choice=None if choice is None else choice.with_caution(task, alpha),
            counted=None if certification is None else certification.counted,
        )
        self.method_, self.choice_, self.certification_ = method.name, choice, certification
        release = self._as_release(contents, account, synthesis, method, data, certification, useless)
        self._hold(
            release,
            contents,
            rows,
            model=synthesis.model,
            constraints=zeros,
            kind=frame_kind(source),
        )
        return self

    def estimate(
        self, source: Any, schema: Schema | None = None, *, rows: int | None = None
    ) -> SynthesisEstimate:
        """Size, noise, time and memory before anything is spent, from public quantities only.

        Parameters
        ----------
        source : Schema, Table, data frame, mapping of arrays or path
            A schema alone, or what would be fitted.
        schema : Schema, optional
            What is public about the rows, where `source` is neither a schema nor a `Table`.
        rows : int, optional
            The public number of rows, where the schema does not declare it.

        Returns
        -------
        SynthesisEstimate
            Nothing is spent for it.
        """
        self._check_parameters(None)
        if isinstance(source, Schema):
            declared, count = source, rows or source.n_public or self.n_public
            units = count
        else:
            data = ExactCounts(self._open(source, schema), self.columns)
            declared, count, units = data.table.schema, rows or data.public_rows, rows or data.public_units
        unit = declared.confirmed_unit
        names = declared.names if self.columns is None else tuple(self.columns)
        adjacency = resolve_adjacency(self.adjacency, declared.adjacency)
        limit = limit_of(self.epsilon, self.delta, count=units)
        declared = chosen_levels(declared, count or units, limit, adjacency, columns=names)
        workload = self._requested_workload(declared, names)
        workload.check(declared)
        task = SynthesisTask(
            domain={name: declared[name].cells for name in names},
            workload=workload,
            limit=limit,
            unit=unit,
            adjacency=adjacency,
            rows_are_public=unit.max_rows == 1 and count is not None,
            rows=count,
            objective=self.objective,
        )
        return estimate_synthesis(
            task,
            method=self._decide(task)[0],
            rows=count,
            certificate_share=self._certificate_share,
            units=units,
            confidence=self.confidence,
        )

    def evaluate(self, real: Any = None, **options: Any) -> EvaluationReport:
        """How good the released rows are: what the release says itself (public), or against `real` rows (internal).

        Parameters
        ----------
        real : Table, data frame, mapping of arrays or path, optional
            The private rows. The report is then exact, and internal.
        **options
            `target`, `by`, `columns` and `holdout` of `evaluate_against_real`; without `real` rows only `by` has a use.

        Returns
        -------
        EvaluationReport
            Its `audience` says who may see it.
        """
        from holdfast.synth._evaluation.evaluator import evaluate_against_real, evaluate_against_release

        self._require_fitted()
        if real is None:
            unused = [name for name in options if name != "by"]
            require(not unused, "real", None, f"given with {', '.join(unused)}, which need real rows")
            return evaluate_against_release(self.release_, **options)
        contents = self._contents
        return evaluate_against_real(contents.table, real, contents.schema, release=self.release_, **options)

    @classmethod
    def from_release(cls, release: Release[Any]) -> Self:
        """A fitted synthesizer from a release: its rows, answers and claims; other rows are drawn from its own.

        Parameters
        ----------
        release : Release
            A release of a `Synthesizer`.

        Returns
        -------
        Synthesizer
            It samples, answers and summarises as the one that was fitted.
        """
        contents = SyntheticContents.of_value(release.value)
        synthesizer = cls(confidence=contents.confidence)
        synthesizer.method_, synthesizer.choice_, synthesizer.certification_ = (
            release.provenance.method,
            None,
            None,
        )
        synthesizer._hold(
            release, contents, contents.coded_rows(), model=None, constraints=contents.constraints
        )
        return synthesizer

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted synthesizer from a file that `save` wrote.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        Synthesizer
            As of `from_release`.
        """
        return cls.from_release(Release.load(path))

    # Steps.

    @property
    def _certificate_share(self) -> float:
        """The share of the budget that pays for the certificate."""
        return 0.0 if self.certificate is None else self.certificate.share

    def _check_parameters(self, account: Account | None) -> None:
        limit_of(self.epsilon, self.delta)
        known = self.objective in OBJECTIVES
        require(known, "objective", self.objective, f"one of {', '.join(map(repr, OBJECTIVES))}")
        require(0.5 < self.confidence < 1, "confidence", self.confidence, "in (0.5, 1)")
        whole = self.rows is None or (isinstance(self.rows, int | np.integer) and 1 <= self.rows <= MOST_ROWS)
        require(whole, "rows", self.rows, f"None or a whole number from 1 to {MOST_ROWS:,}")
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
            source,
            schema,
            adjacency=self.adjacency,
            n_public=self.n_public,
            entropy=Source(seed_of(self.random_state)),
        )

    def _requested_workload(self, schema: Schema, names: Sequence[str]) -> Workload:
        """The given workload, or the default one."""
        known = self.target is None or self.target in names
        require(known, "target", self.target, f"one of the columns {list(names)}")
        if self.workload is None:
            return Workload.marginals(schema, 3, columns=names, target=self.target)
        if self.target is not None and (alone := self.workload.apart_from(self.target, names)):
            warn(
                f"the workload never asks for target {self.target!r} together with {', '.join(map(repr, alone))}: the "
                "rows need not show how these are related; leave workload out, or add such marginals",
                AssumptionWarning,
            )
        return self.workload

    @staticmethod
    def _check_columns(workload: Workload, data: ExactCounts) -> Workload:
        workload.check(data.table.schema)
        absent = [name for name in workload.columns if name not in data.domain]
        require(not absent, "workload", absent, f"about the columns {list(data.names)}")
        return workload

    def _decide(self, task: SynthesisTask) -> tuple[SynthesisMethod, SynthesizerChoice | None]:
        """The method, and the choice where `method="auto"` made one."""
        if self.method != "auto":
            return find_synthesis_method(self.method), None
        choice = choose_synthesis_method(task)
        return choice.entry, choice

    def _zeros(self, data: ExactCounts) -> tuple[Zeros, ...]:
        zeros = (*self.constraints, *empty_cells(data.table.schema, data.names))
        if zeros:
            require_possible(zeros, data.domain)
        return zeros

    def _shares(self, account: Account) -> tuple[Account, Account | None]:
        share = self._certificate_share
        if share == 0:
            return account, None
        shares = fractions_of_rest(account, 1 - share, share)
        work, check = account.split(*shares)
        return work, check

    def _options(
        self, method: SynthesisMethod, choice: SynthesizerChoice | None, zeros: tuple[Zeros, ...]
    ) -> dict[str, Any]:
        own = {"constraints": zeros} if method.zeros and zeros else {}
        return {**({} if choice is None else choice.options), **self.options, **own}

    def _certify(
        self, data: ExactCounts, rows: CodedRows, certified: Workload, account: Account
    ) -> Certification:
        if self.certificate is None or not self.certificate.covers_whole:
            return certify(data, rows, certified, account=account, confidence=self.confidence)
        return certify_whole(
            data, rows, certified, account=account, confidence=self.confidence, request=self.certificate
        )

    def _as_release(
        self,
        contents: SyntheticContents,
        account: Account,
        synthesis: Synthesis,
        method: SynthesisMethod,
        data: ExactCounts,
        certification: Certification | None,
        useless: Sequence[Prospect],
    ) -> Release[dict[str, Any]]:
        package, claim = package_and_claim(method)
        assumed = [*data.assumptions, *synthesis.assumptions, *claim]
        declared: dict[str, Any] = {}
        if self.certificate is not None and self.certificate.user_cap is not None:
            assumed.append(cap_assumption(data.unit, self.certificate.user_cap))
            declared["user_cap"] = self.certificate.user_cap
        return Release.paid_by(
            account,
            contents.value(),
            Provenance(
                method=method.name,
                estimator="Synthesizer",
                package=package,
                parameters={
                    "rows": contents.table.num_rows,
                    "certificate_share": self._certificate_share,
                    "constraints": len(self.constraints),
                    **declared,
                    **synthesis.parameters,
                },
                schema_hash=contents.schema.hash(),
            ),
            certificates=() if certification is None else certification.certificates,
            assumptions=assumed,
            theorem=synthesis.theorem,
            prospects=useless,
        )

    def _digest(
        self, data: ExactCounts, method: SynthesisMethod, workload: Workload, certified: Workload
    ) -> str:
        """A hash of the parameters that decide what the charges of a job are about; it does not depend on the rows."""
        request_parts: tuple[Any, ...] = (
            data.table.schema.select(*data.names).hash(),
            method.name,
            sorted(self.options.items(), key=str),
            [(identity(group), group.weight) for group in workload.groups],
            [(identity(group), group.weight) for group in certified.groups],
            self.constraints,
            None if self.rows is None else int(self.rows),
            self.confidence,
            self._certificate_share,
        )
        request = self.certificate
        if request is not None and request.covers_whole:
            request_parts = (*request_parts, request.user_cap, request.user_weights)
        return hashlib.sha256(repr(request_parts).encode()).hexdigest()[:16]

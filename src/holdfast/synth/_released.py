"""ReleasedTable: what a released synthetic table offers at no further cost: rows, answers, a summary, a file.

The intervals of answers depend only on what was released with the rows, so they are the same before a release is saved
and after it is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from holdfast._arguments import checked
from holdfast._caution import warn
from holdfast.errors import AssumptionWarning, ParameterError, require
from holdfast.noise._source import Source
from holdfast.release import Release
from holdfast.release._certificate import Certificate
from holdfast.synth._answers import Answers, Intervals, answer, identity, noise_quantile, ratio_quantile
from holdfast.synth._certificate import COUNT_FAILURE, OVERALL
from holdfast.synth._contents import SyntheticContents, describe
from holdfast.synth._models.dense import RowsModel
from holdfast.synth._models.model import Measurement, Model
from holdfast.synth._rows.coded_rows import CodedRows, decode_rows, row_coins
from holdfast.synth._rows.frames import FRAMES, as_frame
from holdfast.synth._rows.impossible_rows import Zeros, possible_rows
from holdfast.synth._whole_table import WHOLE
from holdfast.synth._workload import Workload


@checked
class ReleasedTable:
    """A released synthetic table: what `Synthesizer` is after `fit`, and what a file holds."""

    release_: Release[dict[str, Any]]
    """The contents with their promise: rows, noisy counts, certificates and provenance."""
    method_: str
    """The name of the method, also of a release that was loaded."""
    model_: Model | None
    """The model that rows are drawn from; None in a loaded release, which draws from its own rows."""
    key: str | None = None
    _contents: SyntheticContents
    _rows: CodedRows
    """The rows of the contents as cell codes."""
    _constraints: tuple[Zeros, ...]
    _kind: str
    """The kind of frame that `sample` returns by default."""
    _draws: dict[int, int]
    """How many times each number of new rows was drawn."""

    @property
    def certificate_(self) -> Certificate | None:
        """A bound on the error over all certified queries; None where nothing is claimed."""
        return _named_certificate(self.release_, OVERALL)

    def sample(self, rows: int | None = None, *, frame: str | None = None) -> Any:
        """The released rows, in the kind of frame that was fitted, or in `frame`: "pandas", "polars", "arrow", "dict".

        Their types follow from the schema (its `dtype`, or the kind of column), whatever the fitted frame had: types
        that the data decide would tell of single records.

        With another number of rows: a new draw from the released model (of a loaded release, from its rows), which
        costs nothing and which no certificate speaks of. Each call draws other rows.
        """
        self._require_fitted()
        known = f"one of {', '.join(map(repr, FRAMES))}, or None for the kind that was fitted"
        require(frame is None or frame in FRAMES, "frame", frame, known)
        if rows is None or rows == len(self._rows):
            return self._as_frame(self._contents.table, frame)
        whole = isinstance(rows, int | np.integer) and not isinstance(rows, bool)
        require(whole and rows >= 0, "rows", rows, "a whole number >= 0")
        warn(
            f"{rows} rows are a new draw: the certificate is about the {len(self._rows)} released rows only",
            AssumptionWarning,
        )
        count = int(rows)
        drawn = self._draws[count] = self._draws.get(count, 0) + 1
        again = f"/{drawn}" if drawn > 1 else ""
        coins = row_coins(self._contents.measurements, key=f"{self.key or ''}/rows={count}{again}")
        model = self.model_ or RowsModel(
            domain=self._rows.domain, codes=self._rows.codes, total=len(self._rows)
        )
        drawn_rows = draw_coded_rows(model, count, coins, self._constraints)
        table = decode_rows(drawn_rows, self._contents.schema, coins, self._constraints)
        return self._as_frame(table, frame)

    def answer(self, workload: Workload | None = None) -> Answers:
        """Proportions on the released rows with intervals for the table's own: free, whatever is asked.

        A marginal that was measured has the interval of its noise, another query of the declared workload that
        of the certificate, which covers the model's error; any other query has no interval.
        """
        self._require_fitted()
        queries = self._contents.workload if workload is None else workload
        queries.check(self._contents.schema)
        return _answers(self.release_, self._contents, self._rows, queries)

    def summary(self) -> str:
        """What was released, from which noisy tables, with which errors and under which guarantee."""
        self._require_fitted()
        return describe(self._contents, self.release_, method=self.method_)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the release: rows, noisy counts, guarantee and certificates in one file.

        Parameters
        ----------
        path : str or path
            The file to write. It holds what was released, and nothing else.
        overwrite : bool
            Whether it may take the place of a file that this process did not write.
        """
        self._require_fitted()
        self.release_.save(path, overwrite=overwrite)

    def _hold(
        self,
        release: Release[Any],
        contents: SyntheticContents,
        rows: CodedRows,
        *,
        model: Model | None,
        constraints: Sequence[Zeros] = (),
        kind: str = "arrow",
    ) -> None:
        """Set the attributes that the methods above use."""
        self.release_, self._contents, self._rows, self.model_ = release, contents, rows, model
        self._constraints, self._kind, self._draws = tuple(constraints), kind, {}

    def _as_frame(self, table: Any, frame: str | None) -> Any:
        """The table as that kind of frame, by default the one that was fitted."""
        return as_frame(table, frame or self._kind, self._contents.schema)

    def _require_fitted(self) -> None:
        if not hasattr(self, "_contents"):
            raise ParameterError("this Synthesizer is not fitted yet; call fit first")


def draw_coded_rows(model: Model, rows: int, coins: Source, zeros: Sequence[Zeros]) -> CodedRows:
    """`rows` rows drawn from the model, none of them impossible."""
    codes = possible_rows(model, rows, coins, zeros) if zeros else model.sample(rows, coins)
    return CodedRows(domain=dict(model.domain), codes=codes)


def _named_certificate(release: Release[Any], name: str) -> Certificate | None:
    """The certificate of that name; None where there is none."""
    return next((certificate for certificate in release.certificates if certificate.name == name), None)


def released_intervals(
    release: Release[Any], contents: SyntheticContents, *, measured: Mapping[frozenset[str], Measurement]
) -> tuple[Intervals, float, str]:
    """The intervals of answers, their confidence, and words for the rows that they are about."""
    promise, whole, overall = (
        release.guarantee,
        _named_certificate(release, WHOLE),
        _named_certificate(release, OVERALL),
    )
    failure, confidence = 1.0 - contents.confidence, contents.confidence
    which_rows = promise.unit.kept_rows_text() + promise.unit.left_out_text()
    if whole is not None:
        which_rows, confidence = f" ({whole.statement})", whole.confidence
        # The bound on the rows that were kept may fail, too: measured counts are left the rest.
        failure *= 1.0 - COUNT_FAILURE
    pure = promise.curve.as_pure() is not None
    counted = contents.counted if contents.counted is not None and contents.counted.laplace is pure else None
    quantile = noise_quantile if counted is None else ratio_quantile
    intervals = Intervals(
        # The overall claim only: choosing the smaller of two claims afterwards would not keep the confidence.
        alphas={} if overall is None else {identity(group): overall.alpha for group in contents.certified},
        measured=measured,
        rows=contents.public_rows,
        counted=counted,
        quantile=quantile(1.0 - failure, pure=pure),
        left_out=0.0 if whole is None else float(whole.details["left_out"]),
    )
    return intervals, confidence, which_rows


def _answers(
    release: Release[Any], contents: SyntheticContents, rows: CodedRows, workload: Workload
) -> Answers:
    """Every query of the workload on the released rows; about the whole table, where that was paid for."""
    intervals, confidence, which_rows = released_intervals(
        release, contents, measured=contents.best_measurements()
    )
    return answer(
        rows,
        workload,
        intervals,
        confidence=confidence,
        rows_text=which_rows,
        n_public=None if release.guarantee.adjacency.count_is_public else contents.public_rows,
    )

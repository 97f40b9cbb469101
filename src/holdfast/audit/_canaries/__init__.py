"""Canaries: the records that an audit plants. They are public and made from a seed; which are planted is secret."""

from __future__ import annotations

from holdfast.audit._canaries.design import ROWS_AT_ONCE, Canaries, inclusion_coins, planted_rows
from holdfast.audit._canaries.labelled import (
    LabelledCanaries,
    mislabelled_classes,
    random_labels,
    worst_case_gradient,
)
from holdfast.audit._canaries.orthogonal import DiracCanaries, HadamardCanaries
from holdfast.audit._canaries.random_directions import RademacherCanaries, SphereCanaries
from holdfast.audit._canaries.rare_cells import RareCells

__all__ = [
    "ROWS_AT_ONCE",
    "Canaries",
    "DiracCanaries",
    "HadamardCanaries",
    "LabelledCanaries",
    "RademacherCanaries",
    "RareCells",
    "SphereCanaries",
    "inclusion_coins",
    "mislabelled_classes",
    "planted_rows",
    "random_labels",
    "worst_case_gradient",
]

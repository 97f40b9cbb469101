"""Side by side: releases; methods and epsilons on the owner's data; synthetic rows and real ones."""

from __future__ import annotations

from holdfast.dossier._comparison.epsilons import compare_epsilons as compare_epsilons
from holdfast.dossier._comparison.methods import compare_methods as compare_methods
from holdfast.dossier._comparison.releases import Comparison as Comparison
from holdfast.dossier._comparison.releases import compare as compare

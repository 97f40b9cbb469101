"""Who was in the training data? The same attack on a model that learned by heart and on a private one.

Both models are fitted to 800 invented patients. One attack looks at losses, the other trains reference models. Beside
the private model stands what its proof forbids to any attacker, whatever it does.

    python examples/membership_attack.py [PICTURE]

Attack results are computed from real members without noise: with real people they stay inside.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from holdfast.attack import AttackReport, MembershipResult, ShadowModels, membership
from holdfast.attack._roc import draw_roc
from holdfast.errors import NotPrivateWarning
from holdfast.learn import PrivateLogisticRegression

Reports = tuple[AttackReport[MembershipResult], AttackReport[MembershipResult]]


def attacked(*, seed: int | None = None) -> Reports:
    """The forest's report, and the private model's."""
    X, y = make_classification(1600, n_features=12, n_informative=6, flip_y=0.2, random_state=2)
    people: Any = {"members": (X[:800], y[:800]), "non_members": (X[800:], y[800:])}
    forest = RandomForestClassifier(40, random_state=0).fit(*people["members"])
    private = PrivateLogisticRegression(epsilon=1.0, row_norm=4.0, classes=[0, 1], random_state=seed)
    private.fit(*people["members"])
    forest_report, private_report = (
        membership(model, **people, attacks=("loss", "lira"), shadows=ShadowModels(count=8), random_state=0)
        for model in (forest, private)
    )
    return forest_report, private_report


def draw(reports: Reports) -> Any:
    """Both ROCs on logarithmic axes: the left edge is who can be found without false alarms."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 4.7), sharey=True, layout="constrained")
    titles = ("A forest that learned by heart", "A private model, epsilon 1")
    for axes, report, title in zip(panels, reports, titles, strict=True):
        draw_roc(axes, report.results, proved=report.results[0].proved)
        axes.set_title(title, loc="left")
        axes.legend(loc="lower right", fontsize=8.5)
    panels[1].set(ylabel="")
    return figure


def picture(seed: int | None = None) -> Any:
    """The attack on both models, drawn."""
    with warnings.catch_warnings():
        if seed is not None:
            warnings.simplefilter("ignore", NotPrivateWarning)
        return draw(attacked(seed=seed))


if __name__ == "__main__":
    found = attacked()
    for report in found:
        print(report.summary())
    target = sys.argv[1] if len(sys.argv) > 1 else "membership_attack.svg"
    draw(found).savefig(target)
    print(f"picture: {target}")

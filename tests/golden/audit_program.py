"""Values of the one-run linear programme by a general solver (HiGHS through SciPy), written as it stands.

    python tests/golden/audit_program.py > tests/golden/audit_program.json

The closed form of `holdfast.audit._bounds.worst_case` must agree with them to the accuracy of the solver.
"""

from __future__ import annotations

import json
import sys

from holdfast.audit._bounds.worst_case import solve_programme

CASES = [
    (canaries, guesses, correct, epsilon, delta)
    for canaries, guesses, corrects in (
        (3, 3, (1, 2, 3)),
        (50, 20, (5, 12, 18, 20)),
        (1000, 100, (40, 60, 90, 100)),
        (1000, 300, (160, 290)),
    )
    for correct in corrects
    for epsilon in (0.0, 0.7, 2.0, 4.0)
    for delta in (1e-5, 1e-3, 0.02)
]


def main() -> None:
    rows = [
        {
            "canaries": m,
            "guesses": r,
            "correct": v,
            "epsilon": e,
            "delta": d,
            "value": solve_programme(r, v, canaries=m, epsilon=e, delta=d),
        }
        for m, r, v, e, d in CASES
    ]
    json.dump(rows, sys.stdout, indent=0)


if __name__ == "__main__":
    main()

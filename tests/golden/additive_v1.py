"""Makes additive-v1/: models of the format holdfast-additive-model/1, which later versions must load and use alike.

    python -m tests.golden.additive_v1

They were made once, with secure noise, and are never made again: the script refuses a folder that is there. What they
said about ten rows on that day is shown.json beside them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from holdfast import Categorical, Numeric, Schema, open_table
from holdfast.learn import PrivateAdditiveClassifier, PrivateAdditiveRegressor, load_model

FOLDER = Path(__file__).with_name("additive-v1")
ROWS = {
    "age": [18.0, 30.0, 45.0, 60.0, 80.0, None, 200.0, 33.0, 51.0, 79.0],
    "dose": [0.0, 5.0, 20.0, 51.0, 49.0, 30.0, 10.0, None, 100.0, -3.0],
    "kind": ["a", "b", "c", "a", None, "b", "z", "c", "a", "b"],
}
MODELS: dict[str, tuple[Any, Any]] = {
    "two": (PrivateAdditiveClassifier(30.0, 1e-6), Categorical("ill", ["no", "yes"])),
    "several": (PrivateAdditiveClassifier(30.0, 1e-6), Categorical("level", ["low", "mid", "high"])),
    "number": (PrivateAdditiveRegressor(30.0, 1e-6, monotone={"dose": +1}), Numeric("score", -3, 6)),
}


def people(rows: int = 5_000) -> dict[str, Any]:
    random = np.random.default_rng(5)
    age, dose = random.integers(18, 81, rows).astype(float), random.exponential(30.0, rows)
    kind = random.choice(["a", "b", "c"], rows)
    score = np.abs(age - 45) / 10.0 - 1.5 + (kind == "b") * np.where(dose > 30, 2.0, 0.0)
    level = np.array(["low", "mid", "high"])[np.clip(np.floor(score + 1), 0, 2).astype(int)]
    ill = np.where(score + random.logistic(size=rows) > 0, "yes", "no")
    return {"age": age, "dose": dose, "kind": kind, "ill": ill, "level": level, "score": score}


def declared(target: Any) -> Schema:
    """A whole number with missing values, a number, and categories of which one is declared for all others."""
    age = Numeric("age", 18, 80, integer=True, null="category")
    return Schema([age, Numeric("dose", 0, 100), Categorical("kind", ["a", "b"], other="else"), target])


def shown(name: str) -> dict[str, Any]:
    """What a stored model says about the ten rows."""
    model: Any = load_model(FOLDER / f"{name}.holdfast")
    made = {
        "model": type(model).__name__,
        "format": model.release_.value["format"],
        "predicted": model.predict(ROWS).tolist(),
        "explained": model.explain(ROWS),
        "pairs": [list(pair) for pair in model.model_.pairs],
    }
    if hasattr(model, "predict_proba"):
        made |= {
            "scores": model.decision_function(ROWS).tolist(),
            "probable": model.predict_proba(ROWS).tolist(),
        }
    stored: dict[str, Any] = json.loads(json.dumps(made))
    return stored


def main() -> None:
    FOLDER.mkdir()
    for name, (model, target) in MODELS.items():
        model.fit(open_table(people(), declared(target)), target=target.name)
        model.release_.save(FOLDER / f"{name}.holdfast")
    text = json.dumps({name: shown(name) for name in MODELS}, indent=1)
    (FOLDER / "shown.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

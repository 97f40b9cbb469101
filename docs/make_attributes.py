"""Write the page "What can be guessed about a person": three tables, attacked; `python docs/make_attributes.py`.

Needs HOLDFAST_DATA (warfarin_iwpc_clean.parquet and gss.parquet); Adult ships with holdfast. Every number is computed
here, and every sentence about a number follows from it. Noise is seeded, so nothing on the page is private:
the tables are public.
"""

# ruff: noqa: E501  lines of a page

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

import numpy as np
import pandas as pd

from holdfast import PrivateLogisticRegression, PrivateRidge, Synthesizer, adult
from holdfast.attack import Attacker, AttackReport, AttributeResult, attribute_risk
from holdfast.data import Categorical, Numeric, Schema, open_table

HERE = Path(__file__).resolve().parent
PAGE = HERE / "attributes.md"
SEED = 0
WARFARIN = Schema(
    [
        Categorical("race", ["White", "Asian", "Black", "Unknown"], other="Unknown"),
        Numeric("age_decade", 1, 9, integer=True),
        Numeric("height_cm", 130, 210),
        Numeric("weight_kg", 30, 200),
        Categorical("amiodarone", ["0", "1"]),
        Categorical("enzyme_inducer", ["0", "1"]),
        Categorical("cyp2c9", ["*1/*1", "*1/*2", "*1/*3", "*2/*2", "*2/*3", "*3/*3", "other"], other="other"),
        Categorical("vkorc1", ["A/A", "A/G", "G/G"]),
        Numeric("dose", 0, 100, bins=[0, 21, 49, 100]),
    ]
)
NAMES = {"vkorc1": "VKORC1", "cyp2c9": "CYP2C9", "vkorc1 and cyp2c9": "both genes at once"}


def warfarin(folder: Path) -> tuple[Any, Any]:
    """Patients with a known dose and known genes, in random halves: for the model, and others."""
    table = pd.read_parquet(folder / "warfarin_iwpc_clean.parquet")
    table = table.rename(columns={"vkorc1_1639_imputed": "vkorc1", "dose_mg_per_week": "dose"})
    table = table.dropna(subset=["vkorc1", "cyp2c9", "age_decade"])[list(WARFARIN.names)]
    table = table.sample(frac=1.0, random_state=SEED).reset_index(drop=True)
    return table.iloc[: len(table) // 2], table.iloc[len(table) // 2 :].reset_index(drop=True)


def gss(folder: Path) -> tuple[Any, Any]:
    """The General Social Survey as Mehnaz et al. 2022 use it, in random halves."""
    table = pd.read_parquet(folder / "gss.parquet").sample(frac=1.0, random_state=SEED).reset_index(drop=True)
    return table.iloc[: len(table) // 2], table.iloc[len(table) // 2 :].reset_index(drop=True)


def overfitted_tree(frame: Any, target: str) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    texts = make_column_selector(dtype_include=["object", "string", "category"])
    coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), remainder="passthrough")
    tree = make_pipeline(coded, DecisionTreeClassifier(random_state=SEED, min_samples_leaf=2))
    return tree.fit(frame.drop(columns=target), frame[target])


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def points(value: float) -> str:
    return f"{100 * value:+.1f}"


def rows(risk: AttributeResult) -> list[str]:
    """The table of one column: the imputer and every attack, by the attacker's own people."""
    head = "| own people | " + " | ".join(f"{size:,}" for size in risk.sizes) + " | members |"
    lines = [head, "|---|" + "---|" * (len(risk.sizes) + 1)]
    for name in ("imputer", *risk.attacks):
        said = "without the release" if name == "imputer" else name
        rates = " | ".join(percent(float(risk.outcome(name, size).accuracy())) for size in risk.sizes)
        lines.append(f"| {said} | {rates} | {percent(risk.outcome(name).member_accuracy())} |")
    return [*lines, ""]


def told(risk: AttributeResult) -> str:
    """What the figures mean, in words that follow from them."""
    gain, gap, surest, small = risk.gain(), risk.gap(), risk.surest(), risk.gain(size=risk.sizes[0])
    many, few = risk.sizes[-1], risk.sizes[0]
    adds, first = (
        f"adds {points(one.value)} points"
        if one.low > 0
        else "adds nothing that can be told from chance"
        if one.high >= 0
        else "adds nothing, and misleads"
        for one in (gain, small)
    )
    leak = (
        f"Members are guessed no better than others, as far as {risk.outcome().members.size:,} of them can tell "
        f"({points(gap.value)} points, between {points(gap.low)} and {points(gap.high)})."
        if gap.low <= 0
        else f"Members are guessed better than others by {points(gap.value)} points (between {points(gap.low)} and "
        f"{points(gap.high)}): that is a leak about those who are in the data."
    )
    bound = risk.bound()
    proof = (
        " No proof limits it, because the model is not private."
        if bound is None
        else f" The proof would allow {percent(bound)} on members where others are at {percent(gap.fresh)}."
    )
    return (
        f"To someone who has {few} people's data the model {first}; to someone who has {many:,} it {adds} "
        f"({points(gain.value)} points, between {points(gain.low)} and {points(gain.high)}). {leak}{proof} Of the "
        f"{surest.k} people guessed surest, {percent(float(surest.fresh))} of those not in the data are guessed right "
        f"(between {percent(surest.fresh.low)} and {percent(surest.fresh.high)}); the imputer's surest: "
        f"{percent(float(risk.surest('imputer').fresh))}."
    )


def picture(report: AttackReport[AttributeResult] | AttributeResult, name: str, png: Path | None) -> str:
    mpl.rcParams["svg.hashsalt"] = "holdfast"
    drawn = report.plot()
    drawn.savefig(HERE / "figures" / f"attributes_{name}.svg", metadata={"Date": None})
    if png is not None:
        drawn.savefig(png / f"attributes_{name}.png", dpi=80)
    return f"figures/attributes_{name}.svg"


def image(path: str, text: str) -> list[str]:
    return [f"```{{image}} {path}", f":alt: {text}", ":width: 100%", "```", ""]


def warfarin_part(folder: Path, png: Path | None) -> list[str]:
    inside, outside = warfarin(folder)
    people = open_table(inside, WARFARIN)
    asked = ["vkorc1", "cyp2c9", ("vkorc1", "cyp2c9")]
    lines = ["## A dose of warfarin, and two genes", ""]
    lines += [
        "Warfarin thins the blood; how much a patient needs depends on age, size, other drugs and two genes, VKORC1 and "
        "CYP2C9. A hospital publishes a formula for the dose. Someone knows a patient's dose and everything in the "
        f"formula but the genes. How often are the genes guessed right? {len(inside):,} patients are behind the formula, "
        f"{len(outside):,} others serve for comparison, of whom some are the attacker's own (the IWPC data; Fredrikson et "
        "al. 2014 first asked).",
        "",
    ]
    found: dict[str, AttackReport[AttributeResult]] = {}
    for name, epsilon in (("without privacy", np.inf), ("with epsilon = 1", 1.0)):
        model = PrivateRidge(epsilon=epsilon, delta=1e-6, penalty=1e-3, random_state=SEED).fit(
            people, target="dose"
        )
        found[name] = attribute_risk(
            model, inside, fresh=outside, sensitive=asked, target="dose", schema=WARFARIN, random_state=SEED
        )
    plain, private = found.values()
    for risk in plain:
        lines += [
            f"### {NAMES[risk.sensitive]}",
            "",
            "The formula without privacy:",
            "",
            *rows(risk),
            told(risk),
            "",
        ]
        lines += ["With epsilon = 1:", "", told(private[risk.sensitive]), ""]
    lines += image(
        picture(plain["vkorc1"], "warfarin", png),
        "Guessing VKORC1: attacks and imputer against people of one's own, and members against others",
    )
    one, other = plain["vkorc1"].gap().fresh, private["vkorc1"].gap().fresh
    lines += [
        f"**What a doctor should take from it.** The gene of a patient who was never in the data is guessed right in "
        f"{percent(one)} of cases with the exact formula and in {percent(other)} with the private one. That is what dose "
        "and genes have to do with each other: it is medicine, and epsilon does not limit it. What epsilon limits is "
        "whether having been *in* the data makes a patient easier to guess.",
        "",
    ]
    common = float(outside["vkorc1"].value_counts(normalize=True).max())
    lines += [
        f"To see what that means: whoever always names the commonest form of VKORC1 is right in {percent(common)} of cases, and "
        f"whoever knows dose, age, size and race of {plain['vkorc1'].sizes[1]} patients with their genes, and has no formula, in "
        f"{percent(float(plain['vkorc1'].outcome('imputer', plain['vkorc1'].sizes[1]).accuracy()))}.",
        "",
    ]
    lines += ["### If the dose is known less well", ""]
    model = PrivateRidge(epsilon=np.inf, delta=1e-6, penalty=1e-3).fit(people, target="dose")
    lines += [
        "| the attacker knows | VKORC1 of others guessed right (bayes) | without the release |",
        "|---|---|---|",
    ]
    levels: tuple[tuple[Any, str], ...] = (
        ("exact", "the dose"),
        ("approximate", "the dose, off by a quarter of its spread"),
        ("label", "low, medium or high"),
    )
    for known, said in levels:
        risk = attribute_risk(
            model,
            inside,
            fresh=outside,
            sensitive="vkorc1",
            target="dose",
            schema=WARFARIN,
            attacker=Attacker(response=known, attacks=["bayes"]),
            random_state=SEED,
        )["vkorc1"]
        lines.append(
            f"| {said} | {risk.outcome().accuracy().summary()} | {risk.outcome('imputer').accuracy().summary()} |"
        )
    return [*lines, ""]


def gss_part(folder: Path, png: Path | None) -> list[str]:
    inside, outside = gss(folder)
    tree = overfitted_tree(inside, "hapmar")
    risk = attribute_risk(
        tree, inside, fresh=outside, sensitive="xmovie", target="hapmar", random_state=SEED
    )["xmovie"]
    lines = ["## A survey, and a question people would rather not answer", ""]
    lines += [
        "The General Social Survey asked who had seen an X-rated film (`xmovie`). A decision tree that predicts how happy a "
        "marriage is, grown until it knows its people by heart, is attacked as Mehnaz et al. 2022 did; their attacks are "
        "`csmia` and `lomia`.",
        "",
        *rows(risk),
        told(risk),
        "",
        *image(
            picture(risk, "gss", png),
            "Guessing xmovie from a decision tree: members stand out above the diagonal",
        ),
    ]
    best = max(risk.attacks, key=lambda name: risk.gap(name).value)
    gap = risk.gap(best)
    lines += [
        f"The largest difference between members and others is that of `{best}`, {points(gap.value)} points (between "
        f"{points(gap.low)} and {points(gap.high)}; the largest of {len(risk.attacks)}, chosen with hindsight). Accuracy "
        "alone would not have told: compare the column of members with the one beside it.",
        "",
    ]
    return lines


def adult_part(png: Path | None) -> list[str]:
    model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, random_state=SEED).fit(
        adult(), target="income"
    )
    report = attribute_risk(model, adult(), fresh=adult("test"), sensitive="all", random_state=SEED)
    sure = [risk for risk in report if risk.gain().low > 0]
    leaks = [risk for risk in report if risk.gap().low > 0]
    lines = ["## Every column of a census", ""]
    lines += [
        "A private model of income (epsilon = 1) on Adult, each of its columns guessed in turn by someone who has "
        f"{report.results[0].sizes[-1]:,} people of their own.",
        "",
        "```text",
        report.table(),
        "```",
        "",
        *image(
            picture(report, "adult", png), "What the model adds for each column, and members minus others"
        ),
        "The model adds something beyond chance for "
        + (
            ", ".join(f"`{risk.sensitive}` ({points(risk.gain().value)} points)" for risk in sure)
            or "no column"
        )
        + ". Members stand out, at 95 % for each column alone, for "
        + (", ".join(f"`{risk.sensitive}`" for risk in leaks) or "no column")
        + f" of {len(report)}; one in twenty would by chance. No member accuracy is above what the proof allows.",
        "",
    ]
    assert all(risk.verdict() != "warning" for risk in report)
    return lines


def rows_part(folder: Path) -> list[str]:
    """Synthetic rows of the same patients, private and with half of them copied."""
    inside, outside = warfarin(folder)
    made = Synthesizer(epsilon=1.0, delta=1e-6, random_state=SEED).fit(open_table(inside, WARFARIN))
    half = len(inside) // 2
    copied = pd.concat([inside[:half], made.sample(half).to_pandas()])
    told: dict[str, Any] = {"sensitive": "vkorc1", "schema": WARFARIN, "random_state": SEED}
    private = attribute_risk(made, inside, fresh=outside, **told)["vkorc1"]
    leaky = attribute_risk(copied.reset_index(drop=True), inside, fresh=outside, **told)["vkorc1"]
    lines = ["## If rows are published instead of a formula", ""]
    lines += [
        "The same hospital publishes a synthetic table of its patients, with epsilon = 1. To the attacker its rows are more "
        "people to learn from (`rows_and_own`); the value of the row that is closest to a patient (`closest_row`) finds copies.",
        "",
        *rows(private),
        told_of_rows(private),
        "",
        "Beside it, a table that nobody should publish: half of its rows are patients as they are, the other half are made "
        f"up as above. By the closest row members are guessed better than others by "
        f"{points(leaky.gap('closest_row').value)} points (between {points(leaky.gap('closest_row').low)} and "
        f"{points(leaky.gap('closest_row').high)}; with the private table {points(private.gap('closest_row').value)}). The same "
        "report tries what users of anonymeter know, on patients in the data and on a control group; the *risk* is what the "
        "former have beyond the latter:",
        "",
        "| attack | private rows: risk | half copied: risk |",
        "|---|---|---|",
    ]
    assert private.disclosure is not None
    assert leaky.disclosure is not None
    for one in private.disclosure:
        if one.attack in ("singling out", "linkability", "inference of vkorc1", "inference of cyp2c9"):
            lines.append(f"| {one.attack} | {risk_of(one)} | {risk_of(leaky.disclosure[one.attack])} |")
    return [*lines, ""]


def told_of_rows(risk: AttributeResult) -> str:
    return told(risk).replace("the model", "the table")


def risk_of(one: Any) -> str:
    low, high = one.limits
    return f"{one.risk:+.3f} [{low:+.3f}, {high:+.3f}]"


PRINTED = {
    "test_a_logistic_model_of_300_people": (
        "logistic regression of 300 people, k = 50, 200, 1,000, 10,000",
        "imputer .784 .822 .834 .837, fresh .793 .825 .833 .836, members .797 .830 .837 .842",
        "ten normal columns x; a secret with log-odds 2.4 u, u their normed sum; a label with log-odds ±0.9 + u / 2; `bayes`",
        "imputer {imputer}, fresh {fresh}, members {members}",
    ),
    "test_random_labels_leak_about_members_only[exact]": (
        "random labels, n = 100, d = 50, λ = 10",
        "members .542, fresh .496",
        "columns ±1/√50, logistic regression",
        "members {members:.3f}, fresh {fresh:.3f}",
    ),
    "test_random_labels_leak_about_members_only[mu=1]": (
        "the same, output noise at μ = 1",
        "members .512, fresh .495",
        "the same; replacing a record moves the weights by at most 2/λ",
        "members {members:.3f}, fresh {fresh:.3f}",
    ),
    "test_the_surest_of_many": (
        "50 surest of 1,000",
        "covered .966; alarms .029, best of five k .099",
        "right with chance 0.4 + 0.5 of the sureness, a coin where nothing leaks; k = 10, 25, 50, 100, 200",
        "covered {covered:.3f}; alarms {fixed_k:.3f}, best of five k {best_of_five:.3f}",
    ),
    "test_weights_of_few_people_add_a_little": (
        "weights of ridge regression, n = 30, others unknown",
        "weights .548, imputer .579, both .587",
        "a secret ±1 that moves one of six normal columns by 0.2 and the response by 0.1; unit noise; 500 own people",
        "weights {weights:.3f}, imputer {imputer:.3f}, both {both:.3f}",
    ),
}


def printed_part() -> list[str]:
    """The simulated figures of the soundness notes beside those of our tests, from what the studies stored."""
    file = HERE.parent / "tests/studies/results/attack.attributes.test_printed_figures.json"
    studies = json.loads(file.read_text(encoding="utf-8"))["studies"]
    lines = ["## The figures of the soundness notes, found again", ""]
    lines += [
        "[Section 27](soundness.md#section-27) prints results of simulations and not, for all of them, the law of the data. A law "
        "was chosen for each that is plausible and comes near; the tests run them at a tenth of the size, and these are the "
        "full ones. *Off* is the largest distance from a printed figure.",
        "",
        "| what | printed | law chosen here | found | runs | off |",
        "|---|---|---|---|---|---|",
    ]
    for name, (what, printed, law, form) in PRINTED.items():
        found = studies[name]["found"]
        off = f"{found['off_at_most']:.3f}" if "off_at_most" in found else f"{surest_off(found):.3f}"
        lines.append(f"| {what} | {printed} | {law} | {form.format(**found)} | {found['trials']:,} | {off} |")
    lines += [
        "",
        "Bounds, total variations and the figures for somebody who knows everybody else are exact and tested as printed "
        "(`tests/attack/attributes/test_outcome.py`, `test_linear_weights.py`).",
    ]
    return lines


def surest_off(found: dict[str, float]) -> float:
    return max(
        abs(found[name] - one)
        for name, one in (("covered", 0.966), ("fixed_k", 0.029), ("best_of_five", 0.099))
    )


INTRODUCTION = """# What can be guessed about a person?

<!-- written by docs/make_attributes.py -->

Someone knows a lot about you, but not one thing: a gene, an answer, an income. A model or a synthetic table is published.
How much better can they guess that one thing now? That is an *attribute attack*, or model inversion. The honest answer has
three parts, and `attribute_risk` gives all three.

1. **What the release adds.** Much can be guessed without it. So the attacker is compared with an *imputer*: somebody with the
   same knowledge and the same number of people whose data they already have, but without the release. An advantage that
   vanishes as that number grows is knowledge about people in general.
2. **Whether it leaks about those in the data.** The same attack, on the same model, about *members* and about *fresh* people who
   were not in the data. Only this difference is a leak, and only this difference is limited by a privacy promise.
3. **How sure the surest guesses are.** An average hides the few about whom an attacker is certain: so the {k} surest guesses are
   looked at, with {k} fixed in advance.

**Epsilon does not limit the first.** What holds for people in general can be guessed about anybody, in the data or not. A promise
about membership says nothing against it; dropping or coarsening a column does.

```text
attacker = Attacker(knows=["age", "weight"])
attribute_risk(model, table, fresh=others, sensitive="vkorc1", target="dose", attacker=attacker)
holdfast attack attribute m.holdfast --members in.parquet --fresh out.parquet --sensitive vkorc1 --target dose
```

Results are computed from real members without noise: they are for the owner of the data. The internal dossier shows an
attack as one point against the proof; a public one refuses it. The tables of this page are public data.

"""


def main() -> None:
    """Write page and figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--png", type=Path, help="also write pictures to look at into this folder")
    chosen = parser.parse_args()
    if "HOLDFAST_DATA" not in os.environ:
        print("HOLDFAST_DATA must name the folder of the benchmark data (docs/data.md)", file=sys.stderr)
        sys.exit(2)
    warnings.simplefilter("ignore")
    folder = Path(os.environ["HOLDFAST_DATA"])
    lines = [*warfarin_part(folder, chosen.png), *rows_part(folder), *gss_part(folder, chosen.png)]
    lines += [*adult_part(chosen.png), *printed_part()]
    PAGE.write_text(INTRODUCTION.replace("{k}", "50") + "\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

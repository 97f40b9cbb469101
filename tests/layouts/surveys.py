"""Surveys and censuses: ACS, NHANES, BRFSS, GSS, CPS, MEPS, SHARE, SOEP-like, and others of their kind."""

from __future__ import annotations

from tests.layouts.layout import Draw, Layout

# Shares of answers as surveys publish them: irregular, as those of kinds of people are.
RACE = (61, 12, 0.8, 0.2, 0.4, 6, 0.3, 9, 10)


def acs_pums() -> Layout:
    """The Census Bureau's Public Use Microdata Sample, persons: zeros in front, blanks for nobody asked."""
    draw = Draw(1)
    return Layout(
        columns={
            "RT": ["P"] * draw.rows,
            "SERIALNO": draw.numbered("2019GQ{:07d}"),
            "PUMA": draw.of([f"{p:05d}" for p in range(100, 3900, 90)]),
            "ST": draw.of([f"{s:02d}" for s in (1, 2, 4, 5, 6, 8, 9, 12, 36, 48)]),
            "PWGTP": draw.amounts(4.4, 0.7, ".0f"),
            "AGEP": draw.whole(0, 95, "02d"),
            "SEX": draw.of("1 2"),
            "RAC1P": draw.of("1 2 3 4 5 6 7 8 9", RACE),
            "MAR": draw.of("1 2 3 4 5", (45, 5, 9, 2, 39)),
            "SCHL": draw.some(draw.of([f"{s:02d}" for s in range(1, 25)]), "", 0.03),
            "COW": draw.some(draw.of("1 2 3 4 5 6 7 8 9", (60, 8, 7, 3, 2, 6, 4, 1, 0.5)), "", 0.4),
            "OCCP": draw.some(draw.of([f"{o:04d}" for o in range(10, 9800, 130)]), "", 0.4),
            "NAICSP": draw.some(
                draw.of("23 44511 5241 6111 622M 722Z 92MP 928P 3118Z 4539 8111Z 4MS 3MS 54194"), "", 0.4
            ),
            "WAGP": draw.some(draw.some(draw.amounts(10.5, 0.9, ".0f"), "0", 0.3), "", 0.18),
            "JWMNP": draw.some(draw.whole(1, 160), "", 0.5),
            "POVPIP": draw.some(draw.whole(0, 501), "", 0.05),
            "CIT": draw.of("1 2 3 4 5", (84, 1, 1.5, 7, 6.5)),
            "DIS": draw.of("1 2", (13, 87)),
        },
        truth={
            "RT": "category",
            "SERIALNO": "id",
            "PUMA": "code",
            "ST": "code",
            "PWGTP": "number",
            "AGEP": "number|code",
            "SEX": "category",
            "RAC1P": "category",
            "MAR": "category",
            "SCHL": "category",
            "COW": "category|number",
            "OCCP": "hierarchy",
            "NAICSP": "code",
            "WAGP": "number",
            "JWMNP": "number 1..160",
            "POVPIP": "number 0..501",
            "CIT": "category",
            "DIS": "category",
        },
    )


def census_api() -> Layout:
    """The same from the Census Bureau's API: "N" where nobody was asked."""
    draw = Draw(2)
    return Layout(
        columns={
            "AGEP": draw.whole(0, 94),
            "PINCP": draw.some(draw.amounts(10.3, 1.1, ".0f"), "N", 0.18),
            "SEX": draw.of("1 2"),
            "HISP": draw.of([f"{h:02d}" for h in range(1, 25)]),
            "WKHP": draw.some(draw.normal(38, 9, ".0f"), "N", 0.4),
            "RELSHIPP": draw.of(
                "20 21 22 23 24 25 26 27 28 29 30 33 34 35 36 37 38",
                (41, 18, 2, 0.3, 0.2, 26, 0.5, 1, 1.5, 1, 2.5, 1, 1, 2, 1, 0.6, 0.4),
            ),
            "TEN": draw.of("1 2 3 4 N", (45, 22, 28, 1, 4)),
            "state": draw.of("01 06 12 36 48 72"),
            "INDP": draw.some(draw.of([f"{i:04d}" for i in range(170, 9900, 210)]), "N", 0.4),
        },
        truth={
            "AGEP": "number 0..94",
            "PINCP": "number null N",
            "SEX": "category",
            "HISP": "category",
            "WKHP": "number null N",
            "RELSHIPP": "category",
            "TEN": "category",
            "state": "category",
            "INDP": "code",
        },
    )


def nhanes() -> Layout:
    """The National Health and Nutrition Examination Survey, whole numbers with a point."""
    draw = Draw(3)

    def point(values: list[str]) -> list[str]:
        return [f"{value}.0" if value else "" for value in values]

    return Layout(
        columns={
            "SEQN": point(draw.numbered(first=83732)),
            "RIAGENDR": point(draw.of("1 2")),
            "RIDAGEYR": point(draw.whole(0, 80)),
            "RIDRETH3": point(draw.of("1 2 3 4 6 7", (15, 10, 34, 23, 12, 6))),
            "DMDEDUC2": point(draw.some(draw.of("1 2 3 4 5 7 9", (10, 11, 22, 30, 26, 0.7, 0.8)), "", 0.4)),
            "DMDMARTL": point(
                draw.some(draw.of("1 2 3 4 5 6 77 99", (48, 8, 11, 3, 19, 9, 0.8, 0.6)), "", 0.4)
            ),
            "WTMEC2YR": draw.amounts(10, 0.8, ".6f"),
            "BMXBMI": draw.some(draw.normal(27, 6, ".1f"), "", 0.1),
            "LBXTC": point(draw.some(draw.normal(180, 40, ".0f"), "", 0.2)),
            "ALQ130": point(
                draw.some(
                    draw.of("1 2 3 4 5 6 8 10 12 15 777 999", (36, 28, 15, 7, 4, 4, 2, 1.5, 1.5, 1, 1, 1)),
                    "",
                    0.5,
                )
            ),
            "SLD012": draw.some(draw.normal(7.6, 1.4, ".1f"), "", 0.1),
        },
        truth={
            "SEQN": "id",
            "RIAGENDR": "category",
            "RIDAGEYR": "number 0..80",
            "RIDRETH3": "category",
            "DMDEDUC2": "category",
            "DMDMARTL": "category",
            "WTMEC2YR": "number",
            "BMXBMI": "number",
            "LBXTC": "number",
            "ALQ130": "number 1..15 null 777 999",
            "SLD012": "number",
        },
    )


def brfss() -> Layout:
    """The Behavioral Risk Factor Surveillance System: 7, 9, 77 and 99 for what was not answered, 88 for none."""
    draw = Draw(4)
    days = [
        "88" if none else str(day)
        for none, day in zip(
            draw.random.random(draw.rows) < 0.6, draw.random.integers(1, 31, draw.rows), strict=True
        )
    ]
    return Layout(
        columns={
            "_STATE": draw.of("1 2 4 5 6 8 9 10 11 12 13 15 36 48 66 72"),
            "IDATE": draw.days("2019-01-01", 365, "%m%d%Y"),
            "SEQNO": draw.numbered(first=2019000001),
            "GENHLTH": draw.of("1 2 3 4 5 7 9", (17, 32, 32, 14, 5, 0.6, 0.7)),
            "PHYSHLTH": draw.some(days, "77", 0.02),
            "SLEPTIM1": draw.some(draw.normal(7, 1.2, ".0f"), "77", 0.02),
            "EDUCA": draw.of("1 2 3 4 5 6 9", (0.6, 2.5, 5, 27, 28, 36, 0.9)),
            "INCOME2": draw.of("1 2 3 4 5 6 7 8 77 99", (4, 4, 6, 7, 8, 11, 13, 30, 8, 9)),
            "_LLCPWT": draw.amounts(5.5, 1.2, ".4f"),
            "DIABETE4": draw.of("1 2 3 4 7 9", (14, 0.8, 83, 2, 0.6, 0.6)),
        },
        truth={
            "_STATE": "code",
            "IDATE": "date",
            "SEQNO": "id",
            "GENHLTH": "category",
            "PHYSHLTH": "number 1..31 null 77",
            "SLEPTIM1": "number null 77",
            "EDUCA": "category",
            "INCOME2": "category",
            "_LLCPWT": "number",
            "DIABETE4": "category",
        },
    )


def gss() -> Layout:
    """The General Social Survey with value labels, and 98 and 99 behind the ages."""
    draw = Draw(5)
    return Layout(
        columns={
            "year": draw.of("2010 2012 2014 2016 2018"),
            "id": draw.numbered(),
            "wrkstat": draw.of(["WORKING FULLTIME", "RETIRED", "KEEPING HOUSE", "SCHOOL", "NA"]),
            "age": draw.some(draw.some(draw.whole(18, 89), "99", 0.015), "98", 0.01),
            "educ": draw.of(
                [str(e) for e in range(0, 21)],
                (1, 1, 1, 2, 2, 2, 3, 3, 6, 6, 8, 10, 60, 20, 26, 12, 40, 10, 12, 5, 6),
            ),
            "happy": draw.of(["VERY HAPPY", "PRETTY HAPPY", "NOT TOO HAPPY", "DK", "IAP"]),
            "childs": draw.of("0 1 2 3 4 5 6 7", (27, 16, 27, 16, 8, 3, 2, 1)),
            "partyid": draw.of(["STRONG DEMOCRAT", "INDEPENDENT", "STRONG REPUBLICAN", "OTHER PARTY", "DK"]),
            "tvhours": draw.some(draw.counts(2.8), "-1", 0.3),
            "wtssall": draw.amounts(0, 0.5, ".6f"),
            "coninc": draw.some(draw.amounts(10.4, 0.9, ".1f"), "IAP", 0.1),
        },
        truth={
            "year": "number|category 2010..2018",
            "id": "id",
            "wrkstat": "category",
            "age": "number 18..89 null 98 99",
            "educ": "number|category",
            "happy": "category",
            "childs": "number|category",
            "partyid": "category",
            "tvhours": "number null -1",
            "wtssall": "number",
            "coninc": "number null IAP",
        },
    )


def cps() -> Layout:
    """The Current Population Survey, basic monthly: -1 where nobody was asked."""
    draw = Draw(6)
    return Layout(
        columns={
            "HRHHID": draw.numbered("{}", 110_111_000_000_313),
            "HRMONTH": draw.of("3"),
            "HRYEAR4": draw.of("2019"),
            "GESTFIPS": draw.of("1 2 4 5 6 8 36 48 56"),
            "PRTAGE": draw.whole(0, 85),
            "PESEX": draw.of("-1 1 2", (6, 46, 48)),
            "PTDTRACE": draw.of("-1 1 2 3 4 5 6 7 8", (6, 75, 10, 1.5, 5, 0.6, 0.9, 0.8, 0.7)),
            "PEEDUCA": draw.of(
                "-1 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46",
                (20, 0.4, 0.8, 1.5, 1.5, 1.4, 2, 2.5, 1, 23, 14, 3, 4, 18, 8, 1.2, 1.4),
            ),
            "PEMLR": draw.of("-1 1 2 3 4 5 6 7", (20, 46, 2, 0.4, 1.6, 16, 5, 9)),
            "PTERNWA": draw.some(draw.amounts(11.2, 0.7, ".0f"), "-1", 0.85),
            "PEHRUSL1": draw.some(draw.some(draw.normal(39, 9, ".0f"), "-1", 0.5), "-4", 0.03),
            "PWSSWGT": draw.amounts(17, 0.5, ".0f"),
            "GTCBSA": draw.of("0 12060 14460 16980 19100 26420 31080 33100 35620 37980 47900"),
        },
        truth={
            "HRHHID": "id",
            "HRMONTH": "number|category",
            "HRYEAR4": "number|category",
            "GESTFIPS": "code",
            "PRTAGE": "number 0..85",
            "PESEX": "category",
            "PTDTRACE": "category",
            "PEEDUCA": "category",
            "PEMLR": "category",
            "PTERNWA": "number null -1",
            "PEHRUSL1": "number null -1 -4",
            "PWSSWGT": "number",
            "GTCBSA": "code|number",
        },
    )


def meps() -> Layout:
    """The Medical Expenditure Panel Survey: -1, -7, -8 and -15 for what is not known."""
    draw = Draw(7)
    return Layout(
        columns={
            "DUPERSID": draw.numbered("{}", 2_290_001_101),
            "AGE19X": draw.some(draw.whole(0, 85), "-1", 0.02),
            "RACEV2X": draw.of("1 2 3 4 5 6 10 12", (70, 17, 1, 2.5, 1.5, 0.3, 3, 4.7)),
            "RTHLTH31": draw.of("-8 -1 1 2 3 4 5", (1, 6, 30, 29, 23, 8, 3)),
            "TOTEXP19": draw.some(draw.amounts(7.5, 1.8, ".0f"), "0", 0.15),
            "TTLP19X": draw.amounts(10, 1.0, ".0f"),
            "EDUCYR": draw.some(draw.some(draw.whole(0, 17), "-1", 0.1), "-8", 0.02),
            "INSCOV19": draw.of("1 2 3", (62, 31, 7)),
            "DIABDX_M18": draw.of("-15 -8 -7 -1 1 2", (0.6, 0.6, 0.6, 22, 11, 65)),
            "BMINDX53": draw.some(draw.normal(28, 6, ".1f"), "-1", 0.2),
            "PERWT19F": draw.amounts(9.2, 0.7, ".6f"),
            "ICD10CDX": draw.some(
                draw.of("I10 E11 E78 J06 M54 F41 K21 J45 Z00 R05 -15 N39 H52 L30"), "-15", 0.1
            ),
        },
        truth={
            "DUPERSID": "id",
            "AGE19X": "number 0..85 null -1",
            "RACEV2X": "category",
            "RTHLTH31": "category",
            "TOTEXP19": "number",
            "TTLP19X": "number",
            "EDUCYR": "number|category",
            "INSCOV19": "category|number",
            "DIABDX_M18": "category",
            "BMINDX53": "number null -1",
            "PERWT19F": "number",
            "ICD10CDX": "category|hierarchy",
        },
    )


def share() -> Layout:
    """The Survey of Health, Ageing and Retirement in Europe: -1 and -2 for what was not said."""
    draw = Draw(8)
    return Layout(
        delimiter=";",
        encoding="utf-8-sig",
        newline="\r\n",
        columns={
            "mergeid": draw.numbered("AT-{:06d}-01"),
            "country": draw.of("11 12 13 14 15 16 17 18 20 23 25 28 29"),
            "yrbirth": draw.whole(1921, 1968),
            "dn042_": draw.of("1 2"),
            "isced1997_r": draw.of("0 1 2 3 4 5 6 95 97", (3, 18, 17, 32, 4, 22, 1, 1, 1.5)),
            "hc002_": draw.some(draw.some(draw.counts(6), "-1", 0.03), "-2", 0.02),
            "sphus": draw.of(
                ["Excellent", "Very good", "Good", "Fair", "Poor", "Refusal", "Don't know"],
                (8, 18, 36, 26, 10, 0.7, 0.8),
            ),
            "thinc": draw.amounts(10.1, 0.8, ".2f"),
            "mar_stat": draw.of("1 2 3 4 5 6", (62, 2, 2, 8, 9, 17)),
        },
        truth={
            "mergeid": "id",
            "country": "code",
            "yrbirth": "number 1921..1968",
            "dn042_": "category",
            "isced1997_r": "category|number",
            "hc002_": "number null -1 -2",
            "sphus": "category",
            "thinc": "number",
            "mar_stat": "category",
        },
        csv={"delimiter": ";"},
    )


def compas() -> Layout:
    """ProPublica's COMPAS scores: names, dates, charges in words."""
    draw = Draw(9)
    charges = [
        f"{how} {what}"
        for how in ("Possession of", "Attempted", "Aggravated", "Felony", "Driving with", "Sale of")
        for what in (
            "Cocaine",
            "Cannabis",
            "Battery",
            "Burglary",
            "Theft in the 3rd Degree",
            "License Suspended",
            "Assault",
            "Fraud",
            "Firearm",
        )
    ]
    return Layout(
        columns={
            "id": draw.numbered(),
            "name": [
                f"{a} {b}{place}"
                for place, (a, b) in enumerate(
                    zip(
                        draw.of("miguel kevin ed marcu andre"),
                        draw.of("hernandez dixon philo brown moore"),
                        strict=True,
                    )
                )
            ],
            "sex": draw.of("Male Female", (80, 20)),
            "dob": draw.days("1940-01-01", 20000),
            "age": draw.whole(18, 83),
            "age_cat": draw.of(["25 - 45", "Greater than 45", "Less than 25"]),
            "race": draw.of(
                ["African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American"]
            ),
            "juv_fel_count": draw.counts(0.2),
            "decile_score": draw.whole(1, 10),
            "priors_count": draw.counts(3),
            "c_jail_in": draw.some(draw.moments(), "", 0.05),
            "c_charge_degree": draw.of("F M"),
            "c_charge_desc": draw.of(charges),
            "is_recid": draw.of("0 1"),
            "score_text": draw.of("Low Medium High"),
            "two_year_recid": draw.of("0 1"),
        },
        truth={
            "id": "id",
            "name": "text|id",
            "sex": "category",
            "dob": "date",
            "age": "number 18..83",
            "age_cat": "category",
            "race": "category",
            "juv_fel_count": "number|category",
            "decile_score": "number 1..10",
            "priors_count": "number",
            "c_jail_in": "date",
            "c_charge_degree": "category",
            "c_charge_desc": "category",
            "is_recid": "category",
            "score_text": "category",
            "two_year_recid": "category",
        },
    )


def hmda() -> Layout:
    """The Home Mortgage Disclosure Act's loan register: census tracts, "Exempt" and NA among numbers, ages in bands."""
    draw = Draw(10)
    return Layout(
        delimiter="|",
        columns={
            "activity_year": draw.of("2019 2020 2021"),
            "lei": draw.of([f"5493{n:016d}" for n in range(30)]),
            "state_code": draw.of("CA TX FL NY NA"),
            "county_code": draw.of(
                [
                    f"{c:05d}"
                    for c in (
                        1001,
                        1003,
                        1005,
                        1007,
                        1009,
                        6001,
                        6003,
                        6037,
                        6073,
                        12001,
                        12003,
                        12011,
                        36001,
                        36005,
                        36047,
                        48001,
                        48113,
                        48201,
                    )
                ]
            ),
            "census_tract": draw.of([f"{c:011d}" for c in range(1001020100, 56001020100, 990000000)]),
            "loan_type": draw.of("1 2 3 4", (77, 15, 6, 2)),
            "loan_purpose": draw.of("1 2 31 32 4 5"),
            "loan_amount": draw.amounts(12.3, 0.6, ".0f"),
            "interest_rate": draw.some(draw.some(draw.normal(3.9, 0.7, ".3f"), "NA", 0.2), "Exempt", 0.05),
            "property_value": draw.some(draw.some(draw.amounts(12.7, 0.6, ".0f"), "NA", 0.1), "Exempt", 0.05),
            "income": draw.some(draw.amounts(4.5, 0.7, ".0f"), "NA", 0.1),
            "applicant_age": draw.of(["<25", "25-34", "35-44", "45-54", "55-64", "65-74", ">74", "8888"]),
            "action_taken": draw.of("1 2 3 4 5 6 7 8", (52, 2, 15, 11, 4, 15, 0.5, 0.5)),
            "debt_to_income_ratio": draw.of(
                [
                    "<20%",
                    "20%-<30%",
                    "30%-<36%",
                    "36",
                    "37",
                    "38",
                    "40",
                    "42",
                    "44",
                    "46",
                    "50%-60%",
                    ">60%",
                    "NA",
                    "Exempt",
                ]
            ),
            "applicant_credit_score_type": draw.of("1 2 3 7 8 9 1111"),
        },
        truth={
            "activity_year": "number|category",
            "lei": "id|category|hierarchy",
            "state_code": "category",
            "county_code": "hierarchy",
            "census_tract": "hierarchy",
            "loan_type": "category",
            "loan_purpose": "category",
            "loan_amount": "number",
            "interest_rate": "number null NA Exempt",
            "property_value": "number null NA Exempt",
            "income": "number null NA",
            "applicant_age": "category",
            "action_taken": "category",
            "debt_to_income_ratio": "category",
            "applicant_credit_score_type": "category",
        },
        csv={"delimiter": "|"},
    )


SURVEYS = (acs_pums, census_api, nhanes, brfss, gss, cps, meps, share, compas, hmda)

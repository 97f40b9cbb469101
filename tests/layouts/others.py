"""Visits, loans, trips, sales and collections of machine learning, in the ways of several countries."""

from __future__ import annotations

import csv

from tests.layouts.layout import Draw, Layout


def german_number(value: str) -> str:
    """1234.5 as 1.234,5."""
    return f"{float(value):,.2f}".translate(str.maketrans(",.", ".,"))


def mimic() -> Layout:
    """Admissions as in MIMIC: numbers of patients who come back, moments, ICD codes of both editions, free text."""
    draw = Draw(20)
    return Layout(
        columns={
            "subject_id": [
                str(10_000_000 + int(one) * 37) for one in draw.random.integers(0, 300, draw.rows)
            ],
            "hadm_id": [
                str(20_000_000 + int(one)) for one in draw.random.choice(9_999_999, draw.rows, replace=False)
            ],
            "admittime": draw.moments("2110-01-01T00:00:00"),
            "deathtime": draw.some(draw.moments("2110-01-01T00:00:00"), "", 0.95),
            "admission_type": draw.of(["EW EMER.", "URGENT", "ELECTIVE", "OBSERVATION ADMIT"]),
            "insurance": draw.of("Medicare Medicaid Other"),
            "language": draw.of("ENGLISH ?"),
            "icd_version": draw.of("9 10"),
            "icd_code": draw.icd(dotted=False, kinds=120),
            "drg_code": draw.of([f"{d:03d}" for d in range(1, 999, 17)]),
            "los": draw.amounts(1.2, 0.8, ".4f"),
            "hospital_expire_flag": draw.of("0 1", (97, 3)),
            "text": draw.sentences(14),
        },
        truth={
            "subject_id": "id",
            "hadm_id": "id",
            "admittime": "date",
            "deathtime": "date",
            "admission_type": "category",
            "insurance": "category",
            "language": "category",
            "icd_version": "number|category",
            "icd_code": "hierarchy",
            "drg_code": "code",
            "los": "number",
            "hospital_expire_flag": "category",
            "text": "text",
        },
    )


def synthea() -> Layout:
    """Synthea's patients: keys that a machine gave, numbers of licenses and passports, names, addresses."""
    draw = Draw(21)
    last = [f"{one}{n}" for one in ("Abbott", "Kuhn", "Reyes", "Lind", "Ortiz") for n in range(100, 180)]
    return Layout(
        columns={
            "Id": [f"{t[:8]}-{t[8:12]}-{t[12:16]}-{t[16:20]}-{t[20:]}" for t in draw.tokens()],
            "BIRTHDATE": draw.days("1920-01-01", 36000),
            "DEATHDATE": draw.some(draw.days("1990-01-01", 11000), "", 0.85),
            "SSN": [f"999-{a}-{b}" for a, b in zip(draw.whole(10, 99), draw.whole(1000, 9999), strict=True)],
            "DRIVERS": draw.some(draw.numbered("S999{:05d}", 20111), "", 0.2),
            "PREFIX": draw.some(draw.of("Mr. Mrs. Ms."), "", 0.2),
            "LAST": draw.of(last),
            "MARITAL": draw.some(draw.of("M S D W"), "", 0.3),
            "RACE": draw.of("white black asian native other"),
            "GENDER": draw.of("M F"),
            "BIRTHPLACE": draw.of(
                ["Boston  Massachusetts  US", "Lowell  Massachusetts  US", "Springfield  Massachusetts  US"]
            ),
            "ADDRESS": [
                f"{n} {s} Street Apt {k}"
                for n, s, k in zip(
                    draw.whole(100, 1100), draw.of("Hahn Upton Lesch Walter"), draw.whole(1, 99), strict=True
                )
            ],
            "CITY": draw.of("Boston Lowell Quincy Newton Salem Lynn"),
            "ZIP": draw.some(draw.of([f"{z:05d}" for z in range(1001, 2790, 31)]), "", 0.3),
            "LAT": draw.normal(42.3, 0.3, ".14f"),
            "HEALTHCARE_EXPENSES": draw.amounts(11, 1.0, ".2f"),
            "INCOME": draw.amounts(10.9, 0.8, ".0f"),
        },
        truth={
            "Id": "id",
            "BIRTHDATE": "date",
            "DEATHDATE": "date",
            "SSN": "id",
            "DRIVERS": "id",
            "PREFIX": "category",
            "LAST": "text|id|category",
            "MARITAL": "category",
            "RACE": "category",
            "GENDER": "category",
            "BIRTHPLACE": "category",
            "ADDRESS": "text",
            "CITY": "category",
            "ZIP": "hierarchy",
            "LAT": "number",
            "HEALTHCARE_EXPENSES": "number",
            "INCOME": "number",
        },
    )


def adult() -> Layout:
    """UCI Adult with a line of names: a blank behind every comma, and ? for what is missing."""
    draw = Draw(22)
    return Layout(
        gap=" ",
        columns={
            "age": draw.whole(17, 90),
            "workclass": draw.of("Private Self-emp-not-inc Local-gov State-gov ?", (70, 8, 6, 4, 6)),
            "fnlwgt": draw.amounts(12, 0.6, ".0f"),
            "education": draw.of("Bachelors HS-grad 11th Masters 9th Some-college"),
            "education-num": draw.whole(1, 16),
            "marital-status": draw.of("Married-civ-spouse Never-married Divorced"),
            "occupation": draw.of("Tech-support Craft-repair Sales ? Exec-managerial"),
            "capital-gain": draw.some(draw.amounts(8.5, 0.8, ".0f"), "0", 0.9),
            "hours-per-week": draw.normal(40, 11, ".0f"),
            "native-country": draw.of("United-States Mexico ? Germany", (90, 3, 2, 1)),
            "income": draw.of("<=50K >50K", (76, 24)),
        },
        truth={
            "age": "number 17..90",
            "workclass": "category null ?",
            "fnlwgt": "number",
            "education": "category",
            "education-num": "number 1..16",
            "marital-status": "category",
            "occupation": "category null ?",
            "capital-gain": "number",
            "hours-per-week": "number",
            "native-country": "category null ?",
            "income": "category",
        },
    )


def bank() -> Layout:
    """UCI Bank Marketing: semicolons, quoted words, -1 for never, 999 in the other edition."""
    draw = Draw(23)
    return Layout(
        delimiter=";",
        quoting=csv.QUOTE_NONNUMERIC,
        columns={
            "age": draw.whole(18, 92),
            "job": draw.of("management technician entrepreneur blue-collar unknown"),
            "marital": draw.of("married single divorced"),
            "default": draw.of("no yes", (98, 2)),
            "balance": [f"{a - b:.0f}" for a, b in draw.random.exponential(1500, (draw.rows, 2))],
            "housing": draw.of("yes no"),
            "contact": draw.of("unknown cellular telephone"),
            "day": draw.whole(1, 31),
            "month": draw.of("may jun jul aug nov"),
            "duration": draw.amounts(5.2, 0.9, ".0f"),
            "pdays": draw.some(draw.whole(1, 800), "-1", 0.8),
            "previous": draw.counts(0.5),
            "poutcome": draw.of("unknown other failure success"),
            "y": draw.of("no yes", (88, 12)),
        },
        truth={
            "age": "number 18..92",
            "job": "category",
            "marital": "category",
            "default": "category",
            "balance": "number",
            "housing": "category",
            "contact": "category",
            "day": "number 1..31",
            "month": "category",
            "duration": "number",
            "pdays": "number null -1",
            "previous": "number|category",
            "poutcome": "category",
            "y": "category",
        },
        csv={"delimiter": ";"},
    )


def german_credit() -> Layout:
    """Statlog German Credit: codes of attributes with a letter in front."""
    draw = Draw(24)
    return Layout(
        delimiter=";",
        columns={
            "checking": draw.of("A11 A12 A13 A14"),
            "duration": draw.of("6 9 12 15 18 24 30 36 48 60"),
            "history": draw.of("A30 A31 A32 A33 A34"),
            "purpose": draw.of("A40 A41 A42 A43 A44 A45 A46 A48 A49 A410"),
            "amount": draw.amounts(7.8, 0.8, ".0f"),
            "savings": draw.of("A61 A62 A63 A64 A65"),
            "rate": draw.of("1 2 3 4", (14, 23, 16, 47)),
            "age": draw.whole(19, 75),
            "credits": draw.of("1 2 3 4", (63, 33, 3, 0.6)),
            "phone": draw.of("A191 A192"),
            "class": draw.of("1 2", (70, 30)),
        },
        truth={
            "checking": "category",
            "duration": "number",
            "history": "category",
            "purpose": "category",
            "amount": "number",
            "savings": "category",
            "rate": "number|category",
            "age": "number 19..75",
            "credits": "number|category",
            "phone": "category",
            "class": "category",
        },
    )


def heart() -> Layout:
    """UCI Heart Disease, Cleveland: points behind whole numbers, ? for what is missing."""
    draw = Draw(25)
    return Layout(
        columns={
            "age": [f"{a}.0" for a in draw.whole(29, 77)],
            "sex": draw.of("0.0 1.0"),
            "cp": draw.of("1.0 2.0 3.0 4.0", (8, 16, 28, 48)),
            "trestbps": [f"{a}.0" for a in draw.whole(94, 200)],
            "chol": [f"{a}.0" for a in draw.normal(246, 50, ".0f")],
            "restecg": draw.of("0.0 1.0 2.0", (50, 1, 49)),
            "oldpeak": draw.amounts(0, 0.7, ".1f"),
            "ca": draw.some(draw.of("0.0 1.0 2.0 3.0", (58, 22, 13, 7)), "?", 0.02),
            "thal": draw.some(draw.of("3.0 6.0 7.0", (55, 6, 39)), "?", 0.01),
            "num": draw.of("0 1 2 3 4", (54, 18, 12, 12, 4)),
        },
        truth={
            "age": "number 29..77",
            "sex": "category",
            "cp": "number|category",
            "trestbps": "number 94..200",
            "chol": "number",
            "restecg": "category",
            "oldpeak": "number",
            "ca": "number|category null ?",
            "thal": "category null ?",
            "num": "number|category",
        },
    )


def covertype() -> Layout:
    """UCI Covertype: distances, angles, indicators of 0 and 1, seven kinds of forest."""
    draw = Draw(26)
    return Layout(
        columns={
            "Elevation": draw.normal(2959, 280, ".0f"),
            "Aspect": draw.whole(0, 360),
            "Slope": draw.counts(14),
            "Horizontal_Distance_To_Hydrology": draw.amounts(5.3, 0.8, ".0f"),
            "Vertical_Distance_To_Hydrology": draw.normal(46, 58, ".0f"),
            "Hillshade_9am": draw.normal(212, 14, ".0f"),
            "Wilderness_Area1": draw.of("0 1"),
            "Soil_Type1": draw.of("0 1", (98, 2)),
            "Cover_Type": draw.of("1 2 3 4 5 6 7", (36, 49, 6, 0.6, 1.6, 3, 3.8)),
        },
        truth={
            "Elevation": "number",
            "Aspect": "number 0..360",
            "Slope": "number",
            "Horizontal_Distance_To_Hydrology": "number",
            "Vertical_Distance_To_Hydrology": "number",
            "Hillshade_9am": "number",
            "Wilderness_Area1": "category",
            "Soil_Type1": "category",
            "Cover_Type": "category",
        },
    )


def wine() -> Layout:
    """UCI Wine Quality: semicolons, decimal points, a grade."""
    draw = Draw(27)
    return Layout(
        delimiter=";",
        columns={
            "fixed acidity": draw.normal(8.3, 1.2),
            "volatile acidity": draw.normal(0.53, 0.1, ".2f"),
            "density": draw.normal(0.9967, 0.002, ".5f"),
            "pH": draw.normal(3.3, 0.15, ".2f"),
            "alcohol": draw.normal(10.4, 1.0),
            "quality": draw.of("3 4 5 6 7 8", (0.6, 3, 43, 40, 12, 1)),
        },
        truth={
            "fixed acidity": "number",
            "volatile acidity": "number",
            "density": "number",
            "pH": "number",
            "alcohol": "number",
            "quality": "number",
        },
        csv={"delimiter": ";"},
    )


def german_export() -> Layout:
    """A German export: lines of a heading, semicolons, decimal commas, amounts with points and a currency, cp1252."""
    draw = Draw(28)
    return Layout(
        delimiter=";",
        encoding="cp1252",
        newline="\r\n",
        preamble="Auswertung Kündigungen\nStand: 31.12.2023\n\n",
        columns={
            "Kunden-Nr.": draw.numbered("{}", 300411),
            "PLZ": draw.of([f"{p:05d}" for p in range(1067, 99000, 1513)]),
            "Ort": draw.of("München Köln Düsseldorf Würzburg Leipzig"),
            "Geschlecht": draw.of("männlich weiblich divers"),
            "Geburtsdatum": draw.days("1940-01-01", 22000, "%d.%m.%Y"),
            "Größe": [one.replace(".", ",") for one in draw.normal(172.5, 9, ".1f")],
            "Umsatz": [f"{german_number(one)} €" for one in draw.amounts(7, 1.0)],
            "Rabatt": [f"{one.replace('.', ',')} %" for one in draw.normal(7, 1.5, ".1f")],
            "Zufriedenheit": draw.of(["sehr gut", "gut", "befriedigend", "schlecht", "k. A."]),
            "Gekündigt": draw.of("ja nein"),
            "Anzahl Verträge": draw.counts(1.5, 1),
            "Bemerkung": draw.sentences(7),
        },
        truth={
            "Kunden-Nr.": "id",
            "PLZ": "hierarchy",
            "Ort": "category",
            "Geschlecht": "category",
            "Geburtsdatum": "date",
            "Größe": "number",
            "Umsatz": "number",
            "Rabatt": "number",
            "Zufriedenheit": "category",
            "Gekündigt": "category",
            "Anzahl Verträge": "number|category",
            "Bemerkung": "text",
        },
        csv={"delimiter": ";", "decimal": ",", "encoding": "cp1252"},
    )


def french_export() -> Layout:
    """A French export: UTF-8 with a mark, semicolons, spaces between thousands, departments, oui and non."""
    draw = Draw(29)
    return Layout(
        delimiter=";",
        encoding="utf-8-sig",
        newline="\r\n",
        columns={
            "identifiant": draw.numbered("FR{:06d}"),
            "date_naissance": draw.days("1940-01-01", 22000, "%d/%m/%Y"),
            "sexe": draw.of("H F"),
            "code_postal": draw.of([f"{p:05d}" for p in range(1000, 95900, 1310)]),
            "département": draw.of("01 13 33 59 69 75 2A 974"),
            "revenu": [
                f"{float(one):,.2f}".replace(",", "\u202f").replace(".", ",") + " €"
                for one in draw.amounts(10, 0.6)
            ],
            "taux": [one.replace(".", ",") for one in draw.normal(3.5, 0.6, ".2f")],
            "propriétaire": draw.of("oui non"),
            "réponse": draw.of(["d'accord", "pas d'accord", "ne sait pas", "sans objet"]),
            "enfants": draw.counts(1.4),
        },
        truth={
            "identifiant": "id",
            "date_naissance": "date",
            "sexe": "category",
            "code_postal": "hierarchy",
            "département": "category",
            "revenu": "number",
            "taux": "number",
            "propriétaire": "category",
            "réponse": "category",
            "enfants": "number",
        },
        csv={"delimiter": ";", "decimal": ","},
    )


def japanese_export() -> Layout:
    """A Japanese export in Shift-JIS: dates with year, month and day, yen with commas, prefectures."""
    draw = Draw(30)
    return Layout(
        encoding="cp932",
        newline="\r\n",
        quoting=csv.QUOTE_ALL,
        columns={
            "患者番号": draw.numbered("P{:06d}"),
            "性別": draw.of("男性 女性"),
            "生年月日": [f"{d[:4]}年{int(d[5:7])}月{int(d[8:])}日" for d in draw.days("1940-01-01", 22000)],
            "都道府県": draw.of("東京都 大阪府 北海道 福岡県 愛知県"),
            "郵便番号": draw.of([f"{a:03d}-{b:04d}" for a in range(100, 900, 45) for b in (1, 24, 811)]),
            "医療費": [f"{int(one):,}円" for one in draw.amounts(10, 1.0, ".0f")],
            "年齢": draw.whole(0, 99),
            "喫煙": draw.of("はい いいえ 無回答"),
        },
        truth={
            "患者番号": "id",
            "性別": "category",
            "生年月日": "date",
            "都道府県": "category",
            "郵便番号": "hierarchy",
            "医療費": "number",
            "年齢": "number 0..99",
            "喫煙": "category null 無回答",
        },
        csv={"encoding": "cp932"},
    )


def taxi() -> Layout:
    """New York's yellow taxis: zones that are called ID, and are none of anybody."""
    draw = Draw(31, 1500)
    return Layout(
        columns={
            "VendorID": draw.of("1 2"),
            "tpep_pickup_datetime": draw.moments(),
            "passenger_count": draw.some(draw.of("0 1 2 3 4 5 6", (2, 70, 15, 4, 2, 4, 3)), "", 0.02),
            "trip_distance": draw.amounts(0.6, 0.9),
            "RatecodeID": draw.of("1 2 3 4 5 99", (95, 3, 0.5, 0.3, 1, 0.2)),
            "store_and_fwd_flag": draw.of("N Y", (99, 1)),
            "PULocationID": draw.whole(1, 265),
            "DOLocationID": draw.whole(1, 265),
            "payment_type": draw.of("1 2 3 4", (70, 28, 1, 1)),
            "fare_amount": draw.amounts(2.3, 0.6),
            "tip_amount": draw.some(draw.amounts(0.7, 0.7), "0", 0.35),
            "congestion_surcharge": draw.of("0 2.5"),
        },
        truth={
            "VendorID": "category",
            "tpep_pickup_datetime": "date",
            "passenger_count": "number|category",
            "trip_distance": "number",
            "RatecodeID": "category",
            "store_and_fwd_flag": "category",
            "PULocationID": "code",
            "DOLocationID": "code",
            "payment_type": "category",
            "fare_amount": "number",
            "tip_amount": "number",
            "congestion_surcharge": "number|category",
        },
    )


def lending_club() -> Layout:
    """LendingClub's loans: months by their names, percentages, blanks in front, ZIP codes of three digits."""
    draw = Draw(32)
    titles = [
        f"{a} {b}"
        for a in ("Senior", "Junior", "Lead", "Assistant", "Chief", "Deputy", "Night", "Head")
        for b in ("Nurse", "Teacher", "Driver", "Manager", "Clerk", "Engineer", "Cook", "Analyst", "Owner")
    ]
    return Layout(
        columns={
            "id": [
                str(int(one)) for one in draw.random.choice(99_999_999, draw.rows, replace=False) + 10_000_000
            ],
            "member_id": [""] * draw.rows,
            "loan_amnt": [str(int(one) * 25) for one in draw.random.integers(40, 1600, draw.rows)],
            "term": draw.of([" 36 months", " 60 months"]),
            "int_rate": [f" {one}%" for one in draw.normal(13, 2.5, ".2f")],
            "grade": draw.of("A B C D E F G"),
            "emp_title": draw.some(draw.of(titles), "", 0.1),
            "emp_length": draw.of(["< 1 year", "1 year", "2 years", "10+ years", "n/a"]),
            "home_ownership": draw.of("RENT OWN MORTGAGE ANY"),
            "annual_inc": draw.amounts(11, 0.6),
            "issue_d": draw.days("2012-01-01", 2200, "%b-%Y"),
            "purpose": draw.of("debt_consolidation credit_card car other"),
            "zip_code": draw.of([f"{z:03d}xx" for z in range(10, 990, 13)]),
            "addr_state": draw.of("CA NY TX ND FL"),
            "dti": draw.normal(18, 4, ".2f"),
            "earliest_cr_line": draw.days("1970-01-01", 15000, "%b-%Y"),
            "revol_util": [f"{one}%" for one in draw.normal(50, 12, ".1f")],
            "desc": draw.sentences(12),
            "loan_status": draw.of(["Fully Paid", "Charged Off", "Current"]),
        },
        truth={
            "id": "id",
            "member_id": "empty",
            "loan_amnt": "number",
            "term": "category",
            "int_rate": "number",
            "grade": "category",
            "emp_title": "category",
            "emp_length": "category",
            "home_ownership": "category",
            "annual_inc": "number",
            "issue_d": "date",
            "purpose": "category",
            "zip_code": "hierarchy",
            "addr_state": "category",
            "dti": "number",
            "earliest_cr_line": "date",
            "revol_util": "number",
            "desc": "text",
            "loan_status": "category",
        },
    )


def online_retail() -> Layout:
    """UCI Online Retail: invoices of several lines, articles with letters, newlines in texts."""
    draw = Draw(33, 1200)
    goods = [
        f"{a} {b} {c}"
        for a in ("WHITE", "RED", "BLUE", "SET OF 6", "VINTAGE")
        for b in ("HANGING", "METAL", "PAPER", "GLASS", "WOODEN", "RETROSPOT", "HEART")
        for c in ("LANTERN", "HOLDER", "SIGN", "BOX", "CUP", "CLOCK", "BAG\nLARGE")
    ]
    return Layout(
        columns={
            "InvoiceNo": [str(536365 + int(one)) for one in draw.random.integers(0, 400, draw.rows)],
            "StockCode": draw.of(
                [f"{n}{letter}" for n in range(20000, 23000, 40) for letter in ("", "A", "B")]
            ),
            "Description": draw.of(goods),
            "Quantity": draw.counts(9),
            "InvoiceDate": draw.moments("2010-12-01T00:00:00", "%m/%d/%Y %H:%M"),
            "UnitPrice": draw.amounts(0.9, 0.8),
            "CustomerID": draw.some(
                [f"{12346 + int(one)}.0" for one in draw.random.integers(0, 380, draw.rows)], "", 0.2
            ),
            "Country": draw.of("United_Kingdom France EIRE Germany"),
        },
        truth={
            "InvoiceNo": "id",
            "StockCode": "category|hierarchy|id",
            "Description": "category",
            "Quantity": "number",
            "InvoiceDate": "date",
            "UnitPrice": "number",
            "CustomerID": "id",
            "Country": "category",
        },
        csv={"quoted_newlines": True},
    )


def city_crimes() -> Layout:
    """Chicago's crimes: hours before and after noon, codes with letters, blocks of streets, true and false."""
    draw = Draw(34)
    return Layout(
        columns={
            "ID": draw.numbered("{}", 10224738),
            "Case Number": draw.numbered("HY{:06d}", 411648),
            "Date": draw.moments(form="%m/%d/%Y %I:%M:%S %p"),
            "Block": [
                f"{n}XX {s} ST"
                for n, s in zip(
                    draw.whole(1, 130, "03d"),
                    draw.of("S WOOD,N CICERO,W LAKE,E MAIN,S HALSTED".split(",")),
                    strict=True,
                )
            ],
            "IUCR": draw.of("0486 0870 0810 2023 0560 1320 0460 141A 0820 1811 502R"),
            "Primary Type": draw.of("BATTERY THEFT NARCOTICS ASSAULT"),
            "Arrest": draw.of("true false"),
            "Beat": draw.of([f"{b:04d}" for b in range(111, 2535, 40)]),
            "District": draw.of([f"{d:03d}" for d in range(1, 26)]),
            "Ward": draw.whole(1, 50),
            "FBI Code": draw.of("08B 06 18 05 08A 26 07 03 11 17"),
            "X Coordinate": draw.some(draw.normal(1165000, 9000, ".0f"), "", 0.05),
            "Year": draw.of("2015 2016 2017 2018"),
            "Latitude": draw.normal(41.8, 0.08, ".9f"),
            "Location": [
                f"({a}, {b})"
                for a, b in zip(draw.normal(41.8, 0.08, ".9f"), draw.normal(-87.6, 0.06, ".9f"), strict=True)
            ],
        },
        truth={
            "ID": "id",
            "Case Number": "id",
            "Date": "date",
            "Block": "text|category",
            "IUCR": "code",
            "Primary Type": "category",
            "Arrest": "category",
            "Beat": "code",
            "District": "code",
            "Ward": "code",
            "FBI Code": "category|hierarchy",
            "X Coordinate": "number",
            "Year": "number|category",
            "Latitude": "number",
            "Location": "text|id",
        },
    )


def titanic() -> Layout:
    """The passengers of the Titanic, with an index column without a name."""
    draw = Draw(35)
    return Layout(
        columns={
            "": draw.numbered("{}", 0),
            "PassengerId": draw.numbered(),
            "Survived": draw.of("0 1"),
            "Pclass": draw.of("1 2 3", (24, 21, 55)),
            "Name": [
                f"{n}, Mr. {a} {place}"
                for place, (n, a) in enumerate(
                    zip(draw.of("Braund Heikkinen Allen Moran"), draw.of("Owen William James"), strict=True)
                )
            ],
            "Sex": draw.of("male female"),
            "Age": draw.some(draw.normal(30, 9, ".0f"), "", 0.2),
            "SibSp": draw.counts(0.5),
            "Ticket": [
                f"{p}{n}"
                for p, n in zip(
                    draw.of(["A/5 ", "PC ", "", "STON/O2. "]), draw.whole(10000, 350000), strict=True
                )
            ],
            "Fare": draw.amounts(3, 0.9, ".4f"),
            "Cabin": draw.some(
                [f"{c}{n}" for c, n in zip(draw.of("A B C D E"), draw.whole(1, 148), strict=True)], "", 0.77
            ),
            "Embarked": draw.of("S C Q"),
        },
        truth={
            "": "empty",
            "PassengerId": "id",
            "Survived": "category",
            "Pclass": "number|category",
            "Name": "text",
            "Sex": "category",
            "Age": "number",
            "SibSp": "number|category",
            "Ticket": "text|id",
            "Fare": "number",
            "Cabin": "id|text|category|hierarchy",
            "Embarked": "category",
        },
    )


OTHERS = (
    mimic,
    synthea,
    adult,
    bank,
    german_credit,
    heart,
    covertype,
    wine,
    german_export,
    french_export,
    japanese_export,
    taxi,
    lending_club,
    online_retail,
    city_crimes,
    titanic,
)

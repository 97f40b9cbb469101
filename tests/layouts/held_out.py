"""Layouts written after the rules; what they showed the first time is in the commit that brought them."""

from __future__ import annotations

import csv

from tests.layouts.layout import Draw, Layout
from tests.layouts.others import german_number


def flights() -> Layout:
    """The on-time performance of the Bureau of Transportation Statistics: times as hhmm, airports, cancellations."""
    draw = Draw(50)
    times = [
        f"{h:02d}{m:02d}"
        for h, m in zip(
            draw.random.integers(5, 24, draw.rows), draw.random.integers(0, 60, draw.rows), strict=True
        )
    ]
    return Layout(
        quoting=csv.QUOTE_NONNUMERIC,
        columns={
            "YEAR": draw.of("2019"),
            "DAY_OF_WEEK": draw.whole(1, 7),
            "FL_DATE": draw.days("2019-01-01", 31, "%-m/%-d/%Y 12:00:00 AM"),
            "OP_UNIQUE_CARRIER": draw.of("WN AA DL UA 9E B6"),
            "TAIL_NUM": [
                f"N{n}{letter}W" for n, letter in zip(draw.whole(100, 999), draw.of("A B C"), strict=True)
            ],
            "OP_CARRIER_FL_NUM": draw.whole(1, 6500),
            "ORIGIN_AIRPORT_ID": draw.of("10397 11298 12892 13930 14107 14771 12478"),
            "ORIGIN": draw.of("ATL DFW LAX ORD JFK"),
            "CRS_DEP_TIME": times,
            "DEP_DELAY": draw.some(draw.normal(9, 30, ".2f"), "", 0.02),
            "CANCELLED": draw.of("0.00 1.00", (98, 2)),
            "CANCELLATION_CODE": draw.some(draw.of("A B C"), "", 0.97),
            "DISTANCE": draw.amounts(6.4, 0.6),
            "DISTANCE_GROUP": draw.whole(1, 11),
        },
        truth={
            "YEAR": "number|category",
            "DAY_OF_WEEK": "number|category",
            "FL_DATE": "date",
            "OP_UNIQUE_CARRIER": "category",
            "TAIL_NUM": "id",
            "OP_CARRIER_FL_NUM": "number|id|category",
            "ORIGIN_AIRPORT_ID": "code",
            "ORIGIN": "category",
            "CRS_DEP_TIME": "code|number",
            "DEP_DELAY": "number",
            "CANCELLED": "category",
            "CANCELLATION_CODE": "category",
            "DISTANCE": "number",
            "DISTANCE_GROUP": "number|category",
        },
    )


def road_accidents() -> Layout:
    """Great Britain's STATS19: -1 for what is not known, times with a colon, codes of highways and areas."""
    draw = Draw(51)
    return Layout(
        columns={
            "accident_index": draw.numbered("2019{:09d}", 10128300),
            "location_easting_osgr": draw.normal(451000, 90000, ".0f"),
            "longitude": draw.normal(-1.3, 1.2, ".6f"),
            "police_force": draw.of("1 3 4 5 6 7 10 11 12 13 14 20"),
            "accident_severity": draw.of("1 2 3", (1.4, 19, 79)),
            "number_of_vehicles": draw.counts(0.9, 1),
            "date": draw.days("2019-01-01", 365, "%d/%m/%Y"),
            "day_of_week": draw.whole(1, 7),
            "time": [
                f"{h:02d}:{m:02d}"
                for h, m in zip(
                    draw.random.integers(0, 24, draw.rows),
                    draw.random.integers(0, 60, draw.rows),
                    strict=True,
                )
            ],
            "local_authority_highway": draw.of([f"E0900{n:04d}" for n in range(1, 33)]),
            "road_type": draw.of("1 2 3 6 7 9", (7, 2, 15, 73, 1, 3)),
            "speed_limit": draw.of("20 30 40 50 60 70 -1", (12, 57, 8, 4, 13, 6, 0.6)),
            "junction_control": draw.of("-1 1 2 3 4 9", (42, 0.5, 10, 0.8, 44, 3)),
            "weather_conditions": draw.of("1 2 3 4 5 6 7 8 9", (78, 12, 0.5, 1.3, 1.4, 0.2, 0.5, 3, 4)),
            "lsoa_of_accident_location": draw.some(
                draw.of([f"E0100{n:04d}" for n in range(1, 4000, 90)]), "", 0.05
            ),
        },
        truth={
            "accident_index": "id",
            "location_easting_osgr": "number",
            "longitude": "number",
            "police_force": "code|number",
            "accident_severity": "number|category",
            "number_of_vehicles": "number",
            "date": "date",
            "day_of_week": "number|category",
            "time": "text",
            "local_authority_highway": "code",
            "road_type": "category",
            "speed_limit": "number|category null -1",
            "junction_control": "category",
            "weather_conditions": "category",
            "lsoa_of_accident_location": "code",
        },
    )


def enem() -> Layout:
    """Brazil's school examination: Latin-1, semicolons, answers A to Q, municipalities of seven digits."""
    draw = Draw(52)
    return Layout(
        delimiter=";",
        encoding="latin-1",
        columns={
            "NU_INSCRICAO": draw.numbered("{}", 190001004624),
            "TP_FAIXA_ETARIA": draw.of(
                "1 2 3 4 5 6 7 8 9 10 11 12 13", (6, 20, 23, 12, 8, 5, 4, 3, 3, 2, 8, 4, 2)
            ),
            "TP_SEXO": draw.of("F M"),
            "TP_COR_RACA": draw.of("0 1 2 3 4 5", (2, 36, 13, 46, 2.3, 0.7)),
            "CO_MUNICIPIO_RESIDENCIA": draw.of([f"{c:07d}" for c in range(1100015, 5300108, 91000)]),
            "NO_MUNICIPIO_RESIDENCIA": draw.of(["São Paulo", "Brasília", "Belém", "Goiânia"]),
            "SG_UF": draw.of("SP DF PA GO"),
            "NU_NOTA_CN": draw.some(draw.normal(478, 76, ".1f"), "", 0.25),
            "TP_LINGUA": draw.of("0 1"),
            "Q005": draw.counts(3, 1),
            "Q006": draw.of("A B C D E F G H"),
            "TP_PRESENCA_CN": draw.of("0 1 2", (27, 73, 0.3)),
        },
        truth={
            "NU_INSCRICAO": "id",
            "TP_FAIXA_ETARIA": "number|category",
            "TP_SEXO": "category",
            "TP_COR_RACA": "category",
            "CO_MUNICIPIO_RESIDENCIA": "code",
            "NO_MUNICIPIO_RESIDENCIA": "category",
            "SG_UF": "category",
            "NU_NOTA_CN": "number",
            "TP_LINGUA": "category",
            "Q005": "number|category",
            "Q006": "category",
            "TP_PRESENCA_CN": "category|number",
        },
        csv={"delimiter": ";", "encoding": "cp1252"},
    )


def telco_churn() -> Layout:
    """IBM's customers of a telephone company: Yes, No and "No internet service", a blank among the totals."""
    draw = Draw(53)
    return Layout(
        columns={
            "customerID": [
                f"{a}-{b}"
                for a, b in zip(
                    draw.whole(1000, 9999), draw.tokens("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 5), strict=True
                )
            ],
            "gender": draw.of("Female Male"),
            "SeniorCitizen": draw.of("0 1"),
            "Partner": draw.of("Yes No"),
            "tenure": draw.whole(0, 72),
            "OnlineSecurity": draw.of(["Yes", "No", "No internet service"]),
            "Contract": draw.of(["Month-to-month", "One year", "Two year"]),
            "MonthlyCharges": draw.normal(64, 20, ".2f"),
            "TotalCharges": draw.some(draw.amounts(7, 1.0), " ", 0.02),
            "Churn": draw.of("Yes No"),
        },
        truth={
            "customerID": "id",
            "gender": "category",
            "SeniorCitizen": "category",
            "Partner": "category",
            "tenure": "number 0..72",
            "OnlineSecurity": "category",
            "Contract": "category",
            "MonthlyCharges": "number",
            "TotalCharges": "number",
            "Churn": "category",
        },
    )


def airbnb() -> Layout:
    """Listings of Inside Airbnb: prices with signs, percentages, t and f, texts with newlines, lists."""
    draw = Draw(54)
    return Layout(
        columns={
            "id": [str(int(one)) for one in draw.random.choice(40_000_000, draw.rows, replace=False) + 2000],
            "listing_url": draw.numbered("https://www.example.org/rooms/{}", 2000),
            "last_scraped": draw.of("2019-09-19 2019-09-20"),
            "name": draw.sentences(5),
            "description": [one.replace(" was ", ",\nwas ") for one in draw.sentences(20)],
            "host_id": [str(3000 + 17 * int(one)) for one in draw.random.integers(0, 450, draw.rows)],
            "host_since": draw.days("2009-01-01", 3500),
            "host_response_rate": draw.some([f"{n}%" for n in draw.whole(40, 100)], "N/A", 0.2),
            "host_is_superhost": draw.of("t f"),
            "neighbourhood_cleansed": draw.of("Mitte Pankow Neukölln Spandau"),
            "zipcode": draw.of([f"{z}" for z in range(10115, 14199, 61)]),
            "room_type": draw.of(["Entire home/apt", "Private room", "Shared room"]),
            "accommodates": draw.counts(2, 1),
            "bathrooms": draw.of("1.0 1.5 2.0 0.5"),
            "amenities": [
                "{"
                + ",".join(
                    sorted(
                        set(
                            draw.random.choice(
                                ["TV", "Wifi", "Kitchen", "Heating", "Washer", "Elevator", "Dryer", "Iron"], 6
                            )
                        )
                    )
                )
                + "}"
                for _ in range(draw.rows)
            ],
            "price": [f"${float(one):,.2f}" for one in draw.amounts(4.2, 0.7)],
            "security_deposit": draw.some([f"${float(one):,.2f}" for one in draw.amounts(5, 0.6)], "", 0.4),
            "review_scores_rating": draw.some(draw.whole(60, 100), "", 0.2),
        },
        truth={
            "id": "id",
            "listing_url": "id|text",
            "last_scraped": "date",
            "name": "text",
            "description": "text",
            "host_id": "id",
            "host_since": "date",
            "host_response_rate": "number null N/A",
            "host_is_superhost": "category",
            "neighbourhood_cleansed": "category",
            "zipcode": "hierarchy",
            "room_type": "category",
            "accommodates": "number|category",
            "bathrooms": "number",
            "amenities": "text|category",
            "price": "number",
            "security_deposit": "number",
            "review_scores_rating": "number 60..100",
        },
        csv={"quoted_newlines": True},
    )


def medicare_claims() -> Layout:
    """CMS's synthetic claims: dates of eight digits, ICD-9 and HCPCS codes, 1 and 2 for yes and no."""
    draw = Draw(55)
    return Layout(
        columns={
            "DESYNPUF_ID": [
                f"{int(one):016X}"
                for one in draw.random.choice(2**50, 250)[draw.random.integers(0, 250, draw.rows)]
            ],
            "CLM_ID": draw.numbered("{}", 887733386680966),
            "CLM_FROM_DT": draw.days("2008-01-01", 1000, "%Y%m%d"),
            "BENE_DEATH_DT": draw.some(draw.days("2008-01-01", 1000, "%Y%m%d"), "", 0.95),
            "BENE_SEX_IDENT_CD": draw.of("1 2"),
            "BENE_RACE_CD": draw.of("1 2 3 5", (83, 10, 4, 3)),
            "BENE_ESRD_IND": draw.of("0 Y", (93, 7)),
            "SP_STATE_CODE": draw.of([f"{s:02d}" for s in range(1, 54)]),
            "BENE_COUNTY_CD": draw.of([f"{s:03d}" for s in range(0, 990, 30)]),
            "SP_DIABETES": draw.of("1 2"),
            "ICD9_DGNS_CD_1": draw.of(
                "4019 25000 V5869 78079 2724 7197 4280 E8889 42731 496 2859 5990 V5883 7242 78650 41401"
            ),
            "HCPCS_CD_1": draw.of(
                "99213 99214 36415 85025 G0008 J3420 80053 99232 93010 97110 A4259 71020 99215"
            ),
            "CLM_PMT_AMT": draw.amounts(6, 1.2, ".2f"),
            "PLAN_CVRG_MOS_NUM": draw.of("0 12 6 3", (30, 60, 5, 5)),
        },
        truth={
            "DESYNPUF_ID": "id",
            "CLM_ID": "id",
            "CLM_FROM_DT": "date",
            "BENE_DEATH_DT": "date",
            "BENE_SEX_IDENT_CD": "category",
            "BENE_RACE_CD": "category|number",
            "BENE_ESRD_IND": "category",
            "SP_STATE_CODE": "code",
            "BENE_COUNTY_CD": "code",
            "SP_DIABETES": "category",
            "ICD9_DGNS_CD_1": "code",
            "HCPCS_CD_1": "code",
            "CLM_PMT_AMT": "number",
            "PLAN_CVRG_MOS_NUM": "number|category",
        },
    )


def soep() -> Layout:
    """A German household panel in tabs: -1 and -2 for no answer, decimal commas, ISCO and NACE."""
    draw = Draw(56)
    return Layout(
        delimiter="\t",
        encoding="utf-16",
        newline="\r\n",
        columns={
            "pid": [str(1001 + 3 * int(one)) for one in draw.random.integers(0, 250, draw.rows)],
            "syear": draw.of("2014 2015 2016 2017"),
            "hid": [str(20002 + 5 * int(one)) for one in draw.random.integers(0, 180, draw.rows)],
            "geschlecht": draw.of("1 2"),
            "gebjahr": draw.whole(1920, 1999),
            "bundesland": draw.of([f"{s:02d}" for s in range(1, 17)]),
            "plh0182": draw.of(
                "-1 0 1 2 3 4 5 6 7 8 9 10", (0.8, 0.5, 0.4, 1, 2.4, 3, 10, 11, 22, 31, 12, 5)
            ),
            "pglabnet": draw.some(
                draw.some([german_number(one) for one in draw.amounts(7.4, 0.6)], "-2", 0.4), "-1", 0.03
            ),
            "isco08": draw.some(
                draw.of("1120 2211 2330 2411 3221 3313 4110 4321 5120 5223 7231 8332 9112 9333"), "-2", 0.3
            ),
            "nace2": draw.some(draw.of("1 10 28 41 47 49 56 62 64 84 85 86 87 88"), "-2", 0.3),
            "hlc0005": draw.some([german_number(one) for one in draw.amounts(7.8, 0.5)], "", 0.05),
            "familienstand": draw.of("1 2 3 4 5 -1", (52, 3, 30, 9, 6, 0.5)),
        },
        truth={
            "pid": "id",
            "syear": "number|category",
            "hid": "id",
            "geschlecht": "category",
            "gebjahr": "number 1920..1999",
            "bundesland": "code",
            "plh0182": "number|category",
            "pglabnet": "number",
            "isco08": "code",
            "nace2": "code",
            "hlc0005": "number",
            "familienstand": "category",
        },
        csv={"encoding": "utf-16", "delimiter": "\t", "decimal": ","},
    )


def spanish_registry() -> Layout:
    """A register from Spain: dates with names of months, amounts with a sign, DNI, districts, comment lines."""
    draw = Draw(57)
    months = (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
    )
    return Layout(
        delimiter=";",
        preamble="# Padrón municipal\n# Fecha: 2023\n",
        columns={
            "DNI": [
                f"{n}{letter}"
                for n, letter in zip(draw.whole(10000000, 79999999), draw.of("A B C D E F"), strict=True)
            ],
            "fecha_nacimiento": [
                f"{d[8:]} {months[int(d[5:7]) - 1]} {d[:4]}" for d in draw.days("1940-01-01", 22000)
            ],
            "sexo": draw.of("Hombre Mujer"),
            "nacionalidad": draw.of("española rumana marroquí ecuatoriana"),
            "codigo_postal": draw.of([f"{z:05d}" for z in range(28001, 28055)]),
            "distrito": draw.of("01 02 03 04 05 06"),
            "renta": [f"{german_number(one)} €" for one in draw.amounts(9.8, 0.5)],
            "vivienda": draw.of(["propia", "alquiler", "no contesta"]),
            "personas": draw.counts(1.5, 1),
            "alta": draw.days("2000-01-01", 8000, "%d-%m-%Y"),
        },
        truth={
            "DNI": "id",
            "fecha_nacimiento": "date",
            "sexo": "category",
            "nacionalidad": "category",
            "codigo_postal": "code",
            "distrito": "code",
            "renta": "number",
            "vivienda": "category",
            "personas": "number|category",
            "alta": "date",
        },
        csv={"delimiter": ";", "skip": 2},
    )


HELD_OUT = {
    make.__name__: make
    for make in (flights, road_accidents, enem, telco_churn, airbnb, medicare_claims, soep, spanish_registry)
}

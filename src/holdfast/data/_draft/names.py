"""What the name of a column says about it: an identifier, a code, or something counted or measured.

A name is split into words (`PULocationID` is pu, location and id), and the words are looked up in lists of
words that people use for such columns in any table, in English, German, French and Spanish.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]+")
_HUMPS = re.compile(r"(?<=[a-zäöüßé])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Last words of names of identifiers.
_NUMBERING = _words(
    "id ids nr no number key uuid guid identifier nummer kennung kennziffer kennzeichen numero numéro "
    "identifiant clave ssn mrn passport drivers license iban email mail phone telephone telefon imei token "
    "hash url uri"
)
#: People and things that may have several rows.
_PEOPLE = _words(
    "customer patient user person client account pupil student visitor session reader member borrower "
    "employee respondent participant subscriber policyholder household tenant subject case record serial seqn "
    "encounter invoice order kunde fall schüler versicherter mitarbeiter proband usuario cliente paciente "
    "élève"
)
_ID_WORDS = re.compile(r"(id|nr|nummer|number|kennung|serialno|caseno|recordno|seqno|orderno)$")
_NO_ID = re.compile(
    r"(paid|bid|aid|valid|covid|grid|acid|solid|rapid|mid|liquid|fluid|hybrid|said|kid|lid|rid|void|oid|humid|arid|lipid)$"
)
#: Kinds of things of which there are few beside the rows: their numbers are codes.
_CODES = _words(
    "code codes type typ kind class classe klasse category categories kategorie catégorie cat group gruppe "
    "groupe status état race ethnicity ethnic hispanic origin sex gender geschlecht sexe sexo marital "
    "familienstand tenure occupation occ industry naics soc sic isco isic nace cpv icd dx diag diagnosis "
    "diagnose drg cpt hcpcs atc ndc fips state county region division district zip zipcode postcode postal "
    "postalcode plz postleitzahl cp post puma msa cbsa tract nuts bundesland kreis gemeinde commune "
    "département departement provincia province municipio municipality cd cod codigo código prefecture city "
    "country land pays nationality nation citizenship language religion relationship relation relate purpose "
    "reason method mode channel colour color farbe party location zone vendor store shop filiale product "
    "produkt produit brand marke model department dept abteilung branch station route terminal flag indicator "
    "employment beruf branche housing degree specialty service ward unit carrier airline airport species "
    "strain genre segment sector cluster cause"
)
_CODE_PARTS = re.compile(
    r"(fips|naics|icd|nuts|isco|nace)|^(zip|plz|postal|postleit|postcode)|(code|codes|typ|type|kategorie|status|schlüssel|"
    r"schluessel|gruppe|klasse|geschlecht)$"
)
#: Words of counts and measurements, which are numbers however few values they have.
_MEASURES = _words(
    "count counts cnt num anzahl nombre nb cantidad age ages alter âge edad year years yr yrs jahr jahre "
    "année années año hour hours hrs stunde stunden day days tag tage month months monat monate mois week "
    "weeks minute minutes minuten second seconds duration dauer durée amount amt betrag montant importe price "
    "preis prix precio cost costs kosten coût income salary wage wages earnings einkommen gehalt lohn revenu "
    "salaire revenue sales umsatz quantity qty menge quantité total sum summe balance weight gewicht poids "
    "peso height größe taille length länge width breite depth area fläche surface distance distanz entfernung "
    "rooms zimmer bedrooms bathrooms children kinder enfants persons people personen size score points rate "
    "ratio share percent percentage pct prozent temperature temp temperatur speed pressure bmi population "
    "visits fare tip tax fee fees charge charges claims rating stars rank items lat latitude lon lng long "
    "longitude altitude elevation frequency volume capacity power level index"
)
_TIMES = _words("time timestamp ts epoch unixtime date datetime zeit zeitpunkt datum heure")
_AT_FRONT = _words("n num nb number count anzahl nombre cantidad")


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name, in small letters.

    >>> name_words("PULocationID"), name_words("zip_code 5"), name_words("RAC1P")
    (('pu', 'location', 'id'), ('zip', 'code'), ('rac', 'p'))
    """
    return tuple(word.lower() for word in _WORD.findall(_HUMPS.sub(" ", name)))


def says_measure(name: str) -> bool:
    """Whether the name is that of something counted or measured.

    >>> [says_measure(name) for name in ("Number of children", "weekly_hours", "account number", "age_group")]
    [True, True, False, False]
    """
    parts = name_words(name)
    if says_code(name):
        return False
    return bool(parts) and (parts[0] in _AT_FRONT or bool(_MEASURES & set(parts)))


def says_code(name: str) -> bool:
    """Whether the name is that of a code: of a place, a group, a kind of thing.

    >>> [says_code(name) for name in ("zipcode", "PULocationID", "area", "status", "number_of_states", "home_town")]
    [True, True, False, True, False, False]
    """
    parts = name_words(name)
    if not parts or parts[0] in _AT_FRONT or parts[-1] in _MEASURES - _CODES:
        return False
    return any(word in _CODES or _CODE_PARTS.search(word) is not None for word in parts)


def says_identifier(name: str) -> bool:
    """Whether the name is that of an identifier of people or rows; the number of a place or a kind is a code.

    >>> [says_identifier(name) for name in ("patient_id", "SERIALNO", "amount_paid", "PULocationID", "num_children")]
    [True, True, False, False, False]
    """
    parts = name_words(name)
    if not parts or (parts[0] in _AT_FRONT and len(parts) > 1):
        return False
    last = parts[-1]
    if parts[-2:] == ("no", "show") or (says_code(name) and last not in _PEOPLE):
        return False
    ends = _ID_WORDS.search(last) is not None and _NO_ID.search(last) is None
    return last in _NUMBERING or last in _PEOPLE or ends


def says_time(name: str) -> bool:
    """Whether the name is that of a moment."""
    return bool(_TIMES & set(name_words(name)))

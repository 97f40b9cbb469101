"""Whether the name of a column says that it identifies a person, in several languages.

Names are public and values are not, so candidates for the privacy unit are looked for by name first. A name is split
into words (`numPatient`, `NUM_PATIENT` and `Patienten-Nr.` alike). Names with a word of a measure do not count, such
as `patient_age`, `client_count` or `number of rooms`.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from itertools import pairwise


class Likeness(IntEnum):
    """How much a name says that a column names a person."""

    none = 0
    identifier = 1
    """It identifies something: `id`, `order_no`."""
    person = 2
    """It names a person or household, without a word for a number: `customer`, `household`."""
    person_identifier = 3
    """It identifies a person, or a household: `patient_id`, `SERIALNO`, `Kundennummer`."""


#: People, and what stands for one (a household, an account, a case of a survey).
PERSONS = frozenset(
    """
    person patient customer client user member pupil student visitor reader borrower employee respondent participant
    subscriber policyholder household tenant subject individual worker resident voter donor claimant beneficiary
    enrollee insured taxpayer citizen applicant candidate child mother father parent teacher staff physician doctor
    player passenger driver owner buyer seller guest account card consumer prisoner inmate defendant offender
    suspect victim case panelist family policy contract subscription meter device phone telephone telefon hh cust
    usr emp stud resp subj subject bene pat mbr serial participants patients

    patienten patientin kunde kunden kundin nutzer benutzer mitglied mitglieds mitglieder personen versicherter
    versicherten versicherte schuler schueler studierende studierenden mitarbeiter teilnehmer proband probanden
    haushalt haushalts fall konto vertrag vertrags burger buerger einwohner mieter leser besucher befragte befragten
    befragter personal matrikel police zahler gerat

    patiente personne individu adherent assure cliente salarie eleve etudiant menage foyer abonne usager
    beneficiaire allocataire habitant contribuable poliza polizza paciente persona usuario alumno estudiante
    empleado hogar socio miembro asegurado ciudadano afiliado beneficiario paziente utente assistito dipendente
    studente famiglia pessoa utilizador aluno funcionario domicilio segurado cidadao

    klant persoon gebruiker lid leerling medewerker huishouden deelnemer patients kund medlem medlems elev anstalld
    hushall deltagare pasient bruker ansatt pacjent klient osoba uzytkownik pracownik hasta musteri kisi kullanici
    """.split()
)
#: Words that mark an identifier.
MARKS = frozenset(
    """
    id ids ident identifier identification identifiant identificador identificatore identificativo kennung kennzeichen
    nr no num number numero nummer numer key uuid guid pseudonym token schlussel clave chiave serial reference matricule
    """.split()
)
#: Marks that count as often as they identify, where they stand first or alone: `no_rooms`, `number`.
_COUNTS = frozenset("nr no num number numero nummer numer serial reference".split())
#: Marks beside a person only: a code of something else is a category.
_WEAK_MARKS = frozenset("code codigo codice kod kode ref hash index".split())
#: Names that identify a person as they are, of well known surveys and registers, too.
KNOWN = frozenset(
    """
    pid ppid upid uid pers persid idpers pidp pnr pernum cpsid cpsidp hhid hhidpn idhh idno idnum seqn seqno mrn
    empi ssn sin nino nhi niss insee nir cpf cnpj dni nif nie bsn aadhaar ahv svnr kvnr personnummer personnr
    fodselsnummer cpr pesel tckn email mail username login msisdn imei cookie passport iban enrolid newid masterid
    pcn mbi hicn acct custno fiscale nhs curp rut cedula nric mykad aadhar chi
    """.split()
)
#: Words beside a mark that make it a number of something else, or a measure.
_MEASURES = frozenset(
    """
    age sex gender count counts total sum mean avg type class group category status income score date year month day
    time name size rate price amount value weight weights height length share flag yn rooms children persons members
    people visits items rows of per bedrooms cars deaths births zip postal post plz area region district naics icd fips
    nuts sic isco code codes industry occupation diagnosis procedure country state county city language currency
    since segment level balance satisfaction test lab result alter geschlecht anzahl einkommen edad sexo anos
    """.split()
)
_FILLERS = frozenset(
    """
    the unique my our internal external national study source original anon anonymous anonymised anonymized pseudo
    pseudonymous encrypted hashed masked primary sys de du del della des der do da di la le el van von l d
    """.split()
)
_NAMES = frozenset(
    """
    name fullname surname lastname nachname vorname nom prenom nombre apellido apellidos cognome nome sobrenome naam
    achternaam namn firstname forename first last full given
    """.split()
)
#: Words that part a name, and are none by themselves.
_PARTS = frozenset("first last full given family".split())
_ENDINGS = ("nummern", "nummer", "number", "numero", "kennung", "schlussel", "nr", "no", "num", "id", "key")
_BEGINNINGS = ("numero", "num", "id", "no")
_CJK_PERSONS = """
    患者 顧客 会員 利用者 個人 社員 学生 世帯 契約者 受診者 被保険者
    病人 客户 用户 员工 환자 고객 회원 사용자
    """.split()
_CJK_MARKS = "番号 号码 编号 번호 id".split()
_WORD = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[A-Z])(?=[A-Z][a-z])")


def words_of(name: str) -> list[str]:
    """A name as words, in small letters and without accents; words that are written together are parted.

    >>> words_of("NUM_PATIENT"), words_of("numéroPatient"), words_of("Kundennr."), words_of("SERIALNO")
    (['num', 'patient'], ['numero', 'patient'], ['kunden', 'nr'], ['serial', 'no'])
    """
    parted = _CAMEL.sub(" ", unicodedata.normalize("NFC", name).replace("ß", "ss"))
    parted = re.sub(r"\b[nN][°º]", " no ", parted)
    letters = (
        letter for letter in unicodedata.normalize("NFKD", parted) if not unicodedata.combining(letter)
    )
    return [part for word in _WORD.findall("".join(letters).lower()) for part in _split_compound(word)]


def _split_compound(word: str) -> list[str]:
    if word in PERSONS or word in MARKS or word in KNOWN:
        return [word]
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and (stem in PERSONS or stem.removesuffix("s") in PERSONS):
            return [stem if stem in PERSONS else stem.removesuffix("s"), ending]
        if stem not in ("", word) and ending in ("nummer", "nummern", "kennung"):
            return [stem, "nummer"]
    for beginning in _BEGINNINGS:
        stem = word.removeprefix(beginning)
        if stem != word and stem in PERSONS:
            return [beginning, stem]
    return [word]


def names_measurement(name: str) -> bool:
    """Whether the name has a word of a measure or of a code, whatever its values look like.

    >>> [names_measurement(name) for name in ("industry_code", "patient_age", "who")]
    [True, True, False]
    """
    return bool(set(words_of(name)) & _MEASURES)


def may_count_people(name: str) -> bool:
    """Whether the name may be that of a number of people as well as of the number of a person.

    A mark that stands first says either: `num_patient` is a patient's number, `NoEmp` how many are employed.

    >>> [may_count_people(name) for name in ("NoEmp", "num_patient", "EmpNo", "number of rooms", "patient_id")]
    [True, True, False, False, False]
    """
    parts = [word for word in words_of(name) if word not in _FILLERS]
    return len(parts) > 1 and parts[0] in _COUNTS and set(parts[1:]) <= PERSONS


def likeness(name: str) -> Likeness:
    """How much this name says that a column names a person.

    >>> [likeness(name).name for name in ("patient_id", "SERIALNO", "customer", "visit_no", "patient_age")]
    ['person_identifier', 'person_identifier', 'person', 'identifier', 'none']
    """
    folded = unicodedata.normalize("NFKC", name).lower()
    if any(person in folded for person in _CJK_PERSONS):
        marked = any(mark in folded for mark in _CJK_MARKS)
        return Likeness.person_identifier if marked else Likeness.person
    parts = [word for word in words_of(name) if word not in _FILLERS]
    if not parts:
        return Likeness.none
    marks = [word for word in parts if word in MARKS]
    people = [word for word in parts if word in PERSONS]
    if people and len(people) < len(parts) and set(parts) <= {*people, *_NAMES}:
        return Likeness.person
    if set(parts) <= _NAMES and not set(parts) <= _PARTS:
        return Likeness.identifier
    if people and set(parts) - set(people) and set(parts) <= {*people, *marks, *_WEAK_MARKS}:
        return Likeness.person_identifier
    if set(parts) & _MEASURES:
        return Likeness.none
    if set(parts) & KNOWN and set(parts) <= {*KNOWN, *people, *marks, *_WEAK_MARKS, "address"}:
        return Likeness.person_identifier
    # The mark is that of the word beside it: `clinic_patient_id` is of a patient, `customer_order_id` of an order.
    if any(set(pair) & PERSONS and set(pair) & MARKS for pair in pairwise(parts)):
        return Likeness.person_identifier
    if people and set(marks) <= PERSONS:
        return Likeness.person if len(people) == len(parts) else Likeness.none
    last, first = parts[-1], parts[0]
    identifies = (last in MARKS and (len(parts) > 1 or last not in _COUNTS)) or first in MARKS - _COUNTS
    return Likeness.identifier if identifies else Likeness.none

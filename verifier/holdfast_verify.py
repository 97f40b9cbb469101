"""Check a holdfast page without holdfast: the standard library, and `cryptography` for Ed25519.

    python holdfast_verify.py dossier.html --release model.holdfast --extract extract.json --public-key officer.pub

It was written from the description of the formats (docs/format.md) and shares no line of code with the package that it
checks. Beside it lie `holdfast_page.py`, which draws the page again from its record, the template that it draws by
(`holdfast_page.json`, data), and `holdfast_promise.py`, which computes every epsilon again from the released curve.
A stranger needs the page, the release files, a signed extract of the ledger, and the officer's public key, which must
have come another way than the rest. Exit code 0: everything holds. 1: something does not. 2: a file cannot be read.
3: not judged, because another version of holdfast made the page, or because it is not known which renderer this version
has (--renderer); the first line says what it takes. All that can be checked is checked all the same.

What it does not do: prove the mechanisms anew, or compute what audits and attacks found again (`holdfast verify` does
the second for audits). A page about several releases whose curves have no sum in closed form is not judged.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import os
import re
import stat
import sys
import zipfile
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
from holdfast_page import drawn
from holdfast_promise import check_promise

MOST_BYTES = 256 * 2**20
AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"')
ZERO = "0" * 64
VERSION = "0.1.0"
"""The version of holdfast that this file belongs to."""
PAGE_FORMAT = "holdfast-dossier/1"
"""The format of its pages' records."""
PUBLISHED: dict[str, tuple[str, str]] = {}
"""What every published version, this one included, makes pages with: the format of their records, and its renderer."""
NUMBER = re.compile(r"(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})", re.ASCII)
COMPILED = (".pyc", ".so", ".pyd", ".dylib")
"""Files of an installed package that are no part of its renderer."""
RECORD = {
    "": [
        "format title audience created holdfast releases promise picture confidence tried audits contradictions "
        "tables accuracy not_tested payments budgets also_run doubts story renderer"
    ],
    "releases": [
        "name sha256 title created private guarantee theorem provenance certificates utility useless"
    ],
    "releases.utility": [
        "kind what predicts rows left_out no_intervals",
        "kind what predicts level rests_on refused rows left_out",
        "kind what predicts rows pairs left_out no_bands",
        "kind what rows left_out",
        "kind what level drawn rows left_out",
    ],
    "releases.utility.rows": [
        "name weight reach",
        "name weight reach low high p",
        "name spread numeric places labels values",
        "name cells within variation times worst",
        "name value low high",
        "name shape cells",
        "",
    ],
    "releases.utility.pairs": ["name spread left right values"],
    "promise": [
        "guarantee curve adjacency neighbours unit unit_is_row change theorem assumptions guess sure points "
        "curve_points private strict at"
    ],
    "promise.assumptions": ["kind text voids subject"],
    "promise.sure": ["failure loss after"],
    "promise.sure.after": ["prior at_most"],
    "promise.points": ["delta epsilon odds"],
    "promise.curve_points": ["epsilon series"],
    "promise.curve_points.series": ["name delta"],
    "promise.at": ["delta epsilon odds"],
    "picture": ["linear log rates rows left_out"],
    "picture.linear": ["false_alarm series"],
    "picture.linear.series": ["name claim found"],
    "picture.log": ["false_alarm series"],
    "picture.log.series": ["name claim found"],
    "picture.rows": ["name claim found"],
    "tried": ["kind name state summary numbers contradiction"],
    "tried.numbers": [
        "epsilon_lower delta confidence guesses correct canaries p_value kappa no_noise can_fail rows promised most",
        "auc found_at_1_percent found_at_0.1_percent p_value",
    ],
    "tables": ["title labels counts error"],
    "accuracy": ["model score rows measure"],
    "payments": [
        "ledger dataset dataset_purpose dataset_approver account purpose approver opened entries head closed others "
        "approval_key takes"
    ],
    "payments.entries": ["number hash"],
    "payments.closed": ["number hash", ""],
    "budgets": [
        "dataset limit limit_point currency theorem head entry parts what_if reset elsewhere",
    ],
    "budgets.limit_point": ["epsilon delta"],
    "budgets.parts": ["name share epsilon delta"],
    "budgets.what_if": ["epsilon delta takes leaves leaves_share"],
    "budgets.what_if.leaves": ["epsilon delta"],
    "budgets.reset": ["at approver reason", ""],
    "doubts": ["kind text voids subject"],
    "story": ["place adds alone so_far sure_so_far failure"],
    "story.alone": ["delta epsilon odds"],
    "story.so_far": ["delta epsilon odds"],
}
"""The fields of each part of a record; an empty text stands for a part that may be a plain value, or null."""


class Wrong(Exception):
    """Something does not hold."""


def require(condition: object, text: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise Wrong(text)


# Formats.


def canonical(data: Any) -> bytes:
    """Sorted keys, no spaces, ASCII."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read(path: Path) -> bytes:
    """A regular file, opened without waiting, of a size that a page, release or extract may have."""
    require_regular(path, path.stat().st_mode)
    with open(os.open(path, os.O_RDONLY | AT_ONCE), "rb") as file:
        status = os.fstat(file.fileno())
        require_regular(path, status.st_mode)
        require(status.st_size <= MOST_BYTES, f"{path.name} is too large")
        return file.read(status.st_size)


def require_regular(path: Path, mode: int) -> None:
    """A pipe would be waited for, and a device may have no end."""
    if not stat.S_ISREG(mode):
        raise OSError(None, "it is no regular file", str(path))


def parsed(data: bytes, what: str) -> Any:
    """JSON without numbers that are none, and with no more lists and mappings than its size may take in memory."""

    def finite(text: str) -> float:
        value = float(text)
        require(math.isfinite(value), f"{what} holds a number that is not finite")
        return value

    text = data.decode()
    bare = TEXTS.sub('""', text)
    needed = 100 * bare.count("[") + 300 * bare.count("{") + 40 * bare.count(",")
    require(needed <= 20 * len(data) + 64 * 2**20, f"{what} holds more values than its size allows")
    try:
        return json.loads(text, parse_float=finite, parse_constant=finite)
    except (ValueError, RecursionError) as error:
        raise Wrong(f"{what} is not JSON") from error


def of_format(name: Any, known: str, what: str) -> None:
    """Refuse any other format by its name."""
    require(name == known, f"{what} has the format {str(name)[:60]!r}, this verifier reads {known}")


class Key:
    """The officer's public key."""

    def __init__(self, path: Path) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        key = load_pem_public_key(read(path))
        require(isinstance(key, Ed25519PublicKey), f"{path.name} is no Ed25519 key")
        self.key: Any = key
        self.text = key.public_bytes_raw().hex()  # type: ignore[union-attr]

    def signed(self, public_key: Any, signature: Any, message: bytes) -> bool:
        """Whether this key, and no other, signed the message."""
        from cryptography.exceptions import InvalidSignature

        try:
            self.key.verify(bytes.fromhex(signature), message)
        except (InvalidSignature, TypeError, ValueError):
            return False
        return bool(public_key == self.text)


def statement(about: str, content: Any) -> bytes:
    """What a signature is over."""
    return canonical({"format": "holdfast-signature/1", "about": about, "content": content})


# The extract.


class Extract:
    """Entries of the ledger about some datasets, each with its hash checked, under the officer's signature."""

    def __init__(self, data: Any, key: Key) -> None:
        of_format(data.get("format"), "holdfast-extract/1", "the extract")
        require(set(data) == {"format", "signature", "entries"}, "the extract lacks a field, or has one more")
        signed, listed = data["signature"], data["entries"]
        content = signed["content"]
        require(
            signed["format"] == "holdfast-signature/1"
            and signed["about"] == "extract"
            and key.signed(signed["public_key"], signed["signature"], statement("extract", content)),
            "the extract is not signed by the given key",
        )
        require(
            sha256(canonical(listed)) == content["sha256"], "the extract holds other entries than were signed"
        )
        self.ledger, self.head, self.number = content["ledger"], content["head"], content["number"]
        self.entries: dict[int, dict[str, Any]] = {}
        last = -1
        for one in listed:
            entry = parsed(one["text"].encode(), "an entry")
            require(sha256(one["text"].encode()) == one["hash"], "an entry does not have its hash")
            require(entry["version"] == 1 and entry["number"] > last, "the entries are out of order")
            before = self.entries.get(entry["number"] - 1)
            follows = before is None or entry["previous"] == before["hash"]
            require(
                follows and (entry["number"] > 0 or entry["previous"] == ZERO),
                "an entry does not follow the last",
            )
            last = entry["number"]
            self.entries[last] = entry | {"hash": one["hash"]}
        require(last <= self.number, "the extract holds entries after its head")
        require(self.entries[0]["body"]["ledger"] == self.ledger, "the extract is of another ledger")
        for entry in self.of("signature"):
            self._signed_head(entry, key)

    def of(self, kind: str, **fields: Any) -> list[dict[str, Any]]:
        """Entries of a kind whose bodies have these fields."""
        return [
            entry
            for entry in self.entries.values()
            if entry["kind"] == kind
            and all(entry["body"].get(name) == value for name, value in fields.items())
        ]

    def one(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The only such entry."""
        found = self.of(kind, **fields)
        require(
            len(found) == 1, f"the extract must hold one {kind} of {', '.join(map(str, fields.values()))}"
        )
        return found[0]

    def _signed_head(self, entry: dict[str, Any], key: Key) -> None:
        body = entry["body"]
        message = canonical({name: body[name] for name in ("format", "ledger", "number", "head")})
        require(
            body["format"] == "holdfast-head/1"
            and body["ledger"] == self.ledger
            and body["number"] == entry["number"] - 1
            and body["head"] == entry["previous"]
            and key.signed(body["public_key"], body["signature"], message),
            f"entry {entry['number']}: the head is not signed by the given key",
        )


def amounts(body: Any) -> list[Fraction]:
    """An exact cost: its amounts, then total variation and failure."""
    require(
        isinstance(body, list)
        and all(re.fullmatch(r"[0-9]{1,2000}(/0*[1-9][0-9]{0,2000})?", str(part)) for part in body),
        "a cost is no list of fractions",
    )
    return [Fraction(part) for part in body]


def added(total: list[Fraction], cost: list[Fraction]) -> list[Fraction]:
    """A running total; past 2,048 bits it is rounded up to a multiple of 2^-1024."""
    exact = [a + b for a, b in zip(total, cost, strict=True)]
    return [
        one
        if one.denominator.bit_length() <= 2048
        else Fraction(-((-one.numerator << 1024) // one.denominator), 1 << 1024)
        for one in exact
    ]


def within(part: list[Fraction], whole: list[Fraction]) -> bool:
    """In every component."""
    return all(a <= b for a, b in zip(part, whole, strict=True))


class Account:
    """An account of the ledger: its limit, its charges, and what they add up to."""

    def __init__(self, extract: Extract, name: str) -> None:
        self.opened = extract.one("account", account=name)
        self.dataset = extract.one("dataset", dataset=self.opened["body"]["dataset"])
        self.charges = extract.of("charge", account=name)
        self.amount = amounts(self.opened["body"]["amount"])
        for field in ("adjacency", "unit", "currency"):
            require(
                self.opened["body"][field] == self.dataset["body"][field],
                f"account {name} has another {field} than its dataset",
            )
        totals: dict[str, list[Fraction]] = {}
        for entry in self.charges:
            body = entry["body"]
            parts = body["share"].split("/")[:-1]
            shares = ["", *("".join(f"{part}/" for part in parts[: k + 1]) for k in range(len(parts)))]
            require(
                set(body["totals"]) == set(body["caps"]) == set(shares),
                f"entry {entry['number']}: its shares are others",
            )
            require(
                amounts(body["caps"][""]) == self.amount,
                f"entry {entry['number']}: it was held against another limit",
            )
            for share in shares:
                cost = amounts(body["cost"])
                totals[share] = added(totals.get(share, [Fraction(0)] * len(cost)), cost)
                require(
                    totals[share] == amounts(body["totals"][share]),
                    f"entry {entry['number']}: its total is wrong",
                )
                require(
                    within(totals[share], amounts(body["caps"][share])),
                    f"entry {entry['number']}: it exceeds its limit",
                )
        self.spent = totals.get("", [Fraction(0)] * len(self.amount))

    def limit(self, share: str) -> list[Fraction]:
        """Of the whole account, or of a share of it."""
        if not share:
            return self.amount
        caps = [entry["body"]["caps"][share] for entry in self.charges if share in entry["body"]["caps"]]
        require(caps, "the ledger closed a release of a share that nothing was charged to")
        return amounts(caps[0])


# The release.


def archive(data: bytes) -> dict[str, Any]:
    """The record of a release file, whose members are stored plainly and have their sums."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            infos = opened.infolist()
            plain = all(
                one.compress_type == zipfile.ZIP_STORED and one.compress_size == one.file_size
                for one in infos
            )
            require(
                plain and sum(one.file_size for one in infos) <= len(data),
                "the release is compressed, or too large",
            )
            members = {one.filename: opened.read(one) for one in infos}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise Wrong("the release is no readable archive") from error
    require(len(members) == len(infos), "the release names a member twice")
    sums = members.pop("SHA256SUMS", b"")
    lines = "".join(f"{sha256(data)}  {name}\n" for name, data in sorted(members.items()))
    require(sums == lines.encode(), "members of the release do not have their sums")
    record = parsed(members["release.json"], "the release")
    of_format(record["format"], "holdfast-release/1", "the release")
    fields = {"format", "value", "guarantee", "provenance", "certificates", "prospects"}
    require(set(record) == fields, "the release lacks a field, or has one more")
    return dict(record)


def check_release(name: str, digest: str, record: Any, extract: Extract) -> dict[str, Any]:
    """The ledger closed exactly this file, with all the charges of its account; returns the closing entry."""
    made, promised = record["provenance"], record["guarantee"]
    closing = extract.of("release", sha256=digest)
    require(closing, f"{name}: the ledger closed no release with its hash")
    body = closing[-1]["body"]
    account = Account(extract, body["account"])
    dataset = account.dataset["body"]
    require(
        made["account"] == f"{extract.ledger}/{dataset['dataset']}/{body['account']}",
        f"{name}: it names another account than the one that paid",
    )
    for field in ("method", "estimator", "package", "noise", "arithmetic", "schema_hash", "head"):
        require(made[field] == body[field], f"{name}: the ledger closed it with another {field}")
    own = [entry for entry in account.charges if entry["body"]["share"].startswith(body["share"])]
    paid = [entry["number"] for entry in own if entry["number"] <= body["last"]]
    require(
        made["entries"] == paid and body["charges"] == len(paid), f"{name}: it does not name all its charges"
    )
    heads = [entry["number"] for entry in extract.entries.values() if entry["hash"] == made["head"]]
    require(
        not heads or all(entry["number"] in paid for entry in own if entry["number"] <= heads[0]),
        f"{name}: charges before its head are missing",
    )
    for field, best in (("noise", "secure"), ("arithmetic", "strict")):
        better = made[field] == best and any(
            entry["body"][field] != best for entry in own if entry["number"] in paid
        )
        require(not better, f"{name}: it is called {best}, and its charges were not")
    for field in ("adjacency", "unit"):
        require(promised[field] == dataset[field], f"{name}: its {field} is not the dataset's")
    require(
        same_promise(promised["curve"], dataset["currency"]["name"], account.limit(body["share"])),
        f"{name}: its guarantee is not the account's",
    )
    charged = [entry["body"]["mechanism"] for entry in own if entry["number"] in paid]
    said = [(one["kind"], one["subject"], one["voids"]) for one in promised["assumptions"]]
    for kind, subject, voids in taken_on_trust(made, charged):
        require(
            (kind, subject, voids) in said, f"{name}: it does not say what it rests on: {kind}, {subject}"
        )
    return closing[-1]


def taken_on_trust(made: dict[str, Any], charged: list[Any]) -> list[tuple[str, str, bool]]:
    """What a release must assume of mechanisms and of a method that are none of holdfast's: kind, subject and voids."""
    believed = []
    for stored in charged:
        called, package = str(stored["mechanism"]), stored.get("from", "")
        if ":" in called or package:
            believed.append(("mechanism by others", called + mark(package), not package))
        believed += taken_on_trust(
            {}, [one for one in stored.values() if isinstance(one, dict) and "mechanism" in one]
        )
    package = made.get("package", "holdfast")
    if package != "holdfast":
        believed.append(("method by others", made["method"] + mark(package), not package))
    return believed


def mark(package: str) -> str:
    """Behind a name that is none of holdfast's."""
    return f" [package {package}]" if package else " [unregistered]"


def title(made: dict[str, Any]) -> str:
    """How a page calls a release: its steps, its estimator and its method, and whose the method is."""
    whole = f"Pipeline of {', '.join(made['steps'])}; " if made["steps"] else ""
    named = ", ".join(text for text in (made["estimator"], made["method"]) if text)
    return whole + named + ("" if made["package"] == "holdfast" else mark(made["package"]))


def same_promise(curve: Any, currency: str, limit: list[Fraction]) -> bool:
    """Whether a curve is the one that an amount of a currency promises."""
    *own, variation, failure = limit
    if variation or failure:
        slack = (number(curve.get("tau")), number(curve.get("probability")))
        return (
            curve.get("kind") == "WithSlack"
            and slack == (variation, failure)
            and same_promise(curve["curve"], currency, [*own, Fraction(0), Fraction(0)])
        )
    kind = curve.get("kind")
    match currency:
        case "pure":
            return kind == "PureDP" and number(curve["epsilon"]) == own[0]
        case "basic":
            return kind == "ApproxDP" and [number(curve["epsilon"]), number(curve["delta"])] == own
        case "zcdp":
            return kind == "ZCDP" and number(curve["rho"]) == own[0]
        case "gdp":
            square = number(curve["mu"]) ** 2 if curve["square"] is None else number(curve["square"])
            return kind == "GaussianDP" and square == own[0] <= number(curve["mu"]) ** 2
        case "renyi":
            shown = [Fraction(one) for one in curve["divergences"]]  # doubles, rounded up
            close = all(b <= a <= b * (1 + Fraction(1, 10**12)) for a, b in zip(shown, own, strict=True))
            return kind == "RenyiDP" and close
    return False


def number(value: Any) -> Fraction:
    """A number of a curve: a fraction as text, or a double as it is written in decimal."""
    return (
        Fraction(value)
        if isinstance(value, str)
        else Fraction(repr(value))
        if isinstance(value, float)
        else Fraction(value)
    )


# The page.


class Judgement(NamedTuple):
    """What holds, and what kept the page from being judged; without the second all was checked."""

    holds: list[str]
    not_judged: list[str]


def renderer_of(source: str) -> str:
    """A renderer by its hash, or computed from the wheel or the folder of a version of holdfast."""
    if re.fullmatch("[0-9a-f]{64}", source):
        return source
    path = Path(source)
    if path.is_dir():
        files = {
            PurePosixPath("holdfast", *one.relative_to(path).parts): one.read_bytes()
            for one in path.rglob("*")
            if one.is_file()
        }
    else:
        content = read(path)
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            unpacked = sum(one.file_size for one in wheel.infolist())
            require(unpacked <= 20 * len(content), f"{path.name} unpacks to more than a wheel of holdfast")
            files = {PurePosixPath(one): wheel.read(one) for one in wheel.namelist() if one[-1] != "/"}
    lines = sorted(
        (str(place), sha256(data))
        for place, data in files.items()
        if place.parts[0] == "holdfast"
        and not place.name.endswith(COMPILED)
        and not any(part == "__pycache__" or part.startswith(".") for part in place.parts)
    )
    return sha256("".join(f"{digest}  {place}\n" for place, digest in lines).encode())


def is_later(version: str) -> bool:
    """Whether it is the number of a version that may have been published after this one."""
    there, here = NUMBER.fullmatch(version), NUMBER.match(VERSION)
    if there is None or here is None:
        return False
    numbers = [[int(part) for part in found.groups()] for found in (there, here)]
    return numbers[0] > numbers[1] or (numbers[0] == numbers[1] and here[0] != VERSION)


def check_origin(record: Any, renderer: str) -> str:
    """Version, format and renderer fit each other; returns what keeps the page from being judged, or nothing."""
    version, form, drawn_by = record.get("holdfast"), record.get("format"), record.get("renderer")
    require(
        isinstance(version, str) and (version == VERSION or version in PUBLISHED or is_later(version)),
        f"the page says that holdfast {str(version)[:60]!r} made it, and no such version was published",
    )
    wanted, known = PUBLISHED.get(version, (PAGE_FORMAT if version == VERSION else "", ""))
    if version == VERSION:
        known = known or renderer
    require(
        form == wanted if wanted else re.fullmatch("holdfast-dossier/[1-9][0-9]{0,5}", str(form)),
        f"holdfast {version} writes the format {wanted or 'holdfast-dossier and a number'}, "
        f"and the page has {str(form)[:60]!r}",
    )
    require(
        drawn_by == known if known else re.fullmatch("[0-9a-f]{64}", str(drawn_by)),
        f"the page says that holdfast {version} drew it, and names another renderer",
    )
    if version != VERSION:
        return (
            f"the verifier of holdfast {version} can judge this page, which names it as its maker; "
            f"this one belongs to holdfast {VERSION}"
        )
    return (
        ""
        if known
        else f"give --renderer: the hash of the renderer of holdfast {VERSION}, its wheel or folder"
    )


def require_whole(value: Any, place: str = "") -> None:
    """Every part of a record has its fields, and no others."""
    if isinstance(value, list):
        for one in value:
            require_whole(one, place)
        return
    known = RECORD.get(place)
    if known is None:
        return  # what other checks compare as a whole, or plain values
    if not isinstance(value, dict):
        require("" in known, f"the record's part {place or 'as a whole'} is of the wrong kind")
        return
    fits = any(set(value) == set(fields.split()) for fields in known if fields)
    require(
        fits, f"the record's part {place or 'as a whole'} lacks a field, or has one that it does not have"
    )
    for name, inner in value.items():
        require_whole(inner, f"{place}.{name}".lstrip("."))


def check_page(
    data: bytes, releases: list[tuple[str, str, Any]], extract: Extract, renderer: str
) -> tuple[dict[str, Any], list[str]]:
    """The ledger closed this page, and its record says what release and ledger say.

    Returns the closing entry, and what keeps the page from being judged.
    """
    text = data.decode()
    seals = re.findall(r'<meta name="holdfast-seal" content="([0-9a-f]{64})">', text)
    blocks = re.findall(r'<script type="application/json" id="holdfast-record">(.*?)</script>', text, re.S)
    require(len(seals) == len(blocks) == 1, "the page has no seal or no record, or more than one")
    require(sha256(text.replace(seals[0], ZERO, 1).encode()) == seals[0], "the page does not have its seal")
    record = parsed(blocks[0].encode(), "the record of the page")
    not_judged = [one for one in [check_origin(record, renderer)] if one]
    if record["format"] == PAGE_FORMAT:
        require_whole(record)
    if record["holdfast"] == VERSION:
        _same_drawing(record, text)
    closing = extract.of("page", sha256=sha256(data))
    require(closing, "the ledger closed no page with this hash")
    body = closing[-1]["body"]
    shown = [one["sha256"] for one in record["releases"]]
    require(
        (body["title"], body["audience"], body["releases"]) == (record["title"], record["audience"], shown),
        "the ledger closed the page under another title, audience or releases",
    )
    require(sorted(shown) == sorted(digest for _, digest, _ in releases), "the page is about other releases")
    if record["format"] == PAGE_FORMAT:
        not_judged += _same_record(record, releases, extract)
    else:
        not_judged.append(f"the record was not read: it has the format {record['format']}")
    return closing[-1], not_judged


def _same_drawing(record: Any, text: str) -> None:
    """The page is what the template makes of its record, to the last byte: nothing is hidden, added or changed."""
    try:
        again = drawn(record)
    except Exception:  # whatever a forged record makes of a template
        again = ""
    require(again == text, "the page shows something else than its record")


def _same_record(record: Any, releases: list[tuple[str, str, Any]], extract: Extract) -> list[str]:
    """What the record says of releases, promise, payments, doubts and budgets; returns what was not computed again."""
    for one, paid in zip(record["releases"], record["payments"], strict=True):
        released = next(made for _, digest, made in releases if digest == one["sha256"])
        _same_facts(one, released)
        _same_payment(paid, one, extract)
    private = all(made["provenance"]["noise"] == "secure" for _, _, made in releases)
    require(
        record["promise"]["private"] == private,
        "the page hides that the noise was seeded, or says so wrongly",
    )
    for _, _, made in releases:
        for one in visible(made["guarantee"]["assumptions"]):
            shown_red = one in record["doubts"] or not one["voids"]
            require(shown_red, "the page does not show in red what voids the promise")
            require(one in record["doubts"], "the page leaves out what the promise rests on")
    by_hash = {digest: made for _, digest, made in releases}
    listed = [visible(by_hash[one["sha256"]]) for one in record["releases"]]
    not_judged = check_promise(record, listed, require)
    for budget in record["budgets"]:
        _same_budget(budget, extract)
    return not_judged


def visible(value: Any) -> Any:
    """As a page shows it: what no printer prints is spelled out."""
    if isinstance(value, str):
        return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" for c in value)
    if isinstance(value, dict):
        return {visible(key): visible(one) for key, one in value.items()}
    return [visible(one) for one in value] if isinstance(value, list) else value


def _same_facts(shown: Any, release: Any) -> None:
    made, promised = release["provenance"], release["guarantee"]
    require(shown["provenance"] == visible(made), "the page shows another provenance than the release's")
    require(shown["certificates"] == visible(release["certificates"]), "the page shows other certificates")
    claims = release["certificates"][:1]
    nothing = [claim for claim in claims if claim["unit"] == "% of the rows" and claim["alpha"] >= 1]
    wanted = len(release["prospects"]) + len(nothing)
    require(
        len(shown["useless"]) == wanted,
        "the page hides that the release is of no use, or says so wrongly",
    )
    curve = shown["guarantee"]["curve"]
    long = curve.get("stored") == "in the release" and curve["kind"] == promised["curve"]["kind"]
    expected = visible(promised) | ({"curve": curve} if long else {})
    require(shown["guarantee"] == expected, "the page shows another guarantee than the release's")
    same = (title(made), made["created"], promised["theorem"], made["noise"] == "secure")
    told = tuple(shown[name] for name in ("title", "created", "theorem", "private"))
    require(told == tuple(visible(one) for one in same), "the page shows another method, date or theorem")


def _same_payment(paid: Any, shown: Any, extract: Extract) -> None:
    body = extract.of("release", sha256=shown["sha256"])[-1]["body"]
    account = Account(extract, body["account"])
    opened, dataset = account.opened["body"], account.dataset["body"]
    approvals = extract.of("approval", account=body["account"])
    hashes = [{"number": n, "hash": extract.entries[n]["hash"]} for n in shown["provenance"]["entries"]]
    expected = {
        "ledger": extract.ledger,
        "dataset": dataset["dataset"],
        "dataset_purpose": dataset["purpose"],
        "dataset_approver": dataset["approver"],
        "account": opened["account"],
        "purpose": opened["purpose"],
        "opened": account.opened["at"],
        "entries": hashes,
        "head": shown["provenance"]["head"],
    }
    for field, value in expected.items():
        require(paid[field] == visible(value), f"the page shows another {field} than the ledger")
    names = {
        opened["approver"],
        *(entry["body"]["approver"] for entry in approvals if not opened["approver"]),
    }
    require(paid["approver"] in names, "the page shows another approver than the ledger")


def _same_budget(budget: Any, extract: Extract) -> None:
    """Spent, held and free in per cent of the limit, as the entries up to the budget's head make them."""
    number = next((n for n, entry in extract.entries.items() if entry["hash"] == budget["head"]), None)
    require(number == budget["entry"], "the ledger does not hold the head of the budget")
    assert number is not None
    before = Extract.__new__(Extract)
    before.ledger = extract.ledger
    before.entries = {n: entry for n, entry in extract.entries.items() if n <= number}
    dataset = before.one("dataset", dataset=budget["dataset"])
    resets = [entry["number"] for entry in before.of("reset", dataset=budget["dataset"])]
    whole = amounts(dataset["body"]["amount"])
    spent = held = [Fraction(0)] * len(whole)
    for opened in before.of("account", dataset=budget["dataset"]):
        if resets and opened["number"] < resets[-1]:
            continue
        account = Account(before, opened["body"]["account"])
        spent = [a + b for a, b in zip(spent, account.spent, strict=True)]
        if not before.of("close", account=opened["body"]["account"]):
            left = [a - b for a, b in zip(account.amount, account.spent, strict=True)]
            held = [a + b for a, b in zip(held, left, strict=True)]
    free = [a - b - c for a, b, c in zip(whole, spent, held, strict=True)]
    require(
        within(spent, whole) and within(held, [a - b for a, b in zip(whole, spent, strict=True)]), "overspent"
    )
    shares = {
        "spent": max(_shares(spent, whole)),
        "held": max(_shares(held, whole)),
        "free": min(_shares(free, whole)),
    }
    for part in budget["parts"]:
        expected = float(shares[part["name"]])
        require(
            math.isclose(part["share"], expected, rel_tol=1e-3, abs_tol=1e-9), "the page shows another budget"
        )


def _shares(part: list[Fraction], whole: list[Fraction]) -> list[Fraction]:
    return [100 * a / b for a, b in zip(part, whole, strict=True) if b > 0]


def check_approvals(closings: list[dict[str, Any]], extract: Extract, key: Key) -> None:
    """Where an account names an approver, the key signed the entry that opened it."""
    for closing in closings:
        name = closing["body"]["account"]
        opened = extract.one("account", account=name)
        approvals = extract.of("approval", account=name)
        require(
            approvals or not opened["body"]["approver"], f"account {name} names an approver who did not sign"
        )
        for entry in approvals:
            body = entry["body"]
            content = {field: body[field] for field in ("approver", "ledger", "account", "entry", "hash")}
            require(
                (body["ledger"], body["entry"], body["hash"])
                == (extract.ledger, opened["number"], opened["hash"])
                and opened["body"]["approver"] in ("", body["approver"])
                and key.signed(body["public_key"], body["signature"], statement("approval", content)),
                f"the approval of account {name} is not signed by the given key",
            )


def verify(
    page: Path, releases: list[Path], extract: Path, public_key: Path, *, renderer: str = ""
) -> Judgement:
    """What holds, line by line, and what kept the page from being judged; `Wrong` where something does not hold.

    `renderer` is the hash of the renderer of this version, or the wheel or folder that it is computed from.
    """
    try:
        key = Key(public_key)
        entries = Extract(parsed(read(extract), "the extract"), key)
        holds = [f"the extract is signed: {len(entries.entries)} entries up to {entries.number}"]
        loaded = []
        for path in releases:
            data = read(path)
            loaded.append((path.name, sha256(data), archive(data)))
        closings = [check_release(*one, entries) for one in loaded]
        holds += [
            f"{name}: closed by the ledger, with the promise and all charges of its account"
            for name, _, _ in loaded
        ]
        known = renderer_of(renderer) if renderer else ""
        closed, not_judged = check_page(read(page), loaded, entries, known)
        says = "it says what release and ledger say" if not not_judged else "it is not judged"
        holds.append(f"{page.name}: closed by the ledger as entry {closed['number']}, and {says}")
        check_approvals(closings, entries, key)
        holds.append("every approver who is named signed")
    except (
        AttributeError,
        IndexError,
        KeyError,
        TypeError,
        ValueError,
        ArithmeticError,
        AssertionError,
        zipfile.BadZipFile,
    ) as error:
        raise Wrong(f"a file lacks a field, or has one of the wrong kind ({type(error).__name__})") from error
    return Judgement(holds, not_judged)


def main() -> int:
    """The command."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("page", type=Path)
    asked.add_argument("--release", type=Path, action="append", required=True)
    asked.add_argument("--extract", type=Path, required=True)
    asked.add_argument("--public-key", type=Path, required=True)
    asked.add_argument(
        "--renderer", default="", help="the hash of this version's renderer, or its wheel or folder"
    )
    given = asked.parse_args()
    try:
        found = verify(given.page, given.release, given.extract, given.public_key, renderer=given.renderer)
    except Wrong as error:
        sys.stdout.write(f"WRONG: {error}\n")
        return 1
    except OSError as error:
        sys.stdout.write(f"cannot read {error.filename}: {error.strerror}\n")
        return 2
    lines = [f"NOT JUDGED: {text}" for text in found.not_judged] + [f"ok: {line}" for line in found.holds]
    sys.stdout.write("\n".join(lines) + "\n")
    return 3 if found.not_judged else 0


if __name__ == "__main__":
    sys.exit(main())

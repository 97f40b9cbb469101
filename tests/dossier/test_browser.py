"""The page in a real browser: it asks for nothing, works by mouse and keyboard, and prints."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.dossier import Accuracy, Bars, Dossier
from holdfast.ledger import Ledger
from holdfast.privacy import ApproxDP
from tests.dossier.dossier_samples import HOSTILE, FakeAttack, audit, model, paid

pytestmark = pytest.mark.browser
BARS = Bars(title="visits", labels=("a", HOSTILE), counts=(5.0, 9.0), error=2.0)
LONG = (
    "members of the household who were ill in the month before the interview took place, by their own account"
)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        started = play.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Both editions, a contradiction, and the ledger that they speak of."""
    folder = tmp_path_factory.mktemp("pages")
    there = paid(folder)
    attacks = [FakeAttack(attack="lira"), FakeAttack(attack=HOSTILE, state="warning")]
    with Ledger.open(there.ledger, read_only=True) as ledger:
        files = {
            "public": Dossier.of_files([there.release], audits=[audit()], ledger=ledger, tables=[BARS]),
            "internal": Dossier.of_files(
                [there.release],
                attacks=attacks,
                audits=[audit()],
                ledger=ledger,
                audience="internal",
                title=f"Visits {HOSTILE}",
                accuracy=[Accuracy(model="majority", score=0.7, rows=100)],
            ),
            "contradicted": Dossier(model(["age", HOSTILE]), audits=[audit(95)]),
            "long": Dossier(
                [model([LONG, "W" * 90]), model(["b"])],
                [FakeAttack(attack=f"{LONG} {k}") for k in range(7)],
                audience="internal",
                tables=[Bars(title=LONG, labels=(LONG, "b"), counts=(5.0, 9.0), error=2.0)],
            ),
        }
        return {name: one.save(folder / f"{name}.html") for name, one in files.items()} | {
            "ledger": there.ledger
        }


class Tab:
    """A page in the browser, with everything that went wrong in it."""

    def __init__(self, browser: Any, path: Path, *, width: int = 1100, scheme: str = "light") -> None:
        self.problems: list[str] = []
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page.on("console", lambda message: self.problems.append(message.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("dialog", lambda dialog: self.problems.append(f"a dialog: {dialog.message}"))
        self.page.on(
            "request",
            lambda request: self.problems.append(request.url) if request.url != path.as_uri() else None,
        )
        self.page.goto(path.as_uri())

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: object) -> None:
        self.page.close()
        assert self.problems == []


@pytest.mark.parametrize("name", ["public", "internal", "contradicted"])
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (390, "dark")])
def test_it_opens_without_a_word_and_fits(
    browser: Any, pages: dict[str, Path], tmp_path: Path, name: str, width: int, scheme: str
) -> None:
    with Tab(browser, pages[name], width=width, scheme=scheme) as page:
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".banner").count() == (name == "internal")
        assert page.locator(".alarm").count() == (name == "contradicted")
        page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
        assert (tmp_path / "page.png").stat().st_size > 20_000


CUT = """() => [...document.querySelectorAll('svg.chart')].flatMap(drawn => {
    const edge = drawn.getBoundingClientRect();
    return [...drawn.querySelectorAll('text')].filter(one => {
        const box = one.getBoundingClientRect();
        return box.width && (box.left < edge.left || box.right > edge.right ||
                             box.top < edge.top || box.bottom > edge.bottom);
    }).map(one => one.textContent);
})"""
BESIDE = """() => [...document.querySelectorAll('svg.chart')].flatMap(drawn => {
    const texts = [...drawn.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
    return texts.flatMap(([a, p], k) => texts.slice(k + 1).filter(([b, q]) =>
        p.width && q.width && p.left < q.right - 1 && q.left < p.right - 1 &&
        p.top < q.bottom - 3 && q.top < p.bottom - 3
    ).map(([b, q]) => a + ' over ' + b));
})"""


@pytest.mark.parametrize("name", ["public", "internal", "contradicted", "long"])
def test_no_label_is_cut_and_none_covers_another(browser: Any, pages: dict[str, Path], name: str) -> None:
    with Tab(browser, pages[name]) as page:
        assert page.evaluate(CUT) == []
        assert page.evaluate(BESIDE) == []
        assert not [text for text in page.locator("svg.chart text").all_text_contents() if "…" in text]
        # The test can fail: a label that is too long for its place.
        page.evaluate("document.querySelector('svg.chart text').textContent = 'W'.repeat(200)")
        assert page.evaluate(CUT)


@pytest.mark.parametrize("name", ["public", "long"])
def test_nothing_is_wider_than_the_paper(browser: Any, pages: dict[str, Path], name: str) -> None:
    with Tab(browser, pages[name], width=680) as page:
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("document.documentElement.scrollWidth") <= 680


def test_a_reference_leads_to_its_place(browser: Any, pages: dict[str, Path]) -> None:
    with Tab(browser, pages["public"]) as page:
        page.locator("a.ref").first.click()
        assert page.evaluate("document.querySelector(':target').id") == "reference-1"
        assert page.locator("#reference-1").is_visible()


def test_pointing_at_the_picture_reads_the_curves(browser: Any, pages: dict[str, Path]) -> None:
    from holdfast.dossier._page import record_of

    said = record_of(pages["internal"].read_text(encoding="utf-8"))["picture"]
    with Tab(browser, pages["internal"]) as page:
        for scale, share in (("linear", 0.3), ("log", 0.5)):
            page.check(f"input[value={scale}]")
            shown = page.locator(f".panel[data-scale={scale}] svg")
            assert shown.is_visible()
            assert page.locator(".panel svg:visible").count() == 1
            shown.scroll_into_view_if_needed()
            box = shown.bounding_box()
            left, right = (float(shown.get_attribute(f"data-{side}")) / 460 for side in ("left", "right"))
            page.mouse.move(
                box["x"] + box["width"] * (left + share * (right - left)), box["y"] + box["height"] / 2
            )
            place = round(share * (len(said[scale]["false_alarm"]) - 1))
            text = page.locator("#reading").inner_text()
            percents = [float(number) for number in re.findall(r"([\d.]+)\s%", text)]
            wanted = [said[scale]["false_alarm"][place], *(s["found"][place] for s in said[scale]["series"])]
            assert percents == pytest.approx([100 * share for share in wanted], abs=0.06)
            assert shown.locator(".reading").get_attribute("visibility") == "visible"


def test_the_slider_says_what_the_ledger_would_say(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    with Tab(browser, pages["public"]) as page:
        slider, output = page.locator(".whatif"), page.locator("output[for=whatif0]")
        last = int(slider.get_attribute("max"))
        slider.focus()
        for place in (1, last // 2, last):
            slider.fill(str(place))
            asked, left = (float(number) for number in re.findall(r"epsilon ([\d.]+)", output.inner_text()))
            copy = tmp_path / f"{place}.db"
            shutil.copy(pages["ledger"], copy)
            with Ledger.open(copy) as ledger:
                ledger.account("clinic", name="one more", limit=ApproxDP(asked, 1e-6))
                assert left == pytest.approx(ledger.remaining("clinic").epsilon(1e-6), rel=1e-3)
        page.keyboard.press("Home")
        assert "Without another release" in output.inner_text()
        page.keyboard.press("ArrowRight")
        assert "One more release" in output.inner_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scheme"), [("public", "light"), ("internal", "dark"), ("contradicted", "light")]
)
def test_axe_finds_no_violation(browser: Any, pages: dict[str, Path], name: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    with Tab(browser, pages[name], scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_the_tab_key_reaches_every_control(browser: Any, pages: dict[str, Path]) -> None:
    with Tab(browser, pages["internal"]) as page:
        wanted = page.evaluate(
            """() => [...document.querySelectorAll(
                'input[type=range], input[type=radio]:checked, summary, [tabindex="0"]')]
            .filter(one => one.checkVisibility()).map((one, k) => { one.dataset.control = k; return k; })"""
        )
        reached = set()
        for _ in range(len(wanted) + page.locator("a.ref").count() + 5):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.dataset.control"))
        assert {str(control) for control in wanted} <= reached
        # The scale is chosen with the arrow keys, as radio buttons are.
        page.locator("input[value=linear]").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".panel[data-scale=log] svg").is_visible()


def _streams(pdf: bytes) -> list[bytes]:
    found = []
    for block in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, flags=re.S):
        try:
            found.append(zlib.decompress(block))
        except zlib.error:
            continue
    return found


@pytest.mark.parametrize("name", ["public", "internal"])
def test_it_prints(browser: Any, pages: dict[str, Path], tmp_path: Path, name: str) -> None:
    with Tab(browser, pages[name]) as page:
        pdf = page.pdf(prefer_css_page_size=True, print_background=True)
        count = len(re.findall(rb"/Type\s*/Page\b", pdf))
        assert 3 <= count <= 12
        written = [
            stream
            for stream in _streams(pdf)
            if b" Tf" in stream and stream.count(b"Tj") + stream.count(b"TJ") > 5
        ]
        assert len(written) >= count  # no page is empty
        page.emulate_media(media="print")
        assert page.locator(".panel svg:visible").count() == 2  # both scales, whichever was on the screen
        assert page.locator(".controls:visible, .slider:visible").count() == 0
        for inside in (".signoff", "h1"):
            assert page.locator(inside).is_visible()
        internal = name == "internal"
        assert page.evaluate("getComputedStyle(document.body).page") == ("internal" if internal else "auto")
        assert page.locator(".watermark:visible").count() == internal
        header = page.evaluate(
            """[...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
            .filter(rule => rule instanceof CSSPageRule && rule.selectorText === 'internal')
            .map(rule => rule.cssText)"""
        )
        assert any("must not be published" in rule for rule in header)


def test_without_script_everything_is_there(browser: Any, pages: dict[str, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["public"].as_uri())
    assert page.locator(".panel svg:visible").count() == 2
    assert page.locator(".slider:visible, .controls:visible").count() == 0
    context.close()

"""A picture of the demo's page: `python docs/figures/screenshot.py [PAGE] [-o PNG]`.

Without PAGE it takes out/demo/dossier.html, where `make demo` writes it. Needs Chromium; the browser
is cut off from the network, so a page that asks for anything fails here.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT = 1100, 1680


def shoot(page: Path, picture: Path, *, width: int = WIDTH, height: int = HEIGHT) -> None:
    """Open the page from disk and save what a visitor sees first."""
    browser_path = (
        shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    )
    if browser_path is None:
        raise SystemExit("Chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": width, "height": height},
            offline=True,
            color_scheme="light",
            reduced_motion="reduce",
        )
        tab = context.new_page()
        problems: list[str] = []
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("requestfailed", lambda request: problems.append(f"asked for {request.url}"))
        tab.goto(page.resolve().as_uri())
        tab.wait_for_load_state("load")
        tab.screenshot(path=str(picture))
        browser.close()
    if problems:
        raise SystemExit("the page has problems: " + "; ".join(problems))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "page", nargs="?", type=Path, default=HERE.parent.parent / "out" / "demo" / "dossier.html"
    )
    parser.add_argument("-o", "--output", type=Path, default=HERE / "demo.png")
    parser.add_argument("--height", type=int, default=HEIGHT, help="how much of the page, in pixels")
    chosen = parser.parse_args()
    if not chosen.page.is_file():
        raise SystemExit(f"{chosen.page} does not exist; run: make demo")
    shoot(chosen.page, chosen.output, height=chosen.height)
    print(chosen.output)


if __name__ == "__main__":
    main()

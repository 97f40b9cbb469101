"""Open every page of the built site in a browser, wide and narrow: `python docs/look.py SITE FOLDER [PAGE ...]`.

Writes a picture of each page in both widths to FOLDER, and says which pages are wider than the screen, and which
pictures did not load. Ends with 1 if there are any. Tables and code may scroll by themselves; a page may not.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

WIDTHS = {"wide": (1280, 900), "narrow": (390, 844)}
_WIDER = "document.scrollingElement.scrollWidth - window.innerWidth"
_BROKEN = "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.getAttribute('src'))"


def main() -> int:
    """How many pages are wrong."""
    from playwright.sync_api import sync_playwright

    site, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    chosen = [site / f"{name}.html" for name in sys.argv[3:]]
    wrong = 0
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, (width, height) in WIDTHS.items():
            tab = browser.new_page(viewport={"width": width, "height": height})
            for path in chosen or sorted(site.rglob("*.html")):
                tab.goto(path.as_uri())
                page = str(path.relative_to(site)).removesuffix(".html").replace("/", "_")
                tab.screenshot(path=out / f"{page}_{name}.png")
                found = {"wider by pixels": tab.evaluate(_WIDER), "not loaded": tab.evaluate(_BROKEN)}
                for what, seen in found.items():
                    if seen and (what != "wider by pixels" or seen > 0):
                        print(f"{page}, {name}: {what}: {seen}")
                        wrong += 1
        browser.close()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())

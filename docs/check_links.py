"""Checks that the target of every relative link in the project's Markdown files exists.

python docs/check_links.py
python docs/check_links.py --site build/site   # the built site loads nothing from elsewhere
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IGNORED = {".venv", "build", "dist", ".git"}
ASSET = re.compile(
    r"""<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)"""
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)")


def broken_links(page: Path) -> list[str]:
    """Returns the broken relative links of a page."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    files = [link.split("#")[0] for link in links if "://" not in link]
    return [file for file in files if file and not (page.parent / file).exists()]


def foreign_assets(site: Path) -> list[str]:
    """Returns scripts, styles, fonts and images that pages of the site load from elsewhere."""
    return [
        f"{page.relative_to(site)}: {address}"
        for page in sorted(site.rglob("*.html"))
        for address in ASSET.findall(page.read_text(encoding="utf-8"))
    ]


def main() -> int:
    """Prints broken links, or foreign assets of a site, and returns 1 if there are any."""
    if sys.argv[1:2] == ["--site"]:
        foreign = foreign_assets(Path(sys.argv[2]))
        print("\n".join(foreign) or "the site loads nothing from elsewhere")
        return 1 if foreign else 0
    pages = [page for page in ROOT.rglob("*.md") if not IGNORED & set(page.parts)]
    problems = [
        f"{page.relative_to(ROOT)}: {link}" for page in pages for link in broken_links(page)
    ]
    print("\n".join(problems) or f"{len(pages)} pages, no broken links")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

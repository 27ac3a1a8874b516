"""Checks that the target of every relative link in the project's Markdown files exists."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IGNORED = {".venv", "build", "dist", ".git"}
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)")


def broken_links(page: Path) -> list[str]:
    """Returns the broken relative links of a page."""
    links = LINK.findall(page.read_text(encoding="utf-8"))
    files = [link.split("#")[0] for link in links if "://" not in link]
    return [file for file in files if file and not (page.parent / file).exists()]


def main() -> int:
    """Prints broken links and returns 1 if there are any."""
    pages = [page for page in ROOT.rglob("*.md") if not IGNORED & set(page.parts)]
    problems = [
        f"{page.relative_to(ROOT)}: {link}" for page in pages for link in broken_links(page)
    ]
    print("\n".join(problems) or f"{len(pages)} pages, no broken links")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

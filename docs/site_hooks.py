"""Hooks of the documentation site: pages from notebooks and from files outside docs/."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
# Links that leave docs/ mean files of the repository, which the site does not contain.
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./)+(?!ARCHITECTURE\.md)[^)]*\)")


def notebook_page(path: Path) -> str:
    """A notebook as Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = [("".join(cell["source"]), cell["cell_type"]) for cell in cells]
    return "\n\n".join(
        f"```python\n{text}\n```" if kind == "code" else text for text, kind in texts
    )


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages of notebooks, and ARCHITECTURE.md."""
    pages = {
        f"notebooks/{path.stem}.md": notebook_page(path)
        for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
    }
    pages["architecture.md"] = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Points links at pages of the site, and turns links out of docs/ into text."""
    if page.file.src_uri == "architecture.md":
        markdown = markdown.replace("](docs/", "](")
    elif not page.file.src_uri.startswith("zh/"):
        markdown = _OUTSIDE.sub(r"\1", markdown)
        markdown = markdown.replace("../ARCHITECTURE.md", "architecture.md")
    return markdown.replace(".ipynb)", ".md)")

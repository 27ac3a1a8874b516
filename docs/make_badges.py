"""Makes the badges of the README from pyproject.toml, so that they are true without a third party.

The badge of CI names the script that decides, since its last result is known only to a server.

python docs/make_badges.py
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
_CHARACTER, _PADDING, _HEIGHT = 6.6, 12, 20
_TEMPLATE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" \
aria-label="{label}: {text}"><rect width="{left}" height="20" rx="3" fill="#444"/><rect x="{left}" \
width="{right}" height="20" rx="3" fill="#0a7d4b"/><g fill="#fff" font-family="sans-serif" \
font-size="11" text-anchor="middle"><text x="{x1}" y="14">{label}</text><text x="{x2}" y="14">\
{text}</text></g></svg>
"""


def badge(label: str, text: str) -> str:
    """An SVG with a label on the left and a text on the right."""
    left = round(len(label) * _CHARACTER + _PADDING)
    right = round(len(text) * _CHARACTER + _PADDING)
    width, x1, x2 = left + right, left // 2, left + right // 2
    return _TEMPLATE.format(
        width=width, left=left, right=right, x1=x1, x2=x2, label=label, text=text
    )


def badges() -> dict[str, str]:
    """The badges by file name."""
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    prefix = "Programming Language :: Python :: 3."
    minors = [
        int(entry.removeprefix(prefix))
        for entry in project["classifiers"]
        if entry.startswith(prefix)
    ]
    return {
        "badge-ci.svg": badge("CI", ".ci/run"),
        "badge-version.svg": badge("version", project["version"]),
        "badge-license.svg": badge("license", project["license"]),
        "badge-python.svg": badge("python", f"3.{min(minors)} - 3.{max(minors)}"),
    }


def main() -> int:
    """Writes the badges."""
    for name, text in badges().items():
        (DOCS / "images" / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

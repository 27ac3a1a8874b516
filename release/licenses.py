"""Writes docs/licenses.md: the license of every pinned dependency.

    python release/licenses.py           # rewrite the page
    python release/licenses.py --check   # fail if a pin is missing from it

Licenses are read from the metadata of installed packages. What is not installed here, such as
packages for other platforms, keeps the row that the page has.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata

from pins import ROOT, read_constraints

PAGE = ROOT / "docs" / "licenses.md"
UNKNOWN = "not stated"
_LONGEST = 60
_HEAD = """\
# Licenses of dependencies

Warpzone itself is under the MIT license. These are the packages that its extras and its development
tools install, with the licenses that their metadata state. `python release/licenses.py` generates
this page.

| package | version | license |
|---|---|---|
"""


def license_of(name: str) -> str | None:
    """Returns the license that an installed package states; None if it is not installed."""
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    expression = found.get("License-Expression")
    if expression:
        return expression
    classified = [
        line.rpartition(" :: ")[2]
        for line in found.get_all("Classifier") or []
        if line.startswith("License :: OSI Approved :: ")
    ]
    if classified:
        return " or ".join(classified)
    text = (found.get("License") or "").strip().partition("\n")[0]
    return text if text and len(text) <= _LONGEST else UNKNOWN


def read_page() -> dict[str, tuple[str, str]]:
    """Returns version and license by package, as the page has them."""
    if not PAGE.exists():
        return {}
    rows = re.findall(r"^\| (\S+) \| (\S+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    return {name: (version, terms) for name, version, terms in rows if name != "package"}


def make_page() -> str:
    """Returns the page for the pins in constraints.txt."""
    before = read_page()
    rows = []
    for pin in read_constraints():
        terms = license_of(pin.name) or before.get(pin.name, ("", UNKNOWN))[1]
        rows.append(f"| {pin.name} | {pin.version} | {terms.replace('|', '/')} |")
    return _HEAD + "\n".join(rows) + "\n"


def problems() -> list[str]:
    """Returns the pins that the page lacks."""
    page = read_page()
    return [
        f"{pin.name} {pin.version} is missing"
        for pin in read_constraints()
        if page.get(pin.name, ("", ""))[0] != pin.version
    ]


def main() -> int:
    """Command line."""
    if sys.argv[1:] == ["--check"]:
        found = problems()
        for problem in found:
            print(f"{PAGE.name}: {problem}; run `python release/licenses.py`")
        return 1 if found else 0
    PAGE.write_text(make_page(), encoding="utf-8")
    print(f"wrote {PAGE.name}: {len(read_page())} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())

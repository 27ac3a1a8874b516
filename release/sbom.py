"""Writes a software bill of materials: CycloneDX 1.6 as JSON.

python release/sbom.py dist/warpzone.cdx.json

It lists every pinned dependency with its version, license and the hashes of its files.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

from licenses import UNKNOWN, read_page
from pins import HASHED, ROOT, Pin, read_hashed

_SPDX = re.compile(r"[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*")


def make_sbom() -> dict[str, Any]:
    """Returns the bill of materials as plain data; the same pins give the same document."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = read_hashed()
    licenses = {name: terms for name, (_, terms) in read_page().items()}
    serial = uuid.uuid5(uuid.NAMESPACE_URL, HASHED.read_text(encoding="utf-8"))
    purl = _purl(project["name"], project["version"])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": purl,
                "name": project["name"],
                "version": project["version"],
                "purl": purl,
                "licenses": [{"expression": project["license"]}],
            }
        },
        "components": [_component(pin, licenses.get(pin.name, UNKNOWN)) for pin in pins],
    }


def _component(pin: Pin, terms: str) -> dict[str, Any]:
    purl = _purl(pin.key, pin.version)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": purl,
        "name": pin.name,
        "version": pin.version,
        "purl": purl,
        # One entry per file of the version; which one is installed depends on the platform.
        "externalReferences": [
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{pin.key}/{pin.version}/",
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
            for digest in pin.hashes
        ],
    }
    if terms != UNKNOWN:
        # CycloneDX takes SPDX expressions; metadata of older packages have free text.
        is_spdx = _SPDX.fullmatch(terms) and "License" not in terms
        known = {"expression": terms} if is_spdx else {"license": {"name": terms}}
        component["licenses"] = [known]
    return component


def _purl(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


def main() -> int:
    """Command line."""
    if len(sys.argv) != 2:
        print("usage: python release/sbom.py FILE", file=sys.stderr)
        return 2
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    sbom = make_sbom()
    path.write_text(json.dumps(sbom, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}: {len(sbom['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())

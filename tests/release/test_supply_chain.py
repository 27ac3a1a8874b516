"""Pins have hashes and licenses, workflows are pinned, and releases list what they contain."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import licenses
import lock
import pins
import pytest
import sbom
import workflows
from hashed_install import runtime_pins

PAGE = """
<a href="https://host/a/nes_py-8.2.1.tar.gz#sha256={0}" data-x="1">nes_py-8.2.1.tar.gz</a><br/>
<a href="https://host/a/nes_py-8.2.10.tar.gz#sha256={1}">nes_py-8.2.10.tar.gz</a><br/>
<a href="https://host/a/nes_py-8.2.1-cp311-none-any.whl#sha256={2}">nes_py-8.2.1-cp311-none-any.whl</a>
"""


def test_every_pin_has_hashes() -> None:
    assert lock.problems() == []
    for pin in pins.read_hashed():
        assert pin.hashes
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in pin.hashes)


def test_a_changed_pin_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = pins.CONSTRAINTS.read_text(encoding="utf-8").replace("rich==", "rich==999.")
    (tmp_path / "constraints.txt").write_text(text, encoding="utf-8")
    monkeypatch.setattr(pins, "CONSTRAINTS", tmp_path / "constraints.txt")
    assert len(lock.problems()) == 1
    assert len(licenses.problems()) == 1


def test_hashes_are_those_of_the_version_alone() -> None:
    digests = [letter * 64 for letter in "abc"]
    found = lock.hashes_of(PAGE.format(*digests), pins.Pin("nes-py", "8.2.1"))
    assert found == (digests[0], digests[2])


def test_the_file_of_hashes_survives_being_read_and_written() -> None:
    assert lock.formatted(pins.read_hashed()) == pins.HASHED.read_text(encoding="utf-8")


def test_every_pin_has_a_license_row() -> None:
    assert licenses.problems() == []


def test_every_action_is_pinned_by_commit() -> None:
    assert workflows.problems() == []


@pytest.mark.parametrize("action", ["actions/checkout@v4", "a/b@main  # v1", f"a/b@{'0' * 40}"])
def test_an_action_that_is_not_pinned_is_named(
    action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    (folder / "test.yml").write_text(f"steps:\n  - uses: {action}\n", encoding="utf-8")
    monkeypatch.setattr(workflows, "ROOT", tmp_path)
    assert len(workflows.problems()) == 1


def test_the_bill_of_materials_lists_every_pin_once() -> None:
    document = sbom.make_sbom()
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    references = [component["bom-ref"] for component in document["components"]]
    assert len(set(references)) == len(references) == len(pins.read_constraints())
    assert document == sbom.make_sbom(), "the same pins give the same document"


def test_pip_accepts_the_hashes_of_the_runtime_dependencies(tmp_path: Path) -> None:
    wanted = [pin for pin in runtime_pins() if pin.key in ("mdurl", "platformdirs")]
    path = tmp_path / "requirements.txt"
    path.write_text(lock.formatted(wanted), encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
    subprocess.run([*command, "--require-hashes", "-r", str(path)], check=True, timeout=300)

"""Builds the sdist and a wheel for each Python on this machine, and tries them without extras.

python tests/wheel/check_wheels.py

A wheel is built from the sdist, so that the sdist is known to be complete. It must be small and
contain the policies and solutions. In a clean environment, every command must work or fail with one
sentence. `auditwheel show` says which Linux systems can use it, and the wheel gets their tag.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from interpreters import find_python  # noqa: E402
from outcome_lines import assert_one_sentence  # noqa: E402
from plain_commands import run_commands  # noqa: E402

from warpzone.rom.locate import find_rom  # noqa: E402

DIST = ROOT / "dist"
CONSTRAINTS = ROOT / "constraints.txt"
MINORS = (11, 12, 13, 14)
LARGEST = 12_000_000
BUILD_TOOLS = ("scikit-build-core", "nanobind", "cmake", "ninja")


def run(*command: str | Path) -> None:
    """Runs a program, and ends this one if it fails."""
    print("$", *command, flush=True)
    subprocess.run(list(map(str, command)), check=True)


def pythons() -> dict[int, Path]:
    """The interpreters of this machine, by minor version."""
    found = {minor: find_python(f"3.{minor}") for minor in MINORS}
    return {minor: path for minor, path in found.items() if path}


def environment(python: Path, folder: Path) -> Path:
    """Makes a virtual environment and returns its interpreter."""
    run(python, "-m", "venv", folder)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


def build_sdist() -> Path:
    """Builds the source distribution."""
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", DIST, ROOT)
    return max(DIST.glob("warpzone-*.tar.gz"), key=lambda path: path.stat().st_mtime)


def build_wheel(python: Path, sdist: Path, folder: Path) -> Path:
    """Builds a wheel from the sdist with an interpreter."""
    own = environment(python, folder / "build")
    run(own, "-m", "pip", "install", "-q", "-c", CONSTRAINTS, *BUILD_TOOLS)
    made = folder / "made"
    run(own, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", made, sdist)
    (wheel,) = made.glob("*.whl")
    return Path(shutil.copy(wheel, DIST))


def with_linux_tag(wheel: Path) -> Path:
    """Names a wheel after the oldest Linux that can use it, if there is a tag for it."""
    shown = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", wheel],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    print(shown)
    tag = re.search(r'following\s+platform\s+tag:\s+"(manylinux\w+)"', shown)
    if tag is None:
        return wheel
    # `auditwheel repair` does the same, but requires patchelf even when there is nothing to patch.
    from auditwheel.wheeltools import InWheelCtx, add_platforms, get_wheel_platforms

    with InWheelCtx(wheel, wheel) as opened:
        tagged = add_platforms(opened, [tag[1]], get_wheel_platforms(wheel.name))
    wheel.unlink()
    return tagged


def check_content(wheel: Path) -> None:
    """Checks the size, and that policies and solutions are inside."""
    names = zipfile.ZipFile(wheel).namelist()
    assert sum(name.endswith(".solution") for name in names) == 32, "solutions are missing"
    assert any(name.endswith(".policy") for name in names), "policies are missing"
    assert not any(name.endswith((".nes", ".png")) for name in names), "files that do not belong"
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB")
    assert size < LARGEST, f"{wheel.name} is larger than {LARGEST:,} bytes"


def check_commands(python: Path, wheel: Path, folder: Path) -> None:
    """Installs the wheel without extras into a clean environment and runs every command."""
    clean = environment(python, folder / "clean")
    run(clean, "-m", "pip", "install", "-q", "-c", CONSTRAINTS, wheel)
    empty = folder / "empty"
    empty.mkdir()
    for command, (code, _, err) in run_commands(clean, empty, find_rom(), []).items():
        assert_one_sentence(code, err)
        print(f"  {command}: {'works' if code != 2 else err.strip().splitlines()[-1]}")


def main() -> int:
    """Builds and checks everything."""
    sdist = build_sdist()
    for minor, python in pythons().items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"Python 3.{minor}", flush=True)
            wheel = build_wheel(python, sdist, Path(folder))
            check_content(wheel)
            if sys.platform == "linux":
                wheel = with_linux_tag(wheel)
            check_commands(python, wheel, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""nes-py under NumPy 1.26 and an older Gymnasium, installed apart, plays as under NumPy 2."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import warpzone
from warpzone import _native
from warpzone.bench.peers import install

HERE = Path(__file__).parent
REQUIREMENTS = (
    *("numpy==1.26.4", "gymnasium==1.1.1"),
    *("nes-py==8.2.1", "gym-super-mario-bros==7.4.0", "gym==0.26.2"),
    *("rich", "imageio", "imageio-ffmpeg", "pillow", "platformdirs"),
)


@pytest.fixture(scope="module")
def old_python() -> Path:
    """A virtual environment outside the repository, made once."""
    folder = Path(os.environ.get("WARPZONE_PEERS", install.DEFAULT_FOLDER))
    return Path(install.install(install.Peer("nes-py-numpy1", REQUIREMENTS), folder))


def play(python: str | Path, vector: str, path: str = "") -> dict[str, Any]:
    result = subprocess.run(
        [str(python), str(HERE / "numpy1_play.py"), vector],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout.splitlines()[-1]))


@pytest.mark.slow
@pytest.mark.parametrize("vector", ["sync", "async"])
def test_play_is_the_same_under_numpy_1(old_python: Path, tmp_path: Path, vector: str) -> None:
    package = tmp_path / "package" / "warpzone"
    shutil.copytree(Path(warpzone.__file__).parent, package)
    native = Path(str(_native.__file__))
    shutil.copy(native, package / native.name)
    old = play(old_python, vector, str(package.parent))
    new = play(sys.executable, vector)
    assert old["versions"] == {"numpy": "1.26.4", "gymnasium": "1.1.1"}
    assert new["versions"]["numpy"].startswith("2.")
    assert old["told"] == new["told"]

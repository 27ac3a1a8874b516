"""Names of every kind: a run is refused up front, or can be opened, resumed and evaluated again."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny import tiny

from warpzone.config import to_toml
from warpzone.errors import ConfigError, RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.saved_config import saved_config
from warpzone.training import session

# Everything that a file name can be: beyond U+FFFF, control characters, bytes that are not UTF-8.
NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=()), min_size=1).filter(
    lambda name: name not in (".", "..") and len(os.fsencode(_encodable(name))) < 200
)


def _encodable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


@settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(folder=NAMES, name=NAMES, level=NAMES)
def test_a_configuration_comes_back_as_it_was_or_is_refused_before_anything_is_written(
    tmp_path_factory: pytest.TempPathFactory, folder: str, name: str, level: str
) -> None:
    place = tmp_path_factory.mktemp("names")
    config = tiny(place / folder, name=name)
    config = replace(config, env=replace(config.env, level=level))
    try:
        run = RunDirectory.create(place / folder, name, to_toml(config))
    except (ConfigError, RunError) as error:
        assert "\n" not in str(error).replace(folder, "").replace(name, "")  # noqa: PT017
        assert list(place.iterdir()) == []
        return
    assert asdict(saved_config(RunDirectory.open(run.path).path)) == asdict(config)


@pytest.mark.parametrize(
    "folder", ["läufe \U0001f344", "tab\tquote\"'\\", "\x1b[31m\x7f", "[a] = 1"]
)
def test_a_run_in_a_folder_of_any_name_is_trained_resumed_and_evaluated(
    tmp_path: Path, rom_path: Path, folder: str
) -> None:
    from warpzone import cli

    config = tiny(tmp_path / folder, name="mario-\U0001d400")
    run, _ = session.start(config, "quiet")
    arguments = ["train", "--resume", str(run.path), "--steps", "96", "--no-video"]
    assert cli.main([*arguments, "--display", "quiet"]) == 0
    assert cli.main(["eval", str(run.path), "--episodes", "1"]) == 0
    assert cli.main(["export", str(run.path), "-o", str(tmp_path / "x.policy")]) == 0
    assert cli.main(["eval", str(tmp_path / "x.policy"), "--episodes", "1"]) == 0

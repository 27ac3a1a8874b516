"""Commands for a run: checked like options, left as whole files."""

import json
from pathlib import Path

import pytest
from dashboard_support import CHANGE, make_client, write_run

from warpzone import cli
from warpzone.config import EnvOptions, TrainConfig, to_toml
from warpzone.errors import ConfigError, RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.level_shares import level_shares
from warpzone.runs.steering import (
    SteeringCommand,
    changed_config,
    find_outcome,
    level_share_names,
    read_changes,
    send_command,
    steerable_options,
    waiting_commands,
)


def test_changes_are_read_as_the_command_line_reads_them() -> None:
    changes = read_changes({"learning-rate": "3e-4", "reward.time": "0.01", "steps": "2M"})
    config = changed_config(TrainConfig(), changes)
    assert config.learn.learning_rate == 3e-4
    assert config.reward.time == 0.01
    assert config.run.steps == 2_000_000


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("learning-rate", "fast", "learning-rate is 'fast'"),
        ("learning-rate", "-1", "above 0"),
        ("learning-rate", "nan", "finite"),
        ("clip-coef", "", "clip-coef"),
        ("hidden", "8", "hidden cannot change while a run trains"),
        ("reward", "classic", "reward cannot change while a run trains"),
        ("learning-rat", "1", "did you mean learning-rate"),
    ],
)
def test_bad_changes_are_refused_with_a_sentence(name: str, text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read_changes({name: text})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("lots", "level-share:1-2 is 'lots'; it must be a number"),
        ("-1", "from 0 to"),
        ("nan", "it must be a number"),
    ],
)
def test_bad_level_shares_are_refused_with_a_sentence(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        read_changes({"level-share:1-2": text})


def test_level_shares_change_one_level_and_keep_the_others() -> None:
    env = EnvOptions(level="1-1..1-3", level_order="curriculum", level_shares="1-3=2")
    config = changed_config(TrainConfig(env=env), {"level-share:1-1": "0.5"})
    assert level_shares(config.env) == {"1-1": 0.5, "1-2": 1.0, "1-3": 2.0}
    back = changed_config(config, {"level-share:1-1": "1", "level-share:1-3": "1"})
    assert back.env.level_shares == ""
    with pytest.raises(ConfigError, match="'8-4' is not a level that this run trains"):
        changed_config(config, {"level-share:8-4": "2"})
    zeros = {f"level-share:1-{number}": "0" for number in (1, 2, 3)}
    with pytest.raises(ConfigError, match="at least one a share above 0"):
        changed_config(config, zeros)


def test_a_run_with_a_fixed_level_has_no_level_shares() -> None:
    with pytest.raises(ConfigError, match="level shares do not apply"):
        changed_config(TrainConfig(), {"level-share:1-1": "2"})
    assert level_share_names(TrainConfig()) == []
    with pytest.raises(ConfigError, match="write level-share:1-2=3"):
        read_changes({"level-shares": "1-2=3"})


def test_every_steerable_option_accepts_its_own_default() -> None:
    from warpzone.config.values import show

    for option in steerable_options():
        read_changes({option.flag: show(option.default)})


def test_a_command_waits_in_the_folder_of_a_run_that_trains(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    first = SteeringCommand("set", "me", {"learn.learning_rate": "0.1"})
    send_command(run, first)
    second = SteeringCommand("pause", "me")
    send_command(run, second)
    assert [command for _, command in waiting_commands(run)] == [first, second]
    assert find_outcome(run, first.name) is None


@pytest.mark.parametrize("phase", ["finished", "crashed", "interrupted"])
def test_a_run_that_has_ended_takes_no_commands(tmp_path: Path, phase: str) -> None:
    run = RunDirectory(write_run(tmp_path, phase=phase))
    with pytest.raises(RunError, match=f"is not training \\(it is {phase}\\)"):
        send_command(run, SteeringCommand("pause", "me"))
    assert not run.commands.exists()


def test_damaged_commands_say_what_is_wrong(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    run.commands.mkdir()
    whole = {"action": "pause", "who": "me", "changes": {}, "time": 1.0}
    contents = ["garbage", "[]", json.dumps(whole | {"action": "explode"}), json.dumps({})]
    contents.append(json.dumps(whole | {"changes": {"learn.learning_rate": 1}}))
    for number, content in enumerate(contents):
        (run.commands / f"{number}.json").write_text(content)
    found = [command for _, command in waiting_commands(run)]
    assert all(isinstance(command, str) for command in found)
    assert found[2] == "there is no action 'explode'"


def test_the_command_line_sends_and_does_not_wait_for_an_answer_that_is_not_wanted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    sent = ["runs", "set", str(run.path), "learning-rate=3e-4", "--wait", "0"]
    assert cli.main(sent) == 0
    assert "has not responded yet" in capsys.readouterr().out
    (_, command), *_ = waiting_commands(run)
    assert isinstance(command, SteeringCommand)
    assert command.changes == {"learn.learning_rate": "3e-4"}
    assert "(shell)" in command.who


def test_the_command_line_shows_what_became_of_a_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))

    def answer(run: RunDirectory, name: str) -> dict[str, object]:
        return {"update": 6, "changes": {"learn.learning_rate": [0.001, 0.0003]}, "error": None}

    monkeypatch.setattr("warpzone.runs.steering.find_outcome", answer)
    assert cli.main(["runs", "set", str(run.path), "learning-rate=3e-4"]) == 0
    assert "learn.learning_rate: 0.001 -> 0.0003, starting with update 7" in capsys.readouterr().out
    monkeypatch.setattr("warpzone.runs.steering.find_outcome", lambda *_: {"error": "too late"})
    assert cli.main(["runs", "pause", str(run.path)]) == 2
    assert "rejected the command: too late" in capsys.readouterr().err


def test_the_dashboard_leaves_commands_and_shows_their_outcome(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    client = make_client(tmp_path)
    body = {"run": run.name, "action": "set", "changes": {"learning-rate": "3e-4"}}
    answer = client.post("/api/steer", json=body, headers=CHANGE)
    assert answer.status_code == 200, answer.text
    name = answer.json()["command"]
    (path, command), *_ = waiting_commands(run)
    assert path.stem == name
    assert isinstance(command, SteeringCommand)
    assert "(dashboard)" in command.who
    row = {"command": name, "steps": 7, "elapsed": 1.5, "changes": {"learn.gamma": [1, 2]}}
    run.steering.write_text(json.dumps(row) + "\n")
    about = {"run": run.name}
    assert client.get("/api/outcome", params=about | {"command": name}).json()["outcome"] == row
    assert client.get("/api/steering", params=about).json()["history"] == [row]
    mark = {"steps": 7, "time": 1.5, "changes": {"learn.gamma": [1, 2]}}
    assert client.get("/api/run", params=about).json()["marks"] == [mark]


def test_the_dashboard_shows_evaluations_and_marks_them(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    level = {"level": "1-1", "clears": 3, "episodes": 4, "clear_rate": 0.75}
    whole = {"time": 9.0, "update": 2, "steps": 7, "elapsed": 1.5, "who": "me", "levels": [level]}
    failed = whole | {"levels": [], "error": "no ROM"}
    lines = [json.dumps(whole), "garbage", json.dumps(whole | {"levels": 5}), json.dumps(failed)]
    run.evaluations.write_text("\n".join(lines) + "\n")
    client = make_client(tmp_path)
    about = {"run": run.name}
    first, second = client.get("/api/steering", params=about).json()["evaluations"]
    assert (first["clear_rate"], first["episodes"], first["error"]) == (0.75, 4, None)
    assert (second["clear_rate"], second["error"]) == (None, "no ROM")
    mark = {"steps": 7, "time": 1.5, "clear_rate": 0.75}
    assert client.get("/api/run", params=about).json()["marks"] == [mark]


def test_the_dashboard_offers_level_shares_of_runs_that_choose_levels(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    env = EnvOptions(level="1-1,1-2", level_order="random", level_shares="1-2=3")
    run.config.write_text(to_toml(TrainConfig(env=env)))
    options = make_client(tmp_path).get("/api/steering", params={"run": run.name}).json()["options"]
    shares = {row["path"]: row["text"] for row in options if "share:" in row["path"]}
    assert shares == {"level-share:1-1": "1", "level-share:1-2": "3"}


@pytest.mark.parametrize(
    "body",
    [
        {"action": "explode"},
        {"action": "set", "changes": {"learning-rate": "fast"}},
        {"action": "set", "changes": {"learning-rate": 1}},
        {"action": "set", "changes": [1]},
        {"action": "pause", "run": "../other"},
        {},
    ],
)
def test_the_dashboard_refuses_bad_commands_with_a_sentence(
    tmp_path: Path, body: dict[str, object]
) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    client = make_client(tmp_path)
    answer = client.post("/api/steer", json={"run": run.name} | body, headers=CHANGE)
    assert answer.status_code in (400, 404)
    assert answer.json()["error"]
    assert waiting_commands(run) == []


def test_a_read_only_dashboard_leaves_no_commands(tmp_path: Path) -> None:
    run = RunDirectory(write_run(tmp_path, phase="update"))
    client = make_client(tmp_path, read_only=True)
    body = {"run": run.name, "action": "pause"}
    assert client.post("/api/steer", json=body, headers=CHANGE).status_code == 403
    assert waiting_commands(run) == []
    assert client.get("/api/steering", params={"run": run.name}).status_code == 200

"""Commands for a run: checked like options, left as whole files."""

import json
from pathlib import Path

import pytest
from dashboard_support import CHANGE, make_client, write_run

from warpzone import cli
from warpzone.config import TrainConfig
from warpzone.errors import ConfigError, RunError
from warpzone.runs.directory import RunDirectory
from warpzone.runs.steering import (
    SteeringCommand,
    changed_config,
    find_outcome,
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

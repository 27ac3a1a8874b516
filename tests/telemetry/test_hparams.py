"""Options in TensorBoard and Weights & Biases, read as their pages read them."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams.backend_context import Context
from tensorboard.plugins.hparams.get_experiment import Handler as ExperimentHandler
from tensorboard.plugins.hparams.list_session_groups import Handler as SessionsHandler

from warpzone.errors import ConfigError
from warpzone.telemetry.hparams import SHOWN_METRICS
from warpzone.telemetry.metrics import METRICS
from warpzone.telemetry.sinks import TensorBoardSink, WandbSink

OPTIONS = {
    "learn.gamma": 0.97,
    "learn.normalize": True,
    "env.level": "1-1",
    "env.levels": ["1-1", "1-2"],
    "run.rom": None,
}


def write_session(folder: Path, gamma: float, rates: list[float]) -> None:
    folder.mkdir(parents=True)
    sink = TensorBoardSink(folder, OPTIONS | {"learn.gamma": gamma})
    for steps, rate in enumerate(rates):
        sink.write({"run/steps": steps, "rollout/clear_rate": rate, "loss/value": 1.0})
    sink.close()


def hparams_page(folder: Path) -> tuple[Any, list[Any]]:
    """The experiment and the sessions that TensorBoard's HParams page shows."""
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(folder))
    context = Context(
        TBContext(data_provider=provider, multiplexer=multiplexer, logdir=str(folder))
    )
    asked = api_pb2.GetExperimentRequest(experiment_name="x")
    experiment = ExperimentHandler(RequestContext(), context, "x", asked).run()
    every = [api_pb2.Status.Value(f"STATUS_{name}") for name in ("UNKNOWN", "RUNNING", "SUCCESS")]
    asked = api_pb2.ListSessionGroupsRequest(
        experiment_name="x", allowed_statuses=every, slice_size=10, col_params=()
    )
    sessions = SessionsHandler(RequestContext(), context, "x", asked).run()
    return experiment, list(sessions.session_groups)


def test_the_hparams_page_compares_runs_by_their_options(tmp_path: Path) -> None:
    write_session(tmp_path / "a" / "events", 0.97, [0.1, 0.25])
    write_session(tmp_path / "b" / "events", 0.5, [0.0, 0.75])
    experiment, groups = hparams_page(tmp_path)
    assert [info.name.tag for info in experiment.metric_infos] == list(SHOWN_METRICS)
    names = {info.name for info in experiment.hparam_infos}
    assert names == {"learn.gamma", "learn.normalize", "env.level", "env.levels"}
    found = {}
    for group in groups:
        values = {value.name.tag: value.value for value in group.metric_values}
        gamma = group.hparams["learn.gamma"].number_value
        found[gamma] = values["rollout/clear_rate"]
        assert group.hparams["learn.normalize"].bool_value is True
        assert group.hparams["env.level"].string_value == "1-1"
        assert group.hparams["env.levels"].string_value == "1-1,1-2"
        assert group.sessions[0].end_time_secs >= group.sessions[0].start_time_secs > 0
    assert found == {0.97: 0.25, 0.5: 0.75}


def test_the_options_return_with_a_folder_that_was_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    sink = TensorBoardSink(folder, OPTIONS)
    sink.write({"run/steps": 1})
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError):
        sink.write({"run/steps": 2})
    folder.mkdir()
    sink.write({"run/steps": 3, "rollout/clear_rate": 0.5})
    sink.close()
    _, (group,) = hparams_page(tmp_path)
    assert group.hparams["learn.gamma"].number_value == 0.97


def test_the_shown_metrics_exist() -> None:
    assert set(SHOWN_METRICS) <= METRICS.keys()


class FakeRun:
    """A wandb run that keeps what it is sent; its summary holds the last values."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.summary: dict[str, float] = {}
        self.steps: list[int] = []
        self.finished = False

    def log(self, row: dict[str, float], step: int) -> None:
        self.summary |= row
        self.steps.append(step)

    def finish(self) -> None:
        self.finished = True


def test_weights_and_biases_gets_the_options_and_the_last_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[FakeRun] = []

    def init(**arguments: Any) -> FakeRun:
        runs.append(FakeRun(**arguments))
        return runs[-1]

    fake = SimpleNamespace(init=init, errors=SimpleNamespace(Error=RuntimeError))
    monkeypatch.setitem(sys.modules, "wandb", fake)
    config = {"learn": {"gamma": 0.97}, "run": {"seed": 3}}
    sink = WandbSink("project", "mario-1-1", tmp_path, config)
    sink.write({"run/steps": 100, "rollout/clear_rate": 0.5, "loss/value": None})
    sink.write({"run/steps": 200, "rollout/clear_rate": 0.75})
    sink.close()
    (run,) = runs
    assert run.arguments["config"] == config
    assert (run.arguments["id"], run.arguments["resume"]) == ("mario-1-1", "allow")
    assert run.steps == [100, 200]
    assert run.summary == {"run/steps": 200, "rollout/clear_rate": 0.75}
    assert run.finished


def test_a_missing_wandb_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match="pip install wandb"):
        WandbSink("project", "mario-1-1", tmp_path, {})

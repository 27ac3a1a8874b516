"""Taking turns with a trained policy."""

from pathlib import Path

import numpy as np
import pytest
from test_play_session import FakeWindow

from warpzone import cli
from warpzone.envs.single import MarioEnv
from warpzone.evaluation.policies import add_batch_dimension
from warpzone.evaluation.trained import load_policy
from warpzone.play.agent import PolicyAgent, load_agent
from warpzone.play.session import AGENT_HINT, Session

POLICY = Path(__file__).parents[2] / "policies" / "8-3.policy"
RIGHT = 0x80


def make_session() -> tuple[Session, PolicyAgent]:
    agent = load_agent(POLICY)
    return Session(agent.level, agent.game, agent=agent), agent


def test_the_agent_plays_as_in_an_environment(rom_path: Path) -> None:
    session, agent = make_session()
    session.run(FakeWindow({}), max_iterations=400)
    policy = load_policy(POLICY)
    env = MarioEnv(POLICY.stem, **policy.env_options())
    obs, _ = env.reset(seed=0)
    player = policy.player(1, 0, greedy=False)
    for step in range(100):
        action = player(add_batch_dimension(obs), np.array([step == 0]))
        obs, *_ = env.step(int(action[0]))
    np.testing.assert_array_equal(agent.console.ram, env.ram())


def test_t_takes_over_and_hands_back(rom_path: Path) -> None:
    session, agent = make_session()
    window = FakeWindow({20: "agent", 60: "agent"}, buttons=RIGHT)
    pressed: list[int] = []
    follow = agent.follow

    def note(buttons: int) -> None:
        pressed.append(buttons)
        follow(buttons)

    agent.follow = note  # type: ignore[method-assign]
    session.run(window, max_iterations=120)
    assert set(pressed[20:60]) == {RIGHT}
    assert set(pressed[:20]) | set(pressed[60:]) != {RIGHT}
    assert window.messages[0] == "the agent plays; press T to take over"
    assert window.messages[20] == "you play; press T to hand back"
    assert window.messages[60] == "the agent plays; press T to take over"


def test_the_agent_continues_from_a_loaded_state(rom_path: Path) -> None:
    session, agent = make_session()
    session.run(FakeWindow({30: "save", 90: "load"}), max_iterations=91)
    assert session.agent_plays
    session.run(FakeWindow({}, rewinding=range(0, 5)), max_iterations=40)
    assert agent.console.ram[0x86] >= 0


def test_the_key_hints_name_the_agent_only_where_there_is_one(rom_path: Path) -> None:
    session, _ = make_session()
    window = FakeWindow({0: "hints"})
    session.run(window, max_iterations=1)
    assert AGENT_HINT in window.messages[0]
    alone = FakeWindow({0: "hints", 1: "agent"})
    Session("1-1").run(alone, max_iterations=2)
    assert AGENT_HINT not in alone.messages[0]
    assert alone.messages[1].startswith("there is no agent; start with --policy")


def test_an_unknown_policy_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    assert cli.main(["play", "--volume", "0", "--policy", "nosuch"]) == 2
    assert "nosuch is not a file, a run below runs, or a level" in capsys.readouterr().err

"""`warpzone play`: play the game in a window."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from warpzone.config.environment import Game
from warpzone.config.option import option

if TYPE_CHECKING:
    from warpzone.play.agent import PolicyAgent


@dataclass(frozen=True)
class Play:
    """Play the game yourself, in a window.

    Arrows move, X is A (jump), Z is B (run, fire), Enter is Start, Shift is Select; gamepads work
    too. P pauses, R restarts, Backspace rewinds, F5 saves a state and F9 loads it, 1 to 9 choose
    the slot, M mutes, H shows the keys, Esc quits. With --policy, a trained policy plays until T
    takes over; T again hands back. Needs `pip install "warpzone[play]"`, and for --policy
    `pip install "warpzone[play,train]"`.

    Examples:
      warpzone play
      warpzone play --level 8-1 --scale 4
      warpzone play --level 1-2 --record run.mp4
      warpzone play --level 8-4 --state pipe.state
      warpzone play --policy 1-1
      warpzone play --policy runs/mario-1-1 --level 1-1
    """

    level: str | None = option(
        None,
        "Level to start with, or 'game' for the whole game. By default, the level of --policy, or "
        "else the whole game.",
        metavar="LEVEL",
    )
    policy: Path | None = option(
        None,
        "Trained policy that plays in turns with you; T takes over and hands back. A run or its "
        "name below runs/, a checkpoint, a policy file, or a level, for the policy that comes with "
        "Warpzone.",
        metavar="RUN",
    )
    scale: int = option(
        3, "Screen pixels per pixel of the game.", at_least=1, at_most=16, metavar="N"
    )
    volume: int = option(
        50,
        "Volume in percent; 0 plays without a sound device.",
        at_least=0,
        at_most=100,
        metavar="PERCENT",
    )
    record: Path | None = option(None, "Record the session to this .mp4 or .gif.", metavar="FILE")
    state: Path | None = option(
        None,
        "Save the state to this file instead of memory, to load it later or to start training "
        "from it.",
        metavar="FILE",
    )
    power: Literal[0, 1, 2] = option(0, "Mario at the start of a level: 0 small, 1 big, 2 fire.")
    game: Game = option("smb", "Super Mario Bros. or The Lost Levels.")
    rom: Path | None = option(
        None,
        "ROM file to play. By default, WARPZONE_ROM or the installed ROM is used.",
        metavar="FILE",
    )

    def run(self) -> int:
        """Opens the window and runs until it is closed."""
        from contextlib import nullcontext

        from warpzone.play.session import Session
        from warpzone.play.speaker import MixerSpeaker
        from warpzone.play.window import GameWindow
        from warpzone.video.writer import VideoWriter

        record = nullcontext() if self.record is None else VideoWriter(self.record, 60, scale=2)
        window = GameWindow(self.scale)
        speaker = MixerSpeaker(self.volume) if self.volume else None
        agent = None if self.policy is None else self._agent(self.policy)
        session = Session(
            self.level or ("game" if agent is None else agent.level),
            self.game if agent is None else agent.game,
            self.rom,
            self.power,
            self.state,
            speaker=speaker,
            agent=agent,
        )
        with window, speaker or nullcontext(), record as video:
            frames = session.run(window, None if video is None else video.write)
        print(f"played {frames / 60:.0f} s")
        if self.record is not None:
            print(f"wrote {self.record}")
        return 0

    def _agent(self, policy: Path) -> PolicyAgent:
        from warpzone.evaluation.targets import find_target
        from warpzone.play.agent import load_agent

        target = find_target(policy)
        return load_agent(target.path, target.level or self.level, self.rom)

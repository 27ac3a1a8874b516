"""`warpzone.make_vec`: the vector environment, with every keyword spelled out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Never

from warpzone.envs.actions import Actions
from warpzone.envs.options import (
    Autoreset,
    Channels,
    Game,
    Hud,
    LevelOrder,
    ObsKind,
    RenderMode,
    RewardKind,
    RomFile,
    Sticky,
    Weight,
)
from warpzone.envs.vector import MarioVectorEnv


def make_vec(
    level: str | Sequence[str] = "1-1",
    num_envs: int = 1,
    num_threads: int | None = None,
    *,
    render_mode: RenderMode | None = None,
    rom: RomFile = None,
    game: Game = "smb",
    weights: Mapping[str, Weight] | None = None,
    level_order: LevelOrder = "cycle",
    obs: ObsKind = "pixels",
    channels: Channels = "last",
    size: int | tuple[int, int] = (0, 0),
    stack: int = 0,
    frame_skip: int = 4,
    max_pool: bool = False,
    show_buttons: bool = False,
    hud: Hud = "keep",
    actions: Actions = "simple",
    sticky_prob: float = 0.0,
    sticky: Sticky = "frame",
    noop_max: int = 0,
    game_start_prob: float = 0.0,
    reward: RewardKind = "shaped",
    autoreset: Autoreset = "next-step",
    power: int = 0,
    random_power: float = 0.0,
    reseed_game: bool = False,
    start_random_steps: int = 0,
    halfway: bool = False,
    start_state: bytes = b"",
    max_steps: int = 0,
    stagnation_limit: int = 0,
    one_life: bool | None = None,
    one_level: bool | None = None,
    exact: bool = False,
    **unknown: Never,
) -> MarioVectorEnv:
    """Creates a vector environment: `make_vec("1-1", num_envs=16, num_threads=2)`.

    Args:
        level: Levels to play: '1-1', '1-1,1-2', '1-1..1-4', a list of these, 'all', or 'game' for
            the whole game from the title screen.
        num_envs: Number of environments.
        num_threads: Threads that share them; by default one per processor core.
        render_mode: None or 'rgb_array'.
        rom: Path of the ROM; by default the installed one.
        game: 'smb' for Super Mario Bros., 'lost-levels' for The Lost Levels.
        weights: Reward weights that differ from the defaults, by name.
        level_order: 'cycle': env i always plays level i mod n of the n levels; 'random': a new one
            at every reset.
        obs: 'pixels': stacked grayscale images (stack, height, width); 'rgb': color images;
            'tiles': the tile grid read from RAM, with features.
        channels: rgb: 'last' for (height, width, 3 * stack), 'first' for (3 * stack, height,
            width).
        size: (height, width) of images, 8 to 2048 pixels each; (0, 0) means (84, 84) for pixels and
            the size of the screen for rgb. Resizing averages by area.
        stack: Frames in one observation; 0 means 4 for pixels, 1 for rgb, 2 for tiles.
        frame_skip: Emulated frames per step; the action is held.
        max_pool: Pixels and rgb: take the pixel-wise maximum of a step's last two frames.
        show_buttons: Pixels: draw the buttons of the last frame as eight blocks in the upper left
            corner.
        hud: The status bar: 'keep', 'mask' (black) or 'crop'.
        actions: An action set ('right-only', 'simple', 'whole-game', 'complex', 'extended'), or
            button combinations such as 'NOOP,RIGHT+A', also as a list.
        sticky_prob: Probability that the previous buttons stay pressed (sticky actions); see
            sticky.
        sticky: When sticky_prob is drawn: 'frame', at each emulated frame, or 'step', once per
            step, which then repeats the whole previous action.
        noop_max: Each reset is followed by 0 to noop_max no-op frames, drawn at random.
        game_start_prob: Probability that a level starts as within a whole game: after the screen
            that announces it, whose end sets the rhythm of some enemies, with the buttons of a
            random action held instead of no-op frames, without hidden blocks that contain a life
            (except in 1-1), and in half of the cases at its halfway page, as after a life lost late
            in the level.
        reward: 'shaped': weighted terms; 'classic': the reward of gym-super-mario-bros 7.4.
        autoreset: When an episode that ended is reset: 'next-step', 'same-step' or 'disabled'.
        power: Mario at the start: 0 small, 1 big, 2 with fire.
        random_power: Probability that a level starts with Mario big or with fire, equally likely,
            whatever power is.
        reseed_game: Draw the state of the game's random number generator anew at each reset, so
            that enemies behave differently from the same start.
        start_random_steps: A reset to a state without no-op frames is followed by a random action,
            held for 0 to this many steps, unless Mario would not stand or swim afterwards.
        halfway: Start at the level's halfway page, where it has one.
        start_state: Start from this save state instead of the start of a level.
        max_steps: Truncate an episode after this many steps; 0 disables this.
        stagnation_limit: Truncate an episode after this many steps without progress; 0 disables
            this.
        one_life: End the episode when a life is lost; None means True except for 'game'.
        one_level: End the episode when the level is cleared or left; None means True except for
            'game'.
        exact: Emulate every cycle literally: slow, with identical results.
        unknown: Refused, with the nearest keyword as a suggestion.

    Raises:
        ConfigError: For a keyword or a value that is not allowed.
        RomError: When no usable ROM is found.
    """
    return MarioVectorEnv(
        level,
        num_envs=num_envs,
        num_threads=num_threads,
        render_mode=render_mode,
        rom=rom,
        game=game,
        weights=weights,
        level_order=level_order,
        obs=obs,
        channels=channels,
        size=size,
        stack=stack,
        frame_skip=frame_skip,
        max_pool=max_pool,
        show_buttons=show_buttons,
        hud=hud,
        actions=actions,
        sticky_prob=sticky_prob,
        sticky=sticky,
        noop_max=noop_max,
        game_start_prob=game_start_prob,
        reward=reward,
        autoreset=autoreset,
        power=power,
        random_power=random_power,
        reseed_game=reseed_game,
        start_random_steps=start_random_steps,
        halfway=halfway,
        start_state=start_state,
        max_steps=max_steps,
        stagnation_limit=stagnation_limit,
        one_life=one_life,
        one_level=one_level,
        exact=exact,
        **unknown,
    )

"""Gymnasium's AsyncVectorEnv with a start that cannot hang and workers that can be lost."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.error import CustomSpaceError
from gymnasium.vector import AsyncVectorEnv, AutoresetMode
from gymnasium.vector.async_vector_env import AsyncState
from gymnasium.vector.utils import (
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    iterate,
    read_from_shared_memory,
)
from numpy.typing import NDArray

from warpzone.envs.vectors.options import WorkerOptions
from warpzone.envs.vectors.worker_group import Spaces, WorkerGroup
from warpzone.errors import WorkerError


class ProcessVectorEnv(AsyncVectorEnv):
    """Environments in processes, each watched at every stage.

    Workers start in order: all import their packages at the same time, then one after the other
    builds its environment. Whatever a worker does has a time limit; one that passes it is asked for
    its stacks and killed. A worker that dies is replaced, as long as replacements are left: its
    episode counts as truncated and a new one has begun. Otherwise `WorkerError` names the worker,
    the stage and its log, and the others can be used on: `reset` starts the lost ones anew.

    No process is left behind by an error, by Ctrl-C, by `close`, or by the death of this process.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        *,
        env_spaces: Spaces | None = None,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
        metadata: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
        workers: WorkerOptions | None = None,
    ) -> None:
        """Starts the workers and waits until each has built its environment.

        Args:
            env_fns: Make the environments; called in the workers.
            env_spaces: Of one environment's observations and actions; without them a worker more
                is started to ask for them.
            autoreset_mode: As for `AsyncVectorEnv`.
            metadata: Of the environments.
            render_mode: Of the environments.
            workers: How they are started and watched.

        Raises:
            WorkerError: A worker failed; all others are ended.
        """
        # What Gymnasium's own constructor sets; it would start all workers at once and wait for
        # them without a limit, so it is not called.
        self.env_fns = list(env_fns)
        self.num_envs = len(self.env_fns)
        self.workers = workers or WorkerOptions()
        self.workers.verify()
        self.copy, self.daemon, self.worker = True, True, None
        self.context, self.observation_mode = self.workers.method, "same"
        self.autoreset_mode = autoreset_mode
        self.metadata = {**(metadata or {}), "autoreset_mode": autoreset_mode}
        self.render_mode = render_mode
        for make_env in self.env_fns[: self.workers.prewarm]:
            make_env().close()
        env_spaces = env_spaces or self._asked_spaces()
        self._set_spaces(env_spaces)
        self._seeds: list[int | None] = [None] * self.num_envs
        self._group = WorkerGroup(
            self.env_fns, env_spaces, self._shared, autoreset_mode, self.workers
        )
        self._state = AsyncState.DEFAULT
        try:
            self._group.start_all()
        except BaseException:
            self.close(terminate=True)
            raise

    def _asked_spaces(self) -> Spaces:
        """The spaces of the first environment, which is not built here: that could hang."""
        scout = WorkerGroup(self.env_fns[:1], None, None, self.autoreset_mode, self.workers)
        try:
            scout.start_all()
            assert scout.env_spaces is not None
            return scout.env_spaces
        finally:
            scout.end(ask=False)

    # Both change whenever a worker is replaced, so they are asked for, not kept.
    @property
    def processes(self) -> list[Any]:  # type: ignore[override]
        """The worker processes."""
        return [worker.process for worker in self._group.workers]

    @property
    def parent_pipes(self) -> list[Any]:  # type: ignore[override]
        """The pipes to the workers."""
        return [worker.pipe for worker in self._group.workers]

    def _set_spaces(self, env_spaces: Spaces) -> None:
        observations, actions = env_spaces
        self.single_observation_space, self.single_action_space = observations, actions
        self.observation_space = batch_space(observations, self.num_envs)
        self.action_space = batch_space(actions, self.num_envs)
        context: Any = multiprocessing.get_context(self.workers.method)
        self._shared: Any
        try:
            self._shared = create_shared_memory(observations, self.num_envs, context)
            self.observations = read_from_shared_memory(observations, self._shared, self.num_envs)
        except CustomSpaceError:  # Such observations travel through the pipes.
            self._shared = None
            self.observations = create_empty_array(observations, self.num_envs, fn=np.zeros)
        self.shared_memory = self._shared is not None

    # Gymnasium's interface, in halves: what is sent, and what comes back.

    def reset_async(self, seed: Any = None, options: dict[str, Any] | None = None) -> None:
        """Asks every worker, or those of `options["reset_mask"]`, to reset."""
        self._assert_is_running()
        self._expect(AsyncState.DEFAULT)
        seeds = _listed(seed, self.num_envs)
        options = dict(options) if options is not None else None
        mask = np.array((options or {}).pop("reset_mask", [True] * self.num_envs), np.bool_)
        for index in self._group.lost():
            self._group.restart(index)
            mask[index] = True  # A new worker has no episode to continue.
        messages: list[Any] = []
        for index, own_seed in enumerate(seeds):
            if mask[index]:
                self._seeds[index] = self._seeds[index] if own_seed is None else own_seed
                messages.append(("reset", {"seed": own_seed, "options": options}))
            else:
                messages.append(("reset-noop", None))
        self._group.send(messages)
        self._state = AsyncState.WAITING_RESET

    def reset_wait(self, timeout: float | None = None) -> tuple[Any, dict[str, Any]]:
        """Takes the first observations of the new episodes."""
        results = self._answers(AsyncState.WAITING_RESET, timeout)
        self._state = AsyncState.DEFAULT
        infos: dict[str, Any] = {}
        observations = []
        for index in range(self.num_envs):
            obs, info = results[index] if index in results else self._replaced(index)
            observations.append(obs)
            infos = self._add_info(infos, info, index)
        return self._batched(observations), infos

    def step_async(self, actions: Any) -> None:
        """Sends an action to every worker."""
        self._assert_is_running()
        self._expect(AsyncState.DEFAULT)
        self._group.send([("step", action) for action in iterate(self.action_space, actions)])
        self._state = AsyncState.WAITING_STEP

    def step_wait(
        self, timeout: float | None = None
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Takes the results of a step.

        Where a worker had to be replaced, the episode is truncated, `info["worker_replaced"]` is
        true, and the observation is the first of a new episode.
        """
        results = self._answers(AsyncState.WAITING_STEP, timeout)
        self._state = AsyncState.DEFAULT
        infos: dict[str, Any] = {}
        columns: list[list[Any]] = [[], [], [], []]
        for index in range(self.num_envs):
            if index in results:
                *numbers, info = results[index]
            else:
                last = _row(self.observations, index)
                obs, _ = self._replaced(index)
                numbers, info = [obs, 0.0, False, True], {"worker_replaced": True}
                if self.autoreset_mode == AutoresetMode.SAME_STEP:
                    info["final_obs"] = last
                    info["final_info"] = {"worker_replaced": True}
            for column, value in zip(columns, numbers, strict=True):
                column.append(value)
            infos = self._add_info(infos, info, index)
        observations, rewards, terminated, truncated = columns
        return (
            self._batched(observations),
            np.array(rewards, np.float64),
            np.array(terminated, np.bool_),
            np.array(truncated, np.bool_),
            infos,
        )

    def call_async(self, name: str, /, *args: object, **kwargs: object) -> None:
        """Asks every worker to call a method of its environment, or for an attribute."""
        self._assert_is_running()
        self._expect(AsyncState.DEFAULT)
        self._group.send([("_call", (name, args, kwargs))] * self.num_envs)
        self._state = AsyncState.WAITING_CALL

    def call_wait(self, timeout: float | None = None) -> tuple[Any, ...]:
        """Takes the results of a call, which a replacement could not answer."""
        return tuple(self._all_answers(AsyncState.WAITING_CALL, timeout))

    def set_attr(self, name: str, values: Any) -> None:
        """Sets an attribute of every environment: to one value, or to each of a list."""
        self._assert_is_running()
        self._expect(AsyncState.DEFAULT)
        if not isinstance(values, list | tuple):
            values = [values] * self.num_envs
        self._group.send([("_setattr", (name, value)) for value in values])
        self._state = AsyncState.WAITING_CALL
        self._all_answers(AsyncState.WAITING_CALL, None)

    def close_extras(self, timeout: float | None = None, terminate: bool = False) -> None:
        """Ends every worker: asked first, unless it is busy, and killed when it does not go."""
        idle = self._state == AsyncState.DEFAULT
        self._group.end(ask=idle and not terminate, seconds=timeout)

    def _expect(self, state: AsyncState) -> None:
        if self._state != state:
            raise WorkerError(
                f"the workers are in the middle of a {self._state.value}; take its results first"
            )

    def _answers(self, state: AsyncState, timeout: float | None) -> dict[int, Any]:
        """The answers of all workers but those that are to be replaced."""
        self._assert_is_running()
        self._expect(state)
        try:
            return self._group.answers(str(state.value), timeout)
        except WorkerError:
            self._state = AsyncState.DEFAULT  # Every other answer is taken: they can continue.
            raise

    def _all_answers(self, state: AsyncState, timeout: float | None) -> list[Any]:
        answers = self._answers(state, timeout)
        self._state = AsyncState.DEFAULT
        missing = [index for index in range(self.num_envs) if index not in answers]
        for index in missing:
            self._replaced(index)
        if missing:
            names = ", ".join(map(str, missing))
            raise WorkerError(f"worker {names} was lost before it answered, and is replaced")
        return [answers[index] for index in range(self.num_envs)]

    def _replaced(self, index: int) -> tuple[Any, dict[str, Any]]:
        """The first moment of an episode in a new worker."""
        return self._group.replace(index, self._seeds[index])

    def _batched(self, observations: list[Any]) -> Any:
        if not self.shared_memory:
            self.observations = concatenate(
                self.single_observation_space, observations, self.observations
            )
        return deepcopy(self.observations)


def _listed(seed: Any, count: int) -> list[int | None]:
    if seed is None:
        return [None] * count
    if isinstance(seed, int | np.integer):
        return [int(seed) + index for index in range(count)]
    seeds = list(seed)
    if len(seeds) != count:
        raise ValueError(f"{len(seeds)} seeds were given for {count} environments")
    return seeds


def _row(observations: Any, index: int) -> Any:
    """One environment's part of a batch, in arrays of its own."""
    if isinstance(observations, dict):
        return {name: _row(part, index) for name, part in observations.items()}
    if isinstance(observations, tuple):
        return tuple(_row(part, index) for part in observations)
    return np.array(observations[index])

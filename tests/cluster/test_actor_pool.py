"""The pool keeps actors busy, drops old rollouts and replaces lost actors; Ray itself is faked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.cluster_support import small_cluster_config
from warpzone.cluster.options import ClusterOptions
from warpzone.cluster.played_rollout import PlayedRollout, Policy
from warpzone.errors import ClusterError
from warpzone.rollout.collector import CollectTimes

pytest.importorskip("ray", reason="Ray is not installed; `make cluster-test` installs it")

from ray.exceptions import RayActorError, RayTaskError

from warpzone.cluster import actor_pool
from warpzone.cluster.actor_pool import IN_FLIGHT, ActorPool


class Call:
    """A call of an actor that has not been carried out yet."""

    def __init__(self, actor: FakeActor, result: Callable[[], Any]):
        self.actor, self.result = actor, result


class FakeActor:
    """Finishes its calls in order, when somebody waits for them."""

    def __init__(self, number: int):
        self.number, self.alive, self.error = number, True, None
        self.play = self.ready = self  # Ray writes actor.play.remote(...).

    def remote(self, board: FakeBoard | None = None, *_: Any) -> Call:
        if board is None:
            return Call(self, lambda: self.number)
        return Call(self, lambda: played(self.number, board.policy.version))


class FakeBoard:
    """Knows the latest policy."""

    def __init__(self, policy: list[Policy]):
        [self.policy] = policy
        self.put = self  # Ray writes board.put.remote(...).

    def remote(self, policy: list[Policy]) -> None:
        [self.policy] = policy


def played(number: int, version: int) -> PlayedRollout:
    return PlayedRollout(number, version, {}, [], {}, CollectTimes(), 0.0, None)


class FakeRay:
    """The part of Ray's interface that the pool uses, without processes."""

    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        self.actors: list[FakeActor] = []
        self.killed: list[FakeActor | FakeBoard] = []

    def remote(self, _: type) -> FakeRay:
        return self

    def options(self, **_: Any) -> Any:
        class Creator:
            def remote(creator, number: int, *_: Any) -> FakeActor:  # noqa: N805
                self.actors.append(FakeActor(number))
                return self.actors[-1]

        return Creator()

    def put(self, value: Any) -> Any:
        return value

    def wait(self, calls: Sequence[Call], **_: Any) -> tuple[list[Call], list[Call]]:
        return list(calls[:1]), list(calls[1:])

    def get(self, call: Call) -> Any:
        if not call.actor.alive:
            raise RayActorError
        if call.actor.error is not None:
            raise call.actor.error
        return call.result()

    def kill(self, actor: FakeActor | FakeBoard) -> None:
        self.killed.append(actor)

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    ray = FakeRay(cpus=3)
    monkeypatch.setattr(actor_pool, "ray", ray)
    monkeypatch.setattr(actor_pool, "start_board", FakeBoard)
    return ray


def make_pool(**options: Any) -> ActorPool:
    return ActorPool(ClusterOptions(**options), lambda _: small_cluster_config())


def policy(version: int) -> Policy:
    return Policy(version, {}, small_cluster_config())


def test_each_actor_has_at_most_two_rollouts_in_flight(fake: FakeRay) -> None:
    pool = make_pool(actors=2)
    for version in range(6):
        pool.publish(policy(version), 0)
        pool.take()
        flying = [state.rollouts for state in pool._actors.values()]
        assert max(flying) <= IN_FLIGHT


def test_actors_take_turns_even_if_all_of_them_are_ready(fake: FakeRay) -> None:
    pool = make_pool(actors=3)
    numbers = []
    for version in range(9):
        pool.publish(policy(version), 0)
        numbers.append(pool.take().actor)
    assert set(numbers[3:]) == {0, 1, 2}


def test_without_a_number_the_actors_fill_the_cluster_and_follow_its_size(
    fake: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(actor_pool, "_SIZE_SECONDS", 0.0)
    pool = make_pool(cpus_per_actor=1)
    pool.publish(policy(0), 0)
    assert len(fake.actors) == 3
    fake.cpus = 5
    pool.publish(policy(1), 0)
    assert len(fake.actors) == 5


def test_a_rollout_that_waits_in_the_queue_is_played_with_the_latest_policy(
    fake: FakeRay,
) -> None:
    pool = make_pool(actors=1, max_lag=0)
    for version in range(4):
        pool.publish(policy(version), 0)
        assert pool.take().version == version
    assert pool.counts.dropped == 0


def test_a_rollout_that_is_too_old_is_dropped_and_counted(
    fake: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(actors=1, max_lag=2)
    pool.publish(policy(0), 0)
    assert pool.take().version == 0
    pool.publish(policy(7), 0)
    versions = iter([4, 5, 7])
    monkeypatch.setattr(
        FakeBoard, "policy", property(lambda _: policy(next(versions))), raising=False
    )
    assert pool.take().version == 5
    assert pool.counts.dropped == 1


def test_a_lost_actor_is_replaced_and_its_rollouts_are_counted(fake: FakeRay) -> None:
    pool = make_pool(actors=2)
    pool.publish(policy(0), 0)
    pool.take()
    fake.actors[0].alive = False
    for version in range(1, 8):
        pool.publish(policy(version), 0)
        pool.take()
    assert pool.counts.losses == 1
    assert 1 <= pool.counts.lost_rollouts <= IN_FLIGHT
    assert [actor.number for actor in fake.actors] == [0, 1, 2]
    assert pool.running == 2


def test_an_error_of_an_actor_ends_the_run_with_its_message(fake: FakeRay) -> None:
    pool = make_pool(actors=1)
    pool.publish(policy(0), 0)
    fake.actors[0].error = RayTaskError("collect", "traceback", ValueError("no ROM"))  # type: ignore[assignment]
    with pytest.raises(ClusterError, match="actor 0 failed: no ROM"):
        pool.take()


def test_actors_that_die_again_and_again_end_the_run(
    fake: FakeRay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        FakeActor, "alive", property(lambda _: False, lambda *_: None), raising=False
    )
    pool = make_pool(actors=1)
    pool.publish(policy(0), 0)
    with pytest.raises(ClusterError, match="actors in a row died"):
        pool.take()


def test_closing_ends_all_actors(fake: FakeRay) -> None:
    pool = make_pool(actors=2)
    pool.publish(policy(0), 0)
    pool.close()
    assert fake.killed[:-1] == fake.actors
    assert isinstance(fake.killed[-1], FakeBoard)

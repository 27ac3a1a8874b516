import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from warpzone.system.signals import StopRequest, handle_signals


def test_the_first_signal_asks_and_handlers_are_restored() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with handle_signals() as request:
        assert not request
        assert request.exit_code == 0
        os.kill(os.getpid(), signal.SIGTERM)
        assert request
        assert request.reason == "SIGTERM"
        assert request.exit_code == 143
        os.kill(os.getpid(), signal.SIGTERM)  # changes nothing
        assert request.exit_code == 143
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_second_ctrl_c_exits_immediately() -> None:
    before = signal.getsignal(signal.SIGINT)
    with handle_signals() as request:
        interrupt()
        assert request.exit_code == 130
        assert request.reason == "Ctrl-C"
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert signal.getsignal(signal.SIGINT) == before


def test_a_request_can_come_from_the_program() -> None:
    request = StopRequest()
    request.ask("the dashboard")
    request.ask("too late", signal.SIGTERM)
    assert request.reason == "the dashboard"
    assert request.exit_code == 0


def test_outside_the_main_thread_nothing_is_installed() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with handle_signals() as request:
            seen.append(signal.getsignal(signal.SIGINT) == before and not request)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]


PROGRAM = """
import sys, time
from warpzone.system.signals import handle_signals
with handle_signals() as request:
    print("ready", flush=True)
    while not request:
        time.sleep(0.01)
    print("saving", flush=True)
    if sys.argv[1] == "slow":
        time.sleep(60)
sys.exit(request.exit_code)
"""


@pytest.mark.parametrize(
    ("mode", "sent", "code"),
    [
        ("quick", [signal.SIGINT], 130),
        ("quick", [signal.SIGTERM], 143),
        ("slow", [signal.SIGINT, signal.SIGINT], -signal.SIGINT),
        ("slow", [signal.SIGTERM, signal.SIGINT], -signal.SIGINT),
    ],
)
def test_real_signals(mode: str, sent: list[signal.Signals], code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, mode],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout is not None
        for expected, number in zip(("ready", "saving"), sent, strict=False):
            assert program.stdout.readline().strip() == expected
            program.send_signal(number)
        assert program.wait(timeout=20) == code


@pytest.mark.timeout(60)
def test_a_forked_worker_dies_of_a_signal_as_usual() -> None:
    with handle_signals() as request:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, b"r")  # Python forgets signals that come during the fork itself
            for _ in range(1000):
                time.sleep(0.01)
            os._exit(1)
        assert os.read(reader, 1) == b"r"
        os.kill(child, signal.SIGTERM)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status)
        assert os.WTERMSIG(status) == signal.SIGTERM
        assert not request

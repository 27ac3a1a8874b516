"""The server as a process would run it, and its command."""

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from dashboard_support import TOKEN, write_run

from warpzone import cli
from warpzone.dashboard.background import background_dashboard
from warpzone.dashboard.server import listen, running
from warpzone.dashboard.settings import Settings
from warpzone.errors import ServerError


def test_the_printed_address_opens_the_page(tmp_path: Path) -> None:
    write_run(tmp_path)
    with running(Settings(tmp_path, port=0, token=TOKEN)) as (_, address):
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=30) as answer:
            assert b"<title>Warpzone</title>" in answer.read()
        base = address.partition("?")[0]
        with opener.open(base + "api/runs", timeout=30) as answer:
            assert b"mario-1-1" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(base, timeout=30)


def test_a_port_in_use_is_a_sentence(tmp_path: Path) -> None:
    listener, settings = listen(Settings(tmp_path, port=0))
    with listener, pytest.raises(ServerError, match="the port is in use; give another one"):
        listen(settings)


def test_an_address_that_is_not_ours_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"cannot listen on 192\.0\.2\.1 port 0"):
        listen(Settings(tmp_path, host="192.0.2.1", port=0))


def test_the_address_names_the_host() -> None:
    assert Settings(Path(), port=80).address == "http://127.0.0.1:80/"
    assert Settings(Path(), host="::1", port=80).address == "http://[::1]:80/"
    assert Settings(Path(), host="0.0.0.0", port=80).address == "http://127.0.0.1:80/"
    assert not Settings(Path(), host="0.0.0.0").is_loopback


def test_tokens_are_random_and_not_in_representations() -> None:
    one, two = Settings(Path()), Settings(Path())
    assert one.token != two.token
    assert len(one.token) >= 32
    assert one.token not in repr(one)


@pytest.mark.parametrize("token", ["short", "has spaces in this one", "näh-" * 8])
def test_weak_tokens_are_refused(token: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["dashboard", "--token", token]) == 2
    assert "--token needs at least 16 letters" in capsys.readouterr().err


def test_a_folder_that_is_missing_is_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["dashboard", str(tmp_path / "nowhere")]) == 2
    assert "is not a folder of runs" in capsys.readouterr().err


def test_train_serves_a_dashboard_until_it_ends(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    small = ["--obs=tiles", "--num-envs=4", "--rollout-steps=8", "--hidden=16", "--steps=64"]
    small += ["--minibatch-size=16", "--display=plain", "--no-video", f"--runs={tmp_path}"]
    assert cli.main(["train", *small, "--dashboard"]) == 0
    address = re.findall(r"dashboard: (http://127.0.0.1:\d+/\?token=\S+)", capfd.readouterr().out)
    assert len(address) == 1
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address[0], timeout=30)


def test_a_dashboard_in_the_background_answers_and_ends_with_its_block(tmp_path: Path) -> None:
    write_run(tmp_path)
    with background_dashboard(tmp_path) as address:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(address, timeout=30) as answer:
            assert answer.status == 200
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(address, timeout=30)

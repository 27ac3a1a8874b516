"""Who may talk to the dashboard."""

from pathlib import Path

import pytest
from dashboard_support import BEARER, CHANGE, HOST, TOKEN, make_client, write_run
from starlette.websockets import WebSocketDisconnect

from warpzone.dashboard.settings import Settings, split_host

PAGES = ("/", "/api/runs", "/js/main.js", "/media?run=a&name=b", "/nothing")


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_shown_without_the_token(tmp_path: Path, path: str) -> None:
    client = make_client(tmp_path, known=False)
    assert client.get(path).status_code == 401
    assert client.get(path, headers={"authorization": "Bearer wrong"}).status_code == 401
    assert client.get(path, headers={"cookie": "warpzone_8420=wrong"}).status_code == 401


def test_a_wrong_token_in_the_address_is_refused_and_sets_no_cookie(tmp_path: Path) -> None:
    answer = make_client(tmp_path, known=False).get("/?token=wrong", follow_redirects=False)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_the_first_visit_moves_the_token_from_the_address_to_a_cookie(tmp_path: Path) -> None:
    client = make_client(tmp_path, known=False)
    answer = client.get(f"/?token={TOKEN}&a=b", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?a=b"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/api/runs").status_code == 200


def test_the_first_visit_never_leads_to_another_server(tmp_path: Path) -> None:
    client = make_client(tmp_path, known=False)
    answer = client.get(f"http://{HOST}//evil.example/?token={TOKEN}", follow_redirects=False)
    assert answer.headers["location"].startswith("/evil.example")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8420", "127.0.0.1:9", "", "["])
def test_other_host_names_are_refused(tmp_path: Path, host: str) -> None:
    answer = make_client(tmp_path).get("/api/runs", headers={"host": host})
    assert answer.status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:8420", "[::1]:8420"])
def test_names_of_this_machine_are_accepted(tmp_path: Path, host: str) -> None:
    assert make_client(tmp_path).get("/api/runs", headers={"host": host}).status_code == 200


def test_an_open_server_answers_to_addresses_but_not_to_names_of_others() -> None:
    settings = Settings(Path(), host="0.0.0.0", token=TOKEN)
    assert settings.allows_host("192.168.1.5:8420")
    assert not settings.allows_host("evil.example:8420")


def test_malformed_hosts_have_no_name() -> None:
    assert split_host("[::1") == ("", None)
    assert split_host("a:b") == ("", None)
    assert split_host("[::1]:80") == ("::1", 80)


def test_requests_from_other_sites_are_refused(tmp_path: Path) -> None:
    client = make_client(tmp_path)
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
        assert client.get("/api/runs", headers={"origin": origin}).status_code == 403, origin
    assert client.get("/api/runs", headers={"origin": f"http://{HOST}"}).status_code == 200


def test_every_answer_has_a_strict_content_security_policy(tmp_path: Path) -> None:
    for known in (True, False):
        for path in PAGES:
            headers = make_client(tmp_path, known=known).get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"


def test_no_path_leads_out_of_the_static_files(tmp_path: Path) -> None:
    client = make_client(tmp_path)
    for path in ("/../app.py", "/js/../../app.py", "/%2e%2e/app.py", "/js/..%2f..%2fapp.py"):
        assert client.get(path).status_code == 404, path


def test_a_run_outside_the_folder_cannot_be_named(tmp_path: Path) -> None:
    write_run(tmp_path / "inside")
    write_run(tmp_path / "outside", "secret")
    client = make_client(tmp_path / "inside")
    for name in ("../outside/secret", str(tmp_path / "outside" / "secret"), "..", "", "\0"):
        assert client.get("/api/config", params={"run": name}).status_code == 404, name


def test_only_listed_videos_are_sent(tmp_path: Path) -> None:
    run = write_run(tmp_path)
    (run / "videos" / "final.mp4").write_bytes(b"video")
    (run / "videos" / "link.mp4").symlink_to(run / "config.toml")
    client = make_client(tmp_path)

    def status(name: str) -> int:
        return client.get("/media", params={"run": run.name, "name": name}).status_code

    assert client.get("/media", params={"run": run.name, "name": "final.mp4"}).content == b"video"
    for name in ("../config.toml", "link.mp4", "/etc/passwd", "config.toml", ""):
        assert status(name) == 404, name


def test_a_change_needs_the_csrf_header(tmp_path: Path) -> None:
    client = make_client(tmp_path)
    assert client.post("/api/steer", json={}).status_code == 403
    wrong = {"x-warpzone-csrf": "0" * 64}
    assert client.post("/api/steer", json={}, headers=wrong).status_code == 403
    foreign = CHANGE | {"origin": "http://evil.example"}
    assert client.post("/api/steer", json={}, headers=foreign).status_code == 403


def test_large_requests_are_refused(tmp_path: Path) -> None:
    client = make_client(tmp_path)
    assert client.post("/api/steer", content=b"x" * 70_000, headers=CHANGE).status_code == 413
    assert client.get("/api/runs?a=" + "x" * 9000).status_code == 414


@pytest.mark.parametrize(
    "headers",
    [{}, {"origin": "http://evil.example", **BEARER}, dict(BEARER), {"origin": f"http://{HOST}"}],
    ids=["nothing", "another site", "no origin", "no token"],
)
def test_a_websocket_needs_token_and_origin(tmp_path: Path, headers: dict[str, str]) -> None:
    client = make_client(tmp_path, known=False)
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        client.websocket_connect(f"ws://{HOST}/ws/wall?run=a", headers=headers),
    ):
        pass
    assert closed.value.code == 1008

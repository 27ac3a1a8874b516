import os
import subprocess
import sys
from pathlib import Path

import pytest

import warpzone
from warpzone import cli
from warpzone.commands.rom import RomShow
from warpzone.rom import locate as roms
from warpzone.rom.install import import_rom


def run_program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a separate process, without a terminal."""
    command = [sys.executable, "-c", "import sys; from warpzone.cli import main; sys.exit(main())"]
    return subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )


def test_no_arguments_print_the_help() -> None:
    result = run_program()
    assert result.returncode == 0
    assert "usage: warpzone" in result.stdout
    assert "Examples:" in result.stdout


def test_version_is_printed() -> None:
    result = run_program("--version")
    assert (result.returncode, result.stdout) == (0, f"warpzone {warpzone.__version__}\n")


@pytest.mark.parametrize("name", ["install", "import", "status"])
def test_each_rom_command_has_help_with_an_example(name: str) -> None:
    result = run_program("rom", name, "--help")
    assert result.returncode == 0
    assert f"  warpzone rom {name}" in result.stdout


@pytest.mark.parametrize("name", ["render", "play", "bench env", "solve"])
def test_each_command_has_help_with_an_example(name: str) -> None:
    result = run_program(*name.split(), "--help")
    assert result.returncode == 0
    assert f"Examples:\n  warpzone {name}" in result.stdout


def test_help_names_every_command() -> None:
    listed = run_program("--help").stdout
    assert [name for name in cli.COMMANDS if f"\n  {name} " not in listed] == []


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from warpzone import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit: pass\n"
        "print({'torch', 'imageio', 'imageio_ffmpeg', 'PIL', 'pygame'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    assert result.stdout.splitlines()[-1] == "set()"


def test_unknown_command_exits_with_2() -> None:
    assert run_program("fly").returncode == 2


def test_install_without_terminal_or_consent_is_a_clear_error(data_folder: Path) -> None:
    result = run_program("rom", "install")
    assert result.returncode == 2
    assert result.stderr == (
        "error: cannot ask for consent without a terminal; run `warpzone rom install --accept`\n"
    )
    assert "Nintendo" in result.stdout
    assert not data_folder.exists()


@pytest.mark.parametrize("answer", ["", "n", "no", "maybe"])
def test_install_treats_any_answer_but_yes_as_no(
    data_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys, answer: str
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda prompt: answer)
    assert cli.main(["rom", "install"]) == 2
    assert "nothing was installed" in capsys.readouterr().err
    assert not data_folder.exists()


def test_status_path_fails_with_a_sentence_when_nothing_is_installed(data_folder: Path) -> None:
    result = run_program("rom", "status", "--path")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: no ROM of the game 'smb' is installed")
    assert result.stderr.count("\n") == 1


def test_import_then_status_path_prints_only_the_path(data_folder: Path, rom_path: Path) -> None:
    assert run_program("rom", "import", str(rom_path)).returncode == 0
    result = run_program("rom", "status", "--path")
    assert result.returncode == 0
    assert result.stdout == f"{data_folder / 'super-mario-bros.nes'}\n"


def test_status_table_names_game_path_hash_and_dump(data_folder: Path, rom_path: Path) -> None:
    installed = import_rom(rom_path)
    result = run_program("rom", "status")
    info = roms.identify(rom_path.read_bytes())
    assert result.returncode == 0
    for part in ("smb", str(installed), info.sha256, info.name, "'lost-levels' is installed"):
        assert part in result.stdout


def test_import_of_a_bad_file_prints_one_error_line(data_folder: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.nes"
    bad.write_bytes(b"not a game")
    result = run_program("rom", "import", str(bad))
    assert result.returncode == 2
    assert result.stderr.startswith(f"error: {bad} is not an iNES file")
    assert result.stderr.count("\n") == 1


def test_warning_is_one_line_without_source(data_folder: Path, tmp_path, rom_path: Path) -> None:
    unknown = tmp_path / "unknown.nes"
    unknown.write_bytes(rom_path.read_bytes()[:-1] + b"\x55")
    result = run_program("rom", "import", str(unknown))
    assert result.returncode == 0
    assert result.stderr.startswith(f"warning: {unknown} is not a known dump")
    assert result.stderr.count("\n") == 1


def test_interrupt_exits_silently_with_130(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def interrupt(self: RomShow) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(RomShow, "run", interrupt)
    assert cli.main(["rom", "status"]) == 130
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_a_broken_pipe_gives_no_traceback() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "warpzone", "train", "--help-all"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_unexpected_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: RomShow) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(RomShow, "run", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(["rom", "status"])


def render(tmp_path: Path, *arguments: str, name: str = "out.png") -> int:
    return cli.main(["render", "--steps", "3", "-o", str(tmp_path / name), *arguments])


@pytest.mark.parametrize("name", ["out.png", "out.gif", "out.mp4"])
def test_render_writes_the_file_and_says_where(tmp_path: Path, capsys, name: str) -> None:
    assert render(tmp_path, name=name) == 0
    output = capsys.readouterr().out
    assert "1-1: running after 3 steps" in output
    assert f"wrote {tmp_path / name}: 13 frames" in output
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_render_passes_parameters_to_the_environment(tmp_path: Path, capsys) -> None:
    assert render(tmp_path, "--set", "max_steps=2", "power=2", "hud=crop") == 0
    assert "step_limit after 2 steps" in capsys.readouterr().out


def test_render_shows_the_observation_next_to_the_screen(tmp_path: Path) -> None:
    from PIL import Image

    assert render(tmp_path, "--obs", "tiles", "--show-obs", "--scale", "1") == 0
    assert Image.open(tmp_path / "out.png").size == (256 + 160, 240 + 24)
    assert render(tmp_path, "--no-overlay", "--scale", "1") == 0
    assert Image.open(tmp_path / "out.png").size == (256, 240)


def test_render_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    pictures = []
    for seed in ("1", "1", "2"):
        assert render(tmp_path, "--policy", "random", "--steps", "40", "--seed", seed) == 0
        pictures.append((tmp_path / "out.png").read_bytes())
    assert pictures[0] == pictures[1] != pictures[2]


def test_render_uses_the_named_rom(tmp_path: Path, rom_path: Path, data_folder, capsys) -> None:
    assert render(tmp_path) == 2
    assert "no ROM of the game 'smb' is installed" in capsys.readouterr().err
    assert render(tmp_path, "--rom", str(rom_path)) == 0


def test_render_uses_the_rom_of_the_environment_variable(
    tmp_path: Path, rom_path: Path, data_folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPZONE_ROM", str(rom_path))
    assert render(tmp_path) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.avi"], "--output is out.avi; its name must end with .mp4, .gif or .png"),
        (["-o", "/nowhere/out.mp4"], "the folder /nowhere does not exist"),
        (["--level", "9-9"], 'unknown level "9-9"'),
        (["--policy", "fly"], "policy is 'fly'; it must be random, scripted, right"),
        (["--set", "sticky_prob"], "--set 'sticky_prob' must be NAME=VALUE"),
        (["--set", "sticky_prob=2"], "sticky_prob is 2"),
        (["--set", "speed=2"], "'speed' is not an environment parameter"),
        (["--fps", "0"], "--fps is 0"),
        (["--fps", "120"], "--fps is 120"),
        (["--steps", "0"], "--steps is 0"),
        (["--scale", "0"], "--scale is 0; it must be from 1 to 16"),
        (["--scale", "1e6"], "--scale is 1000000"),
        (["-o", "out.mp4", "--sheet", "60"], "--sheet makes a PNG"),
        (["--rom", "/nowhere/smb.nes"], "/nowhere/smb.nes"),
        (["--policy", "random", "--actions", "all"], "'all' is not an action set"),
        (["--policy", "random", "--actions", "UP+X"], "'X' is not a button"),
    ],
)
def test_render_names_what_is_wrong(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["render", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []

import subprocess
import sys
from pathlib import Path

import pytest

import warpzone
from warpzone import cli, roms
from warpzone.commands.rom import RomShow


def run_program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process of its own, without a terminal."""
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


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from warpzone import cli\n"
        "try:\n    cli.main(['--help'])\nexcept SystemExit: pass\n"
        "print({'numpy', 'gymnasium', 'torch', 'imageio'} & set(sys.modules))"
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
def test_install_takes_anything_but_yes_as_no(
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
    assert result.stderr.startswith("error: no image of the game 'smb' is installed")
    assert result.stderr.count("\n") == 1


def test_import_then_status_path_prints_only_the_path(data_folder: Path, rom_path: Path) -> None:
    assert run_program("rom", "import", str(rom_path)).returncode == 0
    result = run_program("rom", "status", "--path")
    assert result.returncode == 0
    assert result.stdout == f"{data_folder / 'super-mario-bros.nes'}\n"


def test_status_table_names_game_path_hash_and_dump(data_folder: Path, rom_path: Path) -> None:
    installed = roms.import_rom(rom_path)
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
    assert result.stderr.startswith(f"error: {bad} is not an iNES image")
    assert result.stderr.count("\n") == 1


def test_warning_is_one_line_without_source(data_folder: Path, tmp_path, rom_path: Path) -> None:
    unknown = tmp_path / "unknown.nes"
    unknown.write_bytes(rom_path.read_bytes()[:-1] + b"\x55")
    result = run_program("rom", "import", str(unknown))
    assert result.returncode == 0
    assert result.stderr.startswith(f"warning: {unknown} is no known dump")
    assert result.stderr.count("\n") == 1


def test_interrupt_exits_silently_with_130(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    def interrupt(self: RomShow) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(RomShow, "run", interrupt)
    assert cli.main(["rom", "status"]) == 130
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_unexpected_errors_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: RomShow) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(RomShow, "run", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(["rom", "status"])

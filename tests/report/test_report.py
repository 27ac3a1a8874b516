"""Reports are valid, self-contained pages that say what is missing."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pytest

from warpzone import cli
from warpzone.campaign.board_files import publish
from warpzone.campaign.protocols import PROTOCOLS
from warpzone.campaign.scoreboard import Result, Row, Scoreboard
from warpzone.config import EnvOptions, LearnOptions, ModelOptions, RunOptions, TrainConfig, to_toml
from warpzone.evaluation.export import export_policy
from warpzone.report.animation import animate_episode
from warpzone.report.charts import RUN_CHARTS, draw_charts
from warpzone.report.logs import hints_html
from warpzone.report.privacy import without_folders
from warpzone.report.scripts import page_script
from warpzone.runs.directory import RunDirectory
from warpzone.telemetry.metrics import find_metric
from warpzone.training import session

_EMPTY = {"meta", "br", "img", "line", "path", "input", "hr", "link"}
_OPTIONAL = {"th", "td"}  # Their end tags are optional in HTML.


class Reader(HTMLParser):
    """Checks that elements are nested correctly and collects the URLs a browser would fetch."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in _EMPTY | _OPTIONAL:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY | _OPTIONAL:
            assert self.open.pop() == tag, tag


def is_self_contained(page: str) -> bool:
    fetched = [source for source in Reader(page).sources if not source.startswith(("data:", "#"))]
    code = re.sub(r"(^|\s)(//|\*|/\*) .*$", "", page, flags=re.MULTILINE)  # Without comments.
    return not fetched and not re.search(r"url\(|@import|https?://(?!www\.w3)", code)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, rom_path: Path) -> Path:
    config = TrainConfig(
        env=EnvOptions(obs="tiles", num_envs=4, num_threads=1),
        model=ModelOptions(hidden=16),
        learn=LearnOptions(rollout_steps=8, minibatch_size=16),
        run=RunOptions(
            steps=96,
            torch_threads=1,
            device="cpu",
            log_every=1,
            video_minutes=0.0,
            runs=str(tmp_path_factory.mktemp("runs")),
            name="a",
        ),
    )
    return session.start(config, "quiet")[0].path


def test_the_page_of_a_run_is_complete_and_self_contained(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "report.html"
    assert cli.main(["report", str(run), "-o", str(output)]) == 0
    page = output.read_text()
    assert is_self_contained(page)
    assert 'class="sortable"' in page
    for part in ("Learning curves", "Losses", "Speed", "Not evaluated yet", "[learn]", "96 of 96"):
        assert part in page, part
    assert re.search(r"<video controls [^>]*data:video/mp4", page)
    assert "prefers-color-scheme: dark" in page


def test_a_run_shows_its_newest_video_and_its_evaluation(run: Path, tmp_path: Path) -> None:
    (run / "videos" / "final.mp4").write_bytes(b"not really a video")
    level = {"level": "1-1", "clear_rate": 0.5, "interval_low": 0.2, "interval_high": 0.8}
    level |= {"episodes": 4, "progress_mean": 100.0, "ends": {"clear": 2, "<pit>": 2}}
    noise = {"sticky_prob": 0.25, "sticky": "step", "noop_max": 30}
    results = {"checkpoint": "x.pt", **noise, "levels": [level]}
    (run / "evaluation.json").write_text(json.dumps(results))
    output = tmp_path / "report.html"
    try:
        assert cli.main(["report", str(run), "-o", str(output), "--no-videos"]) == 0
    finally:
        (run / "videos" / "final.mp4").unlink()
        (run / "evaluation.json").unlink()
    page = output.read_text()
    assert is_self_contained(page)
    assert "data:video/mp4" in page
    assert "clear 2, &lt;pit&gt; 2" in page
    assert "sticky actions (probability 0.25 per step) and up to 30 no-op frames" in page
    assert "20%-80%" in page


def test_a_run_may_be_given_by_its_name_below_runs(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(run, tmp_path / "runs" / "by-name")
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", "by-name", "-o", "named.html", "--no-videos"]) == 0
    assert is_self_contained(Path("named.html").read_text())


def test_a_run_without_metrics_gets_an_error_and_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    RunDirectory.create(tmp_path, "new", to_toml(TrainConfig()))
    output = tmp_path / "report.html"
    assert cli.main(["report", str(tmp_path / "new"), "-o", str(output)]) == 2
    assert "has no metrics yet" in capsys.readouterr().err
    assert cli.main(["report", str(tmp_path / "nothing"), "-o", str(output)]) == 2
    assert "has no scoreboard" in capsys.readouterr().err
    assert cli.main(["report", str(tmp_path / "new"), "-o", "report.pdf"]) == 2
    assert "must end with .html" in capsys.readouterr().err
    assert not output.exists()


def test_the_page_of_a_campaign_has_an_animation_of_every_trained_level(
    run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "campaign"
    sha256 = export_policy(run, folder / "policies" / "1-1.policy")
    result = Result(100, 93, 3000.0, {"clear": 93, "pit": 7})
    results = {protocol.name: result for protocol in PROTOCOLS}
    facts = {
        "steps": 96,
        "minutes": 1.0,
        "seed": 0,
        "commit": "0.1.0",
        "checkpoint_sha256": "",
        "measured": "",
    }
    rows = [
        Row(level=level, policy=policy, sha256=sha256, results=results, **facts)
        for level, policy in (("1-1", "policies/1-1.policy"), ("1-2", "policies/gone.policy"))
    ]
    publish(folder, Scoreboard().with_rows(rows))
    (folder / "runs").mkdir()
    (folder / "runs" / "1-1").symlink_to(run)
    output = tmp_path / "report.html"
    assert cli.main(["report", str(folder), "-o", str(output)]) == 0
    page = output.read_text()
    assert is_self_contained(page)
    assert "<h1>2 of 32 levels at ≥ 90%</h1>" in page
    assert page.count("data:video/mp4") == 1
    assert "gone.policy cannot be read" in page
    assert page.count("<b>not trained</b>") == 30
    assert Reader(page).tags.count("tr") == 33
    assert "<summary>1-1</summary>" in page


def test_an_animation_is_small_and_has_several_frames(run: Path, tmp_path: Path) -> None:
    animation = animate_episode(run, "1-1")
    assert len(animation) < 400_000
    file = tmp_path / "episode.mp4"
    file.write_bytes(animation)
    frames = list(imageio_ffmpeg.read_frames(str(file)))
    assert frames[0]["size"] == (128, 120)
    assert len(frames) > 6


def test_every_charted_metric_exists() -> None:
    for chart in RUN_CHARTS:
        for metric in chart.lines.values():
            assert find_metric(metric) is not None, metric


def figures(page: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(re.findall(r"json\">(.*?)</script>", page)[0])
    return found


def test_long_curves_are_thinned_out_but_end_at_the_last_step() -> None:
    rows = [
        {"run/steps": 100 * i, "run/elapsed": i / 2, "loss/value": float(i % 7)}
        for i in range(1, 5001)
    ]
    page = draw_charts(rows, points=50)
    Reader(page)
    (figure,) = figures(page)
    assert figure["title"] == "Losses"
    empty, curve = figure["curves"]
    assert (empty["label"], empty["steps"]) == ("policy", {"x": [], "y": []})
    assert len(curve["steps"]["x"]) <= 50
    assert curve["steps"]["x"][-1] == 500_000
    assert curve["time"]["x"][-1] == 2500
    assert (min(curve["steps"]["y"]), max(curve["steps"]["y"])) == (0, 6)


@pytest.mark.parametrize("values", [[3.0], [0.0, 0.0], [-1e-9, 1e-9], [None, 5.0], [1e12, 2e12]])
def test_curves_with_few_or_extreme_values_are_drawn(values: list[float | None]) -> None:
    rows = [{"run/steps": i, "loss/value": value} for i, value in enumerate(values)]
    page = draw_charts(rows)
    Reader(page)
    known = [value for value in values if value is not None]
    assert figures(page)[0]["curves"][1]["steps"]["y"] == known
    assert draw_charts([{"run/steps": 1}]) == ""


def test_a_report_names_no_folder_of_this_machine(run: Path, tmp_path: Path) -> None:
    with (run / "log.txt").open("a") as log:
        log.write(f"2026-11-16T05:00:01Z [hint] look at {run}/stalls/1.txt\n")
    output = tmp_path / "report.html"
    assert cli.main(["report", str(run), "-o", str(output), "--no-videos"]) == 0
    page = output.read_text()
    assert str(run.parent) not in page
    assert "look at …/1.txt" in page
    assert "warpzone eval a</code>" in page


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("saved /home/me/runs/a/best.pt.", "saved …/best.pt."),
        ('runs = "/data/x/runs"', 'runs = "…/runs"'),
        ("~/roms/smb.nes is missing", "…/smb.nes is missing"),
        (r"wrote C:\Users\me\runs\a.pt", "wrote …/a.pt"),
        ("(/srv/a/b)", "(…/b)"),
        ("see https://example.org/a/b", "see https://example.org/a/b"),
        ("runs/mario-1-1/log.txt, 1/2/3, steps/s, a / b", None),
    ],
)
def test_only_folders_of_absolute_paths_are_hidden(text: str, hidden: str | None) -> None:
    assert without_folders(text) == (text if hidden is None else hidden)


def test_the_configuration_lists_what_is_not_as_by_default(run: Path, tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    assert cli.main(["report", str(run), "-o", str(output), "--no-videos"]) == 0
    page = output.read_text()
    assert "<tr><td>env.num_envs<td>" in page
    assert "<td>model.encoder" not in page


def test_every_import_of_the_page_script_is_provided() -> None:
    script = page_script()
    assert "import " not in re.sub(r"//.*|/\*.*?\*/|\* .*", "", script)
    assert not re.search(r"^export ", re.sub(r"/\*.*?\*/", "", script, flags=re.DOTALL), re.M)
    exports = {
        module: set(re.findall(r"\w+", names))
        for module, names in re.findall(
            r'modules\["([\w.]+)"\] = .*?\nreturn \{ ([^}]*) \};\n\}\)\(\);', script, re.DOTALL
        )
    }
    for names, module in re.findall(r'const \{ ([^}]*) \} = modules\["([\w.]+)"\]', script):
        assert {name.partition(":")[0].strip() for name in names.split(",")} <= exports[module]


def test_hints_are_escaped(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(
        "2026-11-16T05:00:00Z [train] saved\n"
        "2026-11-16T05:00:01Z [hint] raise <b>--ent-coef</b>\n"
        "2026-11-16T05:00:02Z [train] warning: disk is full\n"
    )
    html = hints_html(log)
    assert html.count("<li>") == 2
    assert "&lt;b&gt;--ent-coef" in html
    assert hints_html(tmp_path / "none.txt") == ""

import re
import runpy
from pathlib import Path

import pytest

from warpzone.telemetry.metrics import METRICS, find_metric

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def generator() -> dict:
    return runpy.run_path(str(DOCS / "generate.py"))


def test_tables_that_follow_from_the_code_are_current(generator: dict) -> None:
    assert generator["stale_pages"](write=False) == [], "run `python docs/generate.py`"


def test_out_of_date_table_would_be_noticed(generator: dict) -> None:
    page = "before\n<!-- generated: planes -->\n| old |\n<!-- end -->\nafter\n"
    assert generator["generated"](page) != page
    assert generator["generated"](generator["generated"](page)) == generator["generated"](page)


def test_every_table_is_used_on_some_page(generator: dict) -> None:
    pages = "".join(page.read_text() for page in DOCS.glob("*.md"))
    assert [
        name for name in generator["TABLES"] if f"<!-- generated: {name} -->" not in pages
    ] == []


def test_every_page_is_in_the_index_and_in_the_navigation_of_the_site() -> None:
    index, navigation = (DOCS / "index.md").read_text(), (DOCS.parent / "mkdocs.yml").read_text()
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert {page for page in pages if f"({page})" not in index} == set()
    assert {page for page in pages if f": {page}\n" not in navigation} == set()


def test_assets_from_elsewhere_would_be_noticed(tmp_path: Path) -> None:
    foreign = runpy.run_path(str(DOCS / "check_links.py"))["foreign_assets"]
    page = tmp_path / "index.html"
    page.write_text('<script src="assets/own.js"></script><a href="https://example.org">x</a>')
    assert foreign(tmp_path) == []
    page.write_text('<link rel="stylesheet" href="https://fonts.example.org/css">')
    assert foreign(tmp_path) == ["index.html: https://fonts.example.org/css"]


def test_metrics_that_pages_mention_exist() -> None:
    groups = {name.partition("/")[0] for name in METRICS}
    mentioned = {
        (page.name, name)
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"`(\w+/\w+)`", page.read_text(encoding="utf-8"))
        if name.partition("/")[0] in groups
    }
    assert ("troubleshooting.md", "learn/approx_kl") in mentioned
    assert {(page, name) for page, name in mentioned if find_metric(name) is None} == set()

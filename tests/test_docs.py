import runpy
from pathlib import Path

import pytest

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

"""The README: small, true without third parties, and the same in both languages."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")


def headings(text: str) -> list[int]:
    """The depth of each heading, in order."""
    return [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]


def numbers(text: str) -> list[str]:
    """All figures, sorted: translations may reorder a sentence."""
    return sorted(re.findall(r"\d[\d,.]*(?<![,.])", text))


def test_both_languages_have_the_same_sections() -> None:
    assert headings(ENGLISH) == headings(CHINESE)


def test_both_languages_state_the_same_figures() -> None:
    assert numbers(ENGLISH) == numbers(CHINESE)


def test_both_languages_show_the_same_code() -> None:
    def code(text: str) -> list[str]:
        blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
        return [re.sub(r" *#.*", "", block) for block in blocks]

    assert code(ENGLISH) == code(CHINESE)


def test_the_animation_is_small() -> None:
    assert (ROOT / "docs" / "images" / "demo.webp").stat().st_size < 1_500_000


def test_badges_follow_from_the_package() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_badges.py"))["badges"]()
    for name, text in made.items():
        assert (ROOT / "docs" / "images" / name).read_text() == text, "run docs/make_badges.py"


def test_images_are_local() -> None:
    assert not re.findall(r"!\[[^\]]*\]\(https?:", ENGLISH + CHINESE)

"""Curves as text: where they are, what they share, and which characters they use."""

from typing import Any

import pytest

from warpzone.report.text_plot import ASCII, MARKERS, UNICODE, Plot, draw, style_for


def plot(*curves: dict[str, Any], **options: Any) -> Plot:
    settings = {"width": 26, "height": 5, "write_x": str, "write_y": str, "style": ASCII}
    return draw(curves, **settings | options)


def test_a_rising_line_goes_from_one_corner_to_the_other() -> None:
    drawn = plot({"x": [0, 20], "y": [0, 4]}, width=25, write_y=lambda value: f"{value:.0f}")
    columns = [line[drawn.margin :] for line in drawn.lines[:5]]
    assert columns[0].endswith("*")
    assert columns[4].startswith("*")
    assert drawn.lines[-1].split() == ["0", "20"]


def test_curves_that_meet_share_their_cells() -> None:
    line = {"x": [0, 1], "y": [1, 1]}
    drawn = plot(line, dict(line), bounds=(0.0, 1.0))
    assert set(drawn.lines[0][drawn.margin :]) == {MARKERS[0], MARKERS[1]}


def test_a_steep_rise_stays_one_line() -> None:
    drawn = plot({"x": [0, 10, 10.1, 20], "y": [0, 0, 4, 4]})
    assert all("*" in line[drawn.margin :] for line in drawn.lines[:5])


def test_a_band_is_shaded_behind_its_curve() -> None:
    band = {"x": [0, 1], "y": [2, 2], "low": [1, 1], "high": [3, 3]}
    drawn = plot(band, bounds=(0.0, 4.0))
    assert [line[drawn.margin :][:1] for line in drawn.lines[:5]] == ["", ".", "*", ".", ""]


def test_a_curve_is_not_drawn_beyond_its_ends() -> None:
    drawn = plot({"x": [0, 20], "y": [0, 0]}, {"x": [5, 9], "y": [1, 1]})
    top = drawn.lines[0][drawn.margin :]
    assert top.index(MARKERS[1]) > 3
    assert len(top) < 12


@pytest.mark.parametrize("values", [[3.0], [0.0, 0.0], [1e12, 2e12], [-5.0, -5.0]])
def test_few_or_extreme_values_are_drawn(values: list[float]) -> None:
    drawn = plot({"x": list(range(len(values))), "y": values}, {"x": [], "y": []}, width=1)
    assert any("*" in line for line in drawn.lines[:5])


def test_only_characters_of_the_encoding_are_used() -> None:
    assert style_for("utf-8") is UNICODE
    assert style_for("ascii") is style_for("latin-1") is style_for(None) is ASCII
    assert style_for("no such encoding") is ASCII
    band = {"x": [0, 1], "y": [2, 2], "low": [1, 1], "high": [3, 3]}
    assert "".join(plot(band).lines).isascii()

"""Pictures of a report: drawings that stand in a page by themselves."""

import base64
import re

import matplotlib as mpl
import numpy as np

from tractable.plotting.style import legend_label
from tractable.report.page import MAX_BYTES, canvas, picture_of


def drawn(n=5, **options):
    with canvas() as (figure, ax):
        ax.plot(np.arange(n), np.random.default_rng(0).random(n), "o")
        ax.set_title("<b> & $x_1 \u4f60 \U0001f427")
        return picture_of(figure, alt="points", **options)


def test_a_drawing_is_one_element_without_addresses():
    svg = drawn().svg
    assert svg.startswith("<svg")
    assert svg.endswith("</svg>")
    assert "http" not in svg
    assert "&lt;b&gt; &amp; $x_1 \u4f60" in svg
    assert "viewBox" in svg[:200]
    assert not re.search(r'<svg[^>]* width="', svg)


def test_names_inside_are_its_own():
    a, b = drawn(5).svg, drawn(6).svg
    ids = [set(re.findall(r'id="([^"]+)"', svg)) for svg in (a, b)]
    assert ids[0]
    assert not ids[0] & ids[1]
    used = set(re.findall(r'href="#([^"]+)"', a)) | set(re.findall(r"url\(#([^)]+)\)", a))
    assert used
    assert used <= ids[0]


def test_the_same_drawing_is_the_same_text():
    assert drawn().svg == drawn().svg


def test_heavy_drawings_are_pixels():
    for picture in (drawn(20_000), drawn(pixels=True)):
        assert picture.svg.startswith('<img src="data:image/png;base64,')
        assert len(picture.svg) < MAX_BYTES
        assert base64.b64decode(picture.svg.split(",")[1].split('"')[0]).startswith(b"\x89PNG")


def test_nothing_is_left_behind():
    from matplotlib import pyplot as plt

    before, figures = dict(mpl.rcParams), plt.get_fignums()
    drawn()
    assert plt.get_fignums() == figures
    assert dict(mpl.rcParams) == before


def test_labels_and_names_are_written_as_they_are():
    """As in every other picture: no mathematics, and nothing left out of a legend."""
    with canvas() as (figure, ax):
        ax.plot([0, 1], [1, 0], label=legend_label("_late $x$"))
        ax.set_xticks([0, 1], [r"$\frac$", "_x"])
        figure.legend(title="$by$")
        svg = picture_of(figure, alt="a falling line").svg
    assert all(f">{name}</text>" in svg for name in ("_late $x$", r"$\frac$", "_x", "$by$"))

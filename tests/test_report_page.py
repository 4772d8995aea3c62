"""The page: one file, no script but its own, no address, every text escaped."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from quick import some
from tractable.report import make_report
from tractable.report.page import Grid, Picture, Section, canvas, json_text, page, picture_of

HOSTILE = "<script>alert('x')</script> & \"quoted\" </style></title><img src=x onerror=alert(1)>"


def section(text=HOSTILE, key="one"):
    picture = Picture(svg='<svg viewBox="0 0 100 50"></svg>', alt=text, caption=text, wide=True)
    grid = Grid(title=text, head=(text,), rows=((text,), ("-1.5",)), note=text)
    return Section(
        key=key,
        title=text,
        done=text,
        meaning=text,
        assumptions=text,
        code=text,
        pictures=(picture,),
        tables=(grid,),
        notes=(text,),
    )


class Reader(HTMLParser):
    """The elements of a page, its texts, and whether every element is closed."""

    VOID = ("meta", "link", "img", "br")

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.ids, self.texts = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_all_text_is_escaped():
    read = Reader(page(HOSTILE, [section()], [HOSTILE], lead=HOSTILE))
    assert read.tags.count("script") == 2  # the data, and the page's own
    assert "img" not in read.tags
    assert not [name for _, name, _ in read.attributes if name.startswith("on")]
    assert sum(HOSTILE in text for text in read.texts) >= 12
    assert ("div", "aria-label", HOSTILE) in read.attributes


def test_the_contents_lead_to_the_sections():
    read = Reader(page("T", [section("A", "one"), section("B", "two")]))
    links = [value for tag, name, value in read.attributes if (tag, name) == ("a", "href")]
    assert links == ["#one", "#two"]
    assert read.ids == ["one", "two", "page-data"]


def test_nothing_is_fetched():
    text = page("T", [section("words")])
    assert "http:" not in text
    assert "https:" not in text
    assert "default-src &#x27;none&#x27;" in text
    for _, name, value in Reader(text).attributes:
        if name in ("src", "href"):
            assert value.startswith(("#", "data:"))
    assert not re.search(r"@import|url\((?!#)", text)


def test_the_policy_names_the_script_and_the_style_by_their_hashes():
    text = page("T", [section("words")])
    policy = next(value for _, name, value in Reader(text).attributes if name == "content" and "src" in value)
    for tag, directive in (("script", "script-src"), ("style", "style-src-elem")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert "script-src 'unsafe-inline'" not in policy


def test_drawings_bring_no_style_sheet():
    with canvas() as (figure, ax):
        ax.plot([0.0, 1.0], [1.0, 0.0])
        assert "<style" not in picture_of(figure, alt="a line").svg


@pytest.mark.parametrize("text", [HOSTILE, "<!--", "]]>", "a\u2028b", "&lt;", "\\u003c"])
def test_data_ends_no_element_and_is_read_back(text):
    written = json_text({text: [text, 1.5, None]})
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == {text: [text, 1.5, None]}


def test_a_page_without_sections_says_its_notes():
    text = page("T", [], ["Nothing could be made."])
    assert "Nothing could be made." in text
    assert "<nav" not in text


def test_numbers_are_marked():
    text = page("T", [section("word")])
    assert '<td class="n">-1.5</td>' in text
    assert "<td>word</td>" in text


def test_long_entries_have_room_and_numbers_are_marked():
    grid = Grid(head=("row", "why"), rows=(("186", "bill_length_mm 59.6 (expected 45.35 to 53.21)"),))
    words = dict.fromkeys(("done", "meaning", "assumptions", "code"), "x")
    text = page("A", [Section(key="a", title="A", tables=(grid,), **words)])
    assert '<td class="n">186</td>' in text
    assert '<td class="long">bill_length_mm' in text


@pytest.mark.slow
@pytest.mark.parametrize("sign", some(["\u202e", "\u2067", "\u200f", "\u2028", "\x9b", "\u200b", "\x07"]))
def test_no_entry_steers_the_writing(sign, tmp_path, rng):
    """What turns letters round or is not seen reaches no text, no picture and no description of one."""
    entries = [f"ab{sign}cd", "plain"]
    frame = pd.DataFrame({"k": entries * 15, "always": entries[:1] * 30, "x": rng.normal(size=30)})
    frame["x"] += 5.0 * (np.arange(30) % 2)
    make_report(frame, target="k", path=tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert sign not in text
    assert "ab\ufffdcd" in text


def test_millions_are_written_short():
    with canvas() as (figure, ax):
        ax.plot([0.0, 2e8], [0.0, 1.0])
        svg = picture_of(figure, alt="a line").svg
    assert "100M" in svg
    assert "1e8" not in svg


def test_logarithmic_axes_have_plain_numbers():
    with canvas() as (figure, ax):
        ax.plot([40.0, 230.0], [1.0, 1e5])
        ax.set(xscale="log", yscale="log")
        drawn = picture_of(figure, alt="a line").svg
    labels = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert {"100", "1,000", "100,000"} <= set(labels)
    assert "tspan" not in drawn  # of powers of ten

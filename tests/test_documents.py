"""What the documents show is true: the code on their pages runs, and quoted files say what is quoted."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "coming_from_scikit_learn.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
    *sorted((ROOT / "docs" / "courses").glob("*.md")),
]
#: Pages whose code takes long.
LONG = {"how_many_clusters"}
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(path, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize(
    "page",
    [pytest.param(path, marks=pytest.mark.slow if path.stem in LONG else ()) for path in PAGES],
    ids=lambda path: path.stem,
)
def test_code_blocks_run(page):
    code = "\n".join(blocks(page, "pycon"))
    example = doctest.DocTestParser().get_doctest(code, {}, page.stem, str(page), 0)
    results = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False).run(example)
    assert results.failed == 0


def test_the_guide_lists_every_page_by_its_task():
    """A page that the table of tasks leaves out would not be found."""
    folder = ROOT / "docs" / "guide"
    index = (folder / "index.md").read_text(encoding="utf-8")
    for page in folder.glob("*.md"):
        assert page.stem == "index" or f"]({page.name})" in index, page.name


GUIDE = [path for path in PAGES if path.parent.name == "guide" and path.stem != "index"]
#: Pages about settings, which have no picture.
WITHOUT_PICTURE = {"environment"}


@pytest.mark.parametrize("page", GUIDE, ids=lambda path: path.stem)
def test_a_guide_page_has_a_picture_and_says_why(page):
    """Pictures are those that a script of the gallery draws when the documentation is built, or are there."""
    text = page.read_text(encoding="utf-8")
    pictures = re.findall(r"^```\{figure\} (\S+)$", text, re.MULTILINE)
    assert pictures or page.stem in WITHOUT_PICTURE
    for picture in pictures:
        drawn = re.fullmatch(r"/auto_examples/(\w+)/images/sphx_glr_(\w+)_\d{3}\.png", picture)
        source = ROOT / "examples" / drawn[1] / f"{drawn[2]}.py" if drawn else ROOT / "docs" / picture[1:]
        assert source.is_file(), picture
    assert re.search(r"^## Why ", text, re.MULTILINE)


def test_contributing_quotes_real_files():
    quotes = blocks(ROOT / "CONTRIBUTING.md", "python")
    assert quotes
    for quote in quotes:
        first, *lines = quote.rstrip().split("\n")
        source = (ROOT / first.removeprefix("# ")).read_text(encoding="utf-8")
        for part in re.split(r"^ *\.\.\.$", "\n".join(lines), flags=re.MULTILINE):
            assert part.strip("\n") in source, f"{first} no longer has:\n{part}"


def test_principles_describe_the_tree_as_it_is():
    """Every folder of the library is on the page of principles, and every path on the page is there."""
    text = (ROOT / "docs" / "developer" / "principles.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "tractable"
    named = set(re.findall(r"(?<![\w/])((?:[a-z_]+/)+(?:[a-z_]+\.py)?)", text))
    folders = {f"{path.parent.relative_to(source)}/" for path in source.glob("*/**/__init__.py")}
    assert sorted(folders - named) == []
    here = {path for path in named if path.split("/")[0] in {folder.split("/")[0] for folder in folders}}
    assert sorted(path for path in here if not (source / path).exists()) == []


def test_principles_name_the_files_of_every_package():
    """A row of a table that begins with packages names their files, and no others."""
    text = (ROOT / "docs" / "developer" / "principles.md").read_text(encoding="utf-8")
    source = ROOT / "src" / "tractable"
    for where, what in re.findall(r"^\| (`[a-z_/`, ]+) \| (.*) \|$", text, re.MULTILINE):
        packages = [source / name for name in re.findall(r"`([a-z_/]+)/`", where)]
        named = set(re.findall(r"`([a-z_]+\.py)`", what))
        if not named or "primitives" in where:
            continue
        there = {path.name for package in packages for path in package.glob("*.py")} - {"__init__.py"}
        assert named == there, where

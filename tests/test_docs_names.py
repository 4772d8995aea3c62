"""Names that the documents mention can be found, and links to the gallery and the guide lead somewhere."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from tools.method_index import exists, find

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MADE = ("_build", "auto_examples", "generated")  # by the documentation's build
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted(DOCS.rglob("*.md")) if path.relative_to(DOCS).parts[0] not in MADE),
]
OTHERS = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]
COURSES = [path for path in sorted((DOCS / "courses").glob("*.md")) if path.stem != "index"]

NAME = re.compile(r"(?<![\w./*-])tractable\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
ROLE = re.compile(r"\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`")
SCRIPT = re.compile(r"(?<![\w./-])(examples/[\w/]+\.py)")
LINE = re.compile(r"^- \*\*(Names|Planned|See):\*\* (.*(?:\n  .*)*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```pycon\n.*?^```", re.MULTILINE | re.DOTALL)


def read(page):
    return page.read_text(encoding="utf-8")


def mentioned(text):
    """The names `tractable.…` of a page, as they stand before any call."""
    return sorted(set(NAME.findall(text)))


def is_there(name):
    """Whether it is a public name, or a module that is imported only when asked for."""
    return find(name) is not None or ("." not in name and find_spec(f"tractable.{name}") is not None)


def listed(text, kind):
    """What stands between backticks in the lines of a kind under the sections of a course."""
    return [
        name for found, line in LINE.findall(text) if found == kind for name in re.findall(r"`([^`]+)`", line)
    ]


def leads_somewhere(target, page):
    """Whether a {doc} link has a page: a script of the gallery, what the build writes, or Markdown."""
    path = DOCS / target.lstrip("/") if target.startswith("/") else page.parent / target
    path = path.resolve()
    gallery = DOCS / "auto_examples"
    if path.is_relative_to(gallery):
        script = ROOT / "examples" / path.relative_to(gallery)
        return script.with_suffix(".py").is_file() or script.name == "index"
    return path.with_suffix(".md").is_file() or path == DOCS / "generated" / "reference"


def headings(page):
    """The anchors of a page, as GitHub and MyST make them of its headings."""
    titles = re.findall(r"^#+ (.*)$", FENCED.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(text, page):
    """Relative Markdown links of a page to files that are not there, or to headings that they do not have."""
    links = [link for link in LINK.findall(FENCED.sub("", text)) if not re.match(r"\w+:", link)]
    broken = []
    for link in links:
        name, _, anchor = link.partition("#")
        path = (page.parent / name).resolve() if name else page
        made = DOCS in path.parents and path.relative_to(DOCS).parts[0] in MADE
        if not (made or path.exists()) or (anchor and anchor not in headings(path)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=lambda path: path.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page):
    assert broken_links(read(page), page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_and_links_of_a_page(page):
    text = read(page)
    assert [name for name in mentioned(text) if not is_there(name)] == []
    assert [target for target in ROLE.findall(text) if not leads_somewhere(target, page)] == []
    planned = [line for line in text.split("\n") if "planned: " in line]
    scripts = {script for line in text.split("\n") if line not in planned for script in SCRIPT.findall(line)}
    assert sorted(script for script in scripts if not (ROOT / script).is_file()) == []


@pytest.mark.parametrize("page", COURSES, ids=lambda path: path.stem)
def test_names_of_a_course_are_there_and_planned_ones_are_not(page):
    text = read(page)
    assert [name for name in listed(text, "Names") if not exists(name)] == []
    assert [name for name in listed(text, "Planned") if exists(name)] == []


@pytest.mark.parametrize("page", COURSES, ids=lambda path: path.stem)
def test_every_section_of_a_course_offers_names_with_code_or_says_what_is_planned(page):
    for section in read(page).split("\n## ")[1:]:
        title = section.split("\n")[0]
        if listed(section, "Names"):
            assert CODE.search(section), f"{title}: names, and no code that uses them"
        else:
            assert listed(section, "Planned"), f"{title}: neither names nor plans"


@pytest.mark.parametrize("page", COURSES, ids=lambda path: path.stem)
def test_courses_are_reached_from_their_index(page):
    assert read(DOCS / "courses" / "index.md").count(f"\n{page.stem}\n") == 1


def test_every_script_of_the_gallery_is_linked_from_a_page():
    """A picture that no page mentions is found by those alone who leaf through all of them."""
    linked = {target.partition("auto_examples/")[2] for page in PAGES for target in ROLE.findall(read(page))}
    scripts = [path.relative_to(ROOT / "examples") for path in (ROOT / "examples").rglob("plot_*.py")]
    assert (
        sorted(script.as_posix() for script in scripts if script.with_suffix("").as_posix() not in linked)
        == []
    )


@pytest.mark.parametrize(
    "header", sorted((ROOT / "examples").glob("*/GALLERY_HEADER.rst")), ids=lambda path: path.parent.name
)
def test_every_topic_of_the_gallery_leads_to_the_guide(header):
    targets = re.findall(r":doc:`(/guide/[^`]+)`", read(header))
    assert targets
    assert [target for target in targets if not leads_somewhere(target, header)] == []


def test_what_is_looked_for_is_found():
    text = (
        "Run `tractable.no_such_thing(x)` and tractable.plot(y), see model.tractable and my.tractable.plot."
    )
    assert mentioned(text) == ["no_such_thing", "plot"]
    assert all(is_there(name) for name in ("plot", "engines.newton", "cli"))
    assert not any(is_there(name) for name in ("no_such_thing", "engines.no_such_thing"))
    section = (
        "- **Names:** `plot`,\n  `KMeans(n_init=10)`\n- **Planned:** `NoSuchModel`\n- **See:** {doc}`/x`\n"
    )
    assert listed(section, "Names") == ["plot", "KMeans(n_init=10)"]
    assert listed(section, "Planned") == ["NoSuchModel"]
    assert ROLE.findall("{doc}`a page </guide/fold>` and {doc}`../index`") == ["/guide/fold", "../index"]
    here = DOCS / "guide" / "fold.md"
    assert leads_somewhere("/auto_examples/parameter_estimation/plot_coin", here)
    assert leads_somewhere("../auto_examples/index", here)
    assert not leads_somewhere("/auto_examples/parameter_estimation/plot_no_such_page", here)
    assert not leads_somewhere("no_such_page", here)
    links = "[a](fold.md) [b](no_such_page.md) [](fold.md#forgetting) [c](fold.md#no-heading) [d](https://e.org/x)"
    assert broken_links(links, here) == ["no_such_page.md", "fold.md#no-heading"]

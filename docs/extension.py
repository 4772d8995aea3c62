"""What this documentation adds to Sphinx: links from names, pages that mention a name, formulas as MathML."""

import re
from collections import Counter
from importlib import import_module
from pathlib import Path

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx import addnodes
from sphinx.util import logging

import tractable

logger = logging.getLogger(__name__)

#: Packages that users do not call: what estimators are made of, and the command.
INTERNAL = ("base", "cli", "inference", "primitives")
#: Pages of the guide that the page of a name lists.
MOST_PAGES = 6
#: A name, with or without a prefix, and perhaps a method or attribute and arguments: `tractable.KMeans(3)`.
NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(.*\))?", re.DOTALL)


def public_names():
    """Return the full names that have pages, by package; those of the first need no prefix."""
    found = {"": [f"tractable.{name}" for name in tractable.PUBLIC]}
    for package in (p for p in tractable.PACKAGES if p not in INTERNAL):
        module = import_module(f"tractable.{package}")
        own = [name for name in getattr(module, "__all__", ()) if ours(module, name)]
        found[package] = [f"tractable.{package}.{name}" for name in own]
    return found


def ours(module, name):
    """Whether a name is listed under a package: no flat name, no other library's, no other package's."""
    home = getattr(getattr(module, name), "__module__", "")
    if name in tractable.PUBLIC or not home.startswith("tractable"):
        return False
    package = import_module(".".join(home.split(".")[:2]))
    return package is module or name not in getattr(package, "__all__", ())


def spellings(names):
    """Return the full name by every way to write it: also without `tractable.`, or the package."""
    found = {}
    for full in (name for group in names.values() for name in group):
        found[full] = found[full.removeprefix("tractable.")] = full
    last = {}
    for full in (name for package, group in names.items() if package for name in group):
        last.setdefault(full.split(".")[-1], []).append(full)
    # A word in lower case, such as `load` or `normal`, is often something else.
    clear = {word: which[0] for word, which in last.items() if len(which) == 1 and not word.islower()}
    return clear | found


SPELLINGS = spellings(public_names())


def target_of(text):
    """Return the full name of what a piece of inline code names, or None."""
    match = NAME.fullmatch(text.strip())
    if match is None:
        return None
    name = match[1]
    if name in SPELLINGS:
        return SPELLINGS[name]
    owner, _, member = name.rpartition(".")
    full = SPELLINGS.get(owner)
    if full is None or member.startswith("_"):
        return None
    parent = import_module(full.rpartition(".")[0])
    return (
        f"{full}.{member}" if callable(getattr(getattr(parent, owner.split(".")[-1]), member, None)) else None
    )


def link_names(app, doctree):
    """Make every piece of inline code that is a public name a link to its page."""
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference | addnodes.pending_xref | nodes.title):
            continue
        target = target_of(literal.astext())
        if target is None or app.env.docname == f"generated/{target}":
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refdoc=app.env.docname
        )
        literal.replace_self(link)
        link += literal


def trim_code(_app, doctree):
    """Remove the empty line at the end of code, which doctests need."""
    for block in doctree.findall(nodes.literal_block):
        code = block.astext().rstrip("\n")
        block.rawsource = code
        if len(block.children) == 1 and isinstance(block.children[0], nodes.Text):
            block.children[0].parent.replace(block.children[0], nodes.Text(code))


def mentions(folder):
    """Return the guide's pages that name each public name, those that name it most first."""
    found = {}
    for path in [*sorted((folder / "guide").glob("*.md")), folder / "coming_from_scikit_learn.md"]:
        text = path.read_text(encoding="utf-8")
        page = "/" + path.relative_to(folder).with_suffix("").as_posix()
        prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
        named = [target_of(code) for code in re.findall(r"`+([^`]+)`+", prose)]
        named += [SPELLINGS.get(name) for name in re.findall(r"tractable(?:\.[A-Za-z_]\w*)+", text)]
        for name in filter(None, named):
            found.setdefault(name, Counter())[page] += 1
    return {name: [page for page, _ in pages.most_common(MOST_PAGES)] for name, pages in found.items()}


def inline_formula(translator, node):
    """Write a formula in the line as MathML, which browsers show without a script."""
    translator.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def displayed_formula(translator, node):
    """Write a formula on its own line as MathML."""
    translator.body.append(f'<div class="formula">{mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def mathml(node, *, as_block):
    """Return the MathML of a formula; one that cannot be read is a warning."""
    try:
        return tex2mathml(node.astext(), as_block=as_block)
    except MathError as error:
        logger.warning("%s: %s", error, node.astext(), location=node)
        return ""


def setup(app):
    """Register the links and the formulas."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    app.connect("doctree-read", link_names)
    app.connect("doctree-read", trim_code)
    app.config.autosummary_context = {"guide": mentions(Path(app.srcdir))}
    return {"parallel_read_safe": True, "parallel_write_safe": True}

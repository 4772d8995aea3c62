"""Sphinx configuration: numpydoc reference, executed gallery, Markdown pages, a sample report."""

import re
import sys
import warnings
from importlib import import_module
from pathlib import Path

from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx_gallery.sorting import ExplicitOrder
from typer.testing import CliRunner

import tractable
from tractable.cli import app

# Workers of the gallery are renewed when their memory has grown, which joblib reports.
warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from extension import public_names  # noqa: E402

project = "tractable"
author = "The tractable developers"
project_copyright = author
release = version = tractable.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "extension",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "code"
nitpicky = True
myst_heading_anchors = 2
myst_enable_extensions = ["attrs_block", "dollarmath"]
html_math_renderer = "mathml"
# A button copies code without prompts and results.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": ExplicitOrder(
        [
            f"../examples/{topic}"
            for topic in (
                "parameter_estimation",
                "linear_models",
                "kernels",
                "decomposition",
                "clusters",
                "maps",
                "graphs",
                "densities",
                "classification",
                "sampling",
                "data",
            )
        ]
    ),
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"demo\.py|__init__\.py",
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "parallel": True,  # as many scripts at once as sphinx -j says
    "write_computation_times": False,
    # The pages of names show the examples that use them.
    "backreferences_dir": "generated/examples",
    "doc_module": ("tractable",),
}

html_theme = "pydata_sphinx_theme"
html_title = "tractable"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["generated/sample"]
# Pages without neighbours give the empty column to their tables.
html_sidebars = {page: [] for page in ("benchmarks", "changelog", "coming_from_scikit_learn", "method_index")}
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False, "header_links_before_dropdown": 4}

REFERENCE = "generated/reference.rst"
INTRODUCTION = """\
API reference
=============

Names in the first table are reached as ``tractable.Name``; those of a package keep their prefix.
"""


def write_reference():
    """Write a page listing every public name, read from the package's own tables."""
    pages = [INTRODUCTION]
    for package, names in public_names().items():
        module = import_module(f"tractable.{package}") if package else None
        heading = f"tractable.{package}" if package else "Estimators, distributions, verbs"
        pages.append(summary(heading, names, ((module and module.__doc__) or "").split("\n")[0]))
    path = HERE / REFERENCE
    path.parent.mkdir(exist_ok=True)
    text = "\n".join(pages)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_sample_report():
    """Write the report that the front page shows, by the command; again where the library is newer."""
    path = HERE / "generated" / "sample" / "sample_report.html"
    newest = max(file.stat().st_mtime for file in Path(tractable.__file__).parent.rglob("*.py"))
    if path.exists() and path.stat().st_mtime > newest:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    done = CliRunner().invoke(app, ["report", "--target", "species", "-o", str(path), "--quiet"])
    if done.exit_code:
        raise RuntimeError(f"the sample report: {done.output}")


def summary(title, names, sentence):
    """Return a heading, a sentence and an autosummary table, as reStructuredText."""
    listed = "\n".join(f"   {name}" for name in names)
    table = f".. autosummary::\n   :toctree: .\n\n{listed}\n" if names else ""
    return f"{title}\n{'-' * len(title)}\n\n{plain(sentence)}\n\n{table}"


def plain(line):
    """Escape what reStructuredText would take for markup in a line of prose, outside backticks."""
    parts = re.split(r"(`+[^`]*`+)", line)
    parts[::2] = [re.sub(r"([*|])|(?<=\w)(_)(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def escape_formulas(_app, _what, _name, _obj, _options, lines):
    """Keep the formulas in docstrings as they are written: |x|, w*, coef_."""
    inside = False
    for i, line in enumerate(lines):
        inside = line.lstrip().startswith(">>>") or (inside and bool(line.strip()))
        if not inside:
            lines[i] = plain(line)


def escape_properties(self, param, desc, fake_autosummary, known=SphinxDocString._process_param):  # noqa: SLF001
    """Do the same where numpydoc takes a property's own docstring as its description."""
    shown, found = known(self, param, desc, fake_autosummary)
    return shown, found if found is desc else [plain(line) for line in found]


def skip_scikit_learn(_app, _what, _name, obj, skip, _options):
    """Leave what scikit-learn gives every estimator to its own documentation."""
    return skip or str(getattr(obj, "__module__", "")).startswith("sklearn")


def setup(sphinx):
    """Run before numpydoc, whose listener has priority 500."""
    sphinx.connect("autodoc-skip-member", skip_scikit_learn)
    sphinx.connect("autodoc-process-docstring", escape_formulas, priority=400)


SphinxDocString._process_param = escape_properties  # noqa: SLF001
write_reference()
write_sample_report()

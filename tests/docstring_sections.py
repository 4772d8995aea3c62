"""The sections of numpydoc docstrings."""

import re

HEADING = r"^{title}\n-+\n(.*?)(?=^\S[^\n]*\n-{{3,}}$|\Z)"


def entries(text, title):
    """Pairs of a section: the names before a colon on each unindented line, and the indented text below."""
    found = re.search(HEADING.format(title=title), text, re.MULTILINE | re.DOTALL)
    pairs = re.findall(r"^(\S.*)\n((?:[ \t].*\n|\n)*)", found[1] + "\n", re.MULTILINE) if found else []
    return [
        ([name.strip().strip("`*") for name in head.partition(" : ")[0].split(",")], below)
        for head, below in pairs
    ]


def names(text, title):
    """The names in a section."""
    return {name for heads, _ in entries(text, title) for name in heads}

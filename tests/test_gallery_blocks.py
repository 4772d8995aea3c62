"""A picture of the gallery is drawn in one block: at its end the page takes the picture and closes it."""

import ast

import pytest

from gallery_pages import EXAMPLES

MAKERS = {"plt.subplots", "plt.figure", "plt.axes"}


def drawn_too_late(text):
    """Return the lines that use a figure, or its axes, in a later block than the one that made it."""
    starts = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("# %%")]
    tree, bound, made = ast.parse(text), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.setdefault(node.id, []).append(node.lineno)
        if isinstance(node, ast.Assign) and any(
            isinstance(call, ast.Call) and ast.unparse(call.func) in MAKERS for call in ast.walk(node.value)
        ):
            names = [name for target in node.targets for name in ast.walk(target)]
            made |= {(name.id, name.lineno) for name in names if isinstance(name, ast.Name)}

    def block(line):
        return sum(start <= line for start in starts)

    def late(name):
        last = max((line for line in bound[name.id] if line <= name.lineno), default=name.lineno)
        return (name.id, last) in made and block(last) < block(name.lineno)

    used = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return sorted({name.lineno for name in used if name.id in bound and late(name)})


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/plot_*.py")), ids=lambda path: path.stem)
def test_no_block_draws_on_a_picture_that_is_taken(path):
    assert drawn_too_late(path.read_text(encoding="utf-8")) == []


def test_a_line_that_draws_too_late_is_found():
    first = "fig, (left, right) = plt.subplots(1, 2)\nleft.plot(x)\n"
    assert drawn_too_late(f"{first}right.plot(x)\n") == []
    assert drawn_too_late(f"{first}# %%\nright.plot(x)\n") == [4]
    assert drawn_too_late(f"{first}# %%\nfig, right = plt.subplots()\nright.plot(x)\n") == []
    assert drawn_too_late(f"{first}# %%\nfor left in plt.gcf().axes:\n    left.plot(x)\n") == []

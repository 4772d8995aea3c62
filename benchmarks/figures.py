"""Measured numbers in words."""


def times(duel):
    """How many times faster, with the range."""
    if not duel["ratio"]:
        return f"no figure: the machine was too busy, {duel['discarded']} pairs discarded"
    return f"**{factor(duel['ratio'])}** ({factor(duel['low'])} to {factor(duel['high'])})"


def judged(duel):
    """The target, and whether it is met; nothing where none was set."""
    if not duel["target"]:
        return ""
    words = {True: "met", False: "**missed**", None: "not assessed"}[duel["met"]]
    return f"{duel['target']}: {words}"


def factor(number):
    """Three digits or so: 0.0013, 0.13, 2.56, 14.3, 106."""
    if number < 0.1:
        return f"{number:.2g}"
    if number >= 100:
        return f"{number:.0f}"
    return f"{number:.1f}" if number >= 10 else f"{number:.2f}"


def seconds(number):
    """Time in a unit that fits."""
    if number >= 1.0:
        return f"{number:.3g} s"
    return f"{1e3 * number:.3g} ms" if number >= 1e-3 else f"{1e6 * number:.3g} µs"


def megabytes(number):
    return "less than 1 MB" if number < 1.0 else f"{number:.0f} MB"


def joined(parts):
    """One, two and three."""
    parts = list(parts)
    return ", ".join(parts[:-1]) + (" and " if parts[1:] else "") + parts[-1] if parts else ""

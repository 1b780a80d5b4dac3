"""Tables in Markdown, and what their figures have in common."""

import math


def digits(value, count=1):
    """A number with so many digits behind the point; `-` where there is none."""
    return "-" if value is None else f"{value:.{count}f}"


def geomean(values):
    """The geometric mean; what is zero counts as a billionth."""
    values = list(values)
    return math.exp(sum(math.log(max(value, 1e-9)) for value in values) / len(values))


def table(head, rows):
    """A table whose first column is text and the others are numbers."""
    lines = [f"| {' | '.join(head)} |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n\n"

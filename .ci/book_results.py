#!/usr/bin/env python3
"""mdBook preprocessor: puts below each document the tables that experiments/results.py made for it.

Where nothing was made the document stands alone; it names the command itself.
"""

import json
import sys
from pathlib import Path


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    results = Path(context["root"]) / "target/results"

    def visit(items):
        for item in items:
            if isinstance(item, dict) and "Chapter" in item:
                chapter = item["Chapter"]
                made = results / (chapter.get("source_path") or "")
                if made.is_file():
                    text = made.read_text()
                    # The document has a title of its own.
                    title, _, rest = text.partition("\n")
                    chapter["content"] += "\n\n" + (rest if title.startswith("# ") else text)
                visit(chapter["sub_items"])

    visit(book["items"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()

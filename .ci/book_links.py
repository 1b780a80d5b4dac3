#!/usr/bin/env python3
"""mdBook preprocessor: links out of docs/ lead to the repository, and those to a README.md to what mdBook
makes of it, index.md.

The documents link to each other and to code by relative paths, so that they can be read as files.
"""

import json
import posixpath
import re
import sys
from pathlib import Path

LINK = re.compile(r"(!?\]\()([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(?: {0,3})(```|~~~).*?^(?: {0,3})\1[ \t]*$", re.MULTILINE | re.DOTALL)


def rewritten(text, chapter, source, repository, root):
    """Markdown `text` of the chapter `chapter` (a path below `source`) with its links rewritten."""

    def link(match):
        target, anchor = match[2], match[3] or ""
        if "://" in target or target.startswith(("mailto:", "/")):
            return match[0]
        path = posixpath.normpath(posixpath.join(source, posixpath.dirname(chapter), target))
        if path.startswith(source + "/") and path != source + "/SUMMARY.md":
            folder, name = posixpath.split(target)
            page = posixpath.join(folder, "index.md") if name == "README.md" else target
            return f"{match[1]}{page}{anchor})"
        kind = "tree" if (root / path).is_dir() else "blob"
        return f"{match[1]}{repository}/{kind}/main/{path}{anchor})"

    parts, end = [], 0
    for block in FENCE.finditer(text):
        parts += [LINK.sub(link, text[end : block.start()]), block[0]]
        end = block.end()
    return "".join(parts) + LINK.sub(link, text[end:])


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    context, book = json.load(sys.stdin)
    config = context["config"]
    source = config["book"]["src"]
    repository = config["output"]["html"]["git-repository-url"]

    def visit(items):
        for item in items:
            if isinstance(item, dict) and "Chapter" in item:
                chapter = item["Chapter"]
                if chapter.get("source_path"):
                    chapter["content"] = rewritten(
                        chapter["content"], chapter["source_path"], source, repository, Path(context["root"])
                    )
                visit(chapter["sub_items"])

    visit(book["items"])
    json.dump(book, sys.stdout)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks the built book: book_check.py BOOK REPOSITORY_URL

Each link, image and anchor of each page must lead to something: in the book, or in this repository for
links to its URL. Nothing is fetched.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent


class Page(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value and tag in ("a", "img", "script", "link"):
                self.targets.append(value)


def problem(page, target, pages, book, repository):
    """Why `target` of `page` leads nowhere; None where it does, or leads out."""
    if target.startswith(repository + "/"):
        kind, _, path = target.removeprefix(repository + "/").partition("/main/")
        path = ROOT / urlsplit(unquote(path)).path
        is_there = path.is_dir() if kind == "tree" else path.is_file()
        return None if is_there else "is not in the repository"
    parts = urlsplit(target)
    if parts.scheme or parts.netloc or target == repository:
        return None
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if file.is_dir():
        file /= "index.html"
    if not file.is_relative_to(book) or not file.is_file():
        return "is not in the book"
    # Scripts of the page itself read other fragments.
    if parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
        return "has no such anchor"
    return None


def main():
    book, repository = Path(sys.argv[1]).resolve(), sys.argv[2]
    skipped = {book / "404.html", book / "print.html"}  # made of the others; relative to elsewhere
    files = sorted(f for f in book.rglob("*.html") if f not in skipped and "playground" not in f.parts)
    pages = {file: Page(file.read_text()) for file in files}
    wrong = []
    for file, page in pages.items():
        for target in page.targets:
            why = problem(file, target, pages, book, repository)
            if why:
                wrong.append(f"{file.relative_to(book)}: {target} {why}")
    print("\n".join(wrong), end="\n" if wrong else "")
    print(f"{len(pages)} pages, {sum(len(p.targets) for p in pages.values())} links, {len(wrong)} lead nowhere")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())

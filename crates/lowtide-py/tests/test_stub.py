"""The stub says what there is."""

import ast
import pathlib

import lowtide
from lowtide import _lowtide

STUB = pathlib.Path(lowtide.__file__).parent / "_lowtide.pyi"


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_names_and_members_are_those_of_the_module():
    tree = ast.parse(STUB.read_text())
    said = {}
    for node in tree.body:
        match node:
            case ast.ClassDef(name=name, body=body):
                said[name] = {part.name for part in body if isinstance(part, ast.FunctionDef)}
                said[name] |= {part.target.id for part in body if isinstance(part, ast.AnnAssign)}
            case ast.FunctionDef(name=name):
                said[name] = set()
            case ast.AnnAssign(target=ast.Name(id=name)):
                said[name] = set()
    options = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Options")
    names = {part.target.id for part in options.body if isinstance(part, ast.AnnAssign)}
    assert names >= set(_lowtide.OPTIONS)
    said.pop("Options")
    assert public(said) == public(vars(_lowtide))
    for name, members in said.items():
        kind = getattr(_lowtide, name)
        if isinstance(kind, type):
            assert public(members) == public(vars(kind)), name

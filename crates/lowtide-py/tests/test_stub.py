"""The stub says what there is."""

import ast
import pathlib

import pytest

import lowtide
from lowtide import _lowtide
from lowtide._options import Options

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
    assert set(Options.__annotations__) == set(_lowtide.OPTIONS)
    assert public(said) == public(vars(_lowtide))
    for name, members in said.items():
        kind = getattr(_lowtide, name)
        if isinstance(kind, type):
            assert public(members) == public(vars(kind)), name


def documented(names):
    """Members of the stub's classes, and what the stub says of each."""
    for node in ast.parse(STUB.read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name in names:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.decorator_list:
                    yield node.name, part.name, ast.get_docstring(part)


EVENTS = ["Ack", "Batch", "Config", "Loss", "Model", "PacketSent", "RateSample", "Timeout"]


@pytest.mark.parametrize(("kind", "member", "said"), list(documented(EVENTS)))
def test_what_the_stub_says_of_a_field_is_what_help_says(kind, member, said):
    known = getattr(getattr(_lowtide, kind), member).__doc__
    assert said and said.split() == known.split()

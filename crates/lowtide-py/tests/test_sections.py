"""The classes of sections have the keys of scenario files."""

import dataclasses
import json
import subprocess
import sys

import pytest

from lowtide import Flow, Link, Path


@pytest.mark.parametrize(("section", "name"), [(Link, "LinkSection"), (Path, "PathSection"), (Flow, "FlowSection")])
def test_every_key_is_a_field(section, name):
    told = subprocess.run([sys.executable, "-m", "lowtide", "schema"], capture_output=True, check=True)
    known = json.loads(told.stdout)["$defs"][name]["properties"]
    assert {field.name for field in dataclasses.fields(section)} == set(known)

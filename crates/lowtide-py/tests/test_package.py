"""What the wheel brings."""

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

import lowtide


def test_importing_brings_no_numpy_and_no_pandas():
    code = "import sys, lowtide; print([m for m in ('numpy', 'pandas', 'polars', 'pyarrow', 'tqdm') if m in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_the_command_is_there_and_answers_as_it_does():
    script = pathlib.Path(sys.executable).parent / "lowtide"
    told = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"lowtide {lowtide.__version__}"
    wrong = subprocess.run([script, "compare", "--rate", "20"], capture_output=True, text=True)
    assert wrong.returncode == 2 and "unit" in wrong.stderr
    wrong = subprocess.run([script, "compare", "--cc", "nobody"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: --cc: ")


def test_a_sweep_of_the_command_is_found_again(tmp_path):
    script = pathlib.Path(sys.executable).parent / "lowtide"
    file = tmp_path / "grid.toml"
    file.write_text(
        'run = { duration = "1s" }\nlink = { rate = "5mbit" }\nflows = [{ controller = "bbr" }]\n'
        '[sweep]\n"path.rtt" = ["10ms", "20ms"]\n'
    )
    arguments = [script, "sweep", file, "--output", tmp_path / "results", "--no-timing"]
    first = subprocess.run(arguments, capture_output=True, text=True, check=True)
    again = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert first.stdout == again.stdout
    assert "2 runs; 0 of them" in first.stderr and "2 runs; 2 of them" in again.stderr


def test_a_link_of_the_command_ends_with_what_ran_behind_it():
    script = pathlib.Path(sys.executable).parent / "lowtide"
    told = subprocess.run([script, "link", "--rate", "5mbit", "--", "true"], capture_output=True, text=True)
    if told.returncode == 2 or "namespace" in told.stderr:
        pytest.skip(f"no namespaces here: {told.stderr.strip()}")
    assert told.returncode == 0, told.stderr


def test_licences_and_types_are_in_it():
    files = importlib.metadata.files("lowtide") or []
    names = {file.name for file in files}
    if "lowtide.pth" in names:
        pytest.skip("installed for development: files are not copied")
    assert {"LICENSE-APACHE", "LICENSE-MIT", "py.typed", "_lowtide.pyi"} <= names

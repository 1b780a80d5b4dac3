"""The lines of the README run."""

import pathlib
import re

README = pathlib.Path(__file__).parent.parent / "README.md"


def test_the_lines_of_the_readme_run(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    printed = capsys.readouterr().out
    assert "ebb" in printed and "best window" in printed
    duel = names["duel"]
    assert [flow.name for flow in duel.flows] == ["ebb 1", "ebb 2", "cubic"]

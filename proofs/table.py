"""The table of all statements. Fails where one that docs/proofs.md names is not proved, or its second check fails."""
import os
import re
import sys
import time

import bbr1
import bbr3
import ebb
import second_check
import two_flows
from statement import judge

DOCS = os.path.join(second_check.ROOT, "docs", "proofs.md")
# Of the controller, not of the model: what docs/proofs.md says does not carry over.
NOT_CARRIED_OVER = {"ebb-rate, slow", "share-root"}


def trace(model):
    """A counterexample's values by name."""
    return ", ".join(sorted(f"{d.name()} = {model[d]}" for d in model.decls() if d.arity() == 0))


def documented():
    """The keys in the first column of the table below "What is proved"."""
    with open(DOCS) as docs:
        section = docs.read().split("## What is proved")[1].split("\n## ")[0]
    cells = re.findall(r"^\|([^|]*)\|", section, re.MULTILINE)
    return [key for cell in cells for key in re.findall("`([^`]+)`", cell)]


def main():
    began, verdicts, failed = time.monotonic(), {}, []
    print(f"{'statement':16} {'model':9} {'z3':15} {'stronger':15} bound")
    for module in (bbr1, bbr3, ebb, two_flows):
        for made in module.STATEMENTS:
            (inside, seconds, _), (outside, more, model) = judge(made.inside), judge(made.outside)
            verdicts[made.key] = inside
            if outside not in ("refuted", "none"):
                failed.append(f"{made.key}: a stronger statement is {outside}")
            print(f"{made.key:16} {module.__name__:9} {inside:8} {seconds:5.1f} s {outside:8} {more:5.1f} s {made.bound}", flush=True)
            print(f"{'':16} {made.says}")
            if "--traces" in sys.argv and model is not None:
                print(f"{'':16} {trace(model)}")
    named = documented()
    failed += [f"{key}: {verdicts.get(key, 'no such statement')}" for key in named if verdicts.get(key) != "proved"]
    failed += [f"{key}: not in docs/proofs.md" for key in verdicts if key not in named]
    checks = [("packets", second_check.PACKETS)]
    if second_check.LOWTIDE:
        checks.append(("lowtide", second_check.BINARY))
    print(f"\n{'second check':22} {'with':8} {'inside':7} {'outside':8} what")
    for name, group in checks:
        for key, check in group.items():
            holds, fails, says = check()
            known = name == "lowtide" and key in NOT_CARRIED_OVER
            if not known and not (holds and fails is not False):
                failed.append(f"{key}: the second check with {name}")
            inside = "holds" if holds else "no"
            outside = "-" if fails is None else "fails" if fails else "no"
            print(f"{key:22} {name:8} {inside:7} {outside:8} {says}", flush=True)
    if not second_check.LOWTIDE:
        print("The controllers themselves were not run: no lowtide found (LOWTIDE=path, or cargo build --release).")
    print(f"\n{len(verdicts)} statements, {time.monotonic() - began:.0f} s.", *[f"\nFAILED: {line}" for line in failed])
    return 1 if failed else 0


sys.exit(main())

#!/usr/bin/env python3
"""Writes what the wheel, and with it the command, is made of: its SBOM and the licences with their texts.

    .ci/licences.py DIST CRATES     a folder with wheels, and one with the sources of all crates

maturin puts the SBOM (CycloneDX) into the wheel.
"""
import json
import re
import sys
import zipfile
from pathlib import Path

dist, crates = map(Path, sys.argv[1:])
wheel = zipfile.ZipFile(sorted((dist / "python").glob("*.whl"))[0])
(name,) = [name for name in wheel.namelist() if name.endswith("lowtide-py.cyclonedx.json")]
sbom = json.loads(wheel.read(name))
(dist / "sbom.cyclonedx.json").write_text(json.dumps(sbom, indent=1) + "\n")

texts: dict[str, list[str]] = {}
without = []
for part in sorted(sbom["components"], key=lambda part: part["name"]):
    crate = f"{part['name']}-{part['version']}"
    terms = " ".join(entry.get("expression") or entry["license"].get("id", "") for entry in part["licenses"])
    files = [file for file in (crates / crate).iterdir() if re.match("(?i)licen[cs]e|copying|notice|unlicense", file.name)]
    if not files:
        without.append(f"{crate}: {terms}")
    for file in files:
        if file.is_file():
            texts.setdefault(file.read_text(errors="replace").strip(), []).append(f"{crate}: {terms}")
with open(dist / "LICENCES.txt", "w") as out:
    for text, users in texts.items():
        print(*users, "", text, "", "=" * 80, sep="\n", file=out)
    print("Without a text of its own:", *without, sep="\n", file=out)

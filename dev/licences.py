"""The licences of all that is linked into homing: the crates below the command and the Python package.

    python dev/licences.py > LICENCES.txt

lists each crate with its version, its licence and where it comes from, then the texts of the licences
that the crates carry, each once. Crates that are used only to build or to test are left out.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

ROOTS = {"homing-cli", "homing-python"}
TARGETS = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
]


def linked() -> list[dict]:
    """The packages that are linked on one of the targets."""
    found: dict[str, dict] = {}
    for target in TARGETS:
        command = ["cargo", "metadata", "--format-version", "1", "--locked"]
        answer = subprocess.run(
            [*command, "--filter-platform", target], capture_output=True, check=True, text=True
        )
        data = json.loads(answer.stdout)
        packages = {package["id"]: package for package in data["packages"]}
        nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
        todo = [id for id, package in packages.items() if package["name"] in ROOTS]
        seen = set(todo)
        while todo:
            id = todo.pop()
            if is_macro(packages[id]):
                continue
            found[id] = packages[id]
            for dependency in nodes[id]["deps"]:
                # `None` is an ordinary dependency; others build or test.
                normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
                if normal and dependency["pkg"] not in seen:
                    seen.add(dependency["pkg"])
                    todo.append(dependency["pkg"])
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def is_macro(package: dict) -> bool:
    """Whether it runs in the compiler and is not part of the program."""
    return any("proc-macro" in target["kind"] for target in package["targets"])


def texts(packages: list[dict]) -> dict[str, list[str]]:
    """The texts of licences, and the crates that carry each."""
    found: dict[str, list[str]] = {}
    for package in packages:
        folder = Path(package["manifest_path"]).parent
        files = [
            path
            for path in sorted(folder.iterdir())
            if path.is_file()
            and path.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT"))
        ]
        for path in files:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            found.setdefault(text, []).append(f"{package['name']} {package['version']} ({path.name})")
    return found


def main() -> None:
    packages = linked()
    outside = [package for package in packages if package["source"] is not None]
    missing = [package["name"] for package in outside if not package["license"]]
    if missing:
        raise SystemExit(f"without a licence: {', '.join(missing)}")
    print("homing is under MIT OR Apache-2.0. These crates are linked into it:\n")
    for package in outside:
        name = f"{package['name']} {package['version']}"
        print(f"{name:36} {package['license']:44} {package['repository'] or ''}".rstrip())
    for text, crates in texts(outside).items():
        print("\n" + "-" * 100 + "\n" + "\n".join(crates) + "\n" + "-" * 100 + "\n" + text)


if __name__ == "__main__":
    main()

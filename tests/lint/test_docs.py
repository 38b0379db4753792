"""What the documentation lists is what the code has."""

import re

import pytest
from tree import ROOT, files


def environment_rows():
    """The rows of the table in runtime/base/env.cpp as lines of a Markdown table."""
    path = ROOT / "runtime/base/env.cpp"
    if not path.exists():
        pytest.skip("no environment table yet")
    table = path.read_text().split("kTable[] = {")[1].split("\n};")[0]
    quoted = r'"((?:[^"\\]|\\.)*)"'
    rows = re.findall(rf"\{{{quoted},\s*{quoted},\s*{quoted},\s*{quoted},", table)
    return [f"| `{name}` | {allowed} | {normally} | {meaning} |" for name, allowed, normally, meaning in rows]


def test_environment_is_documented():
    rows = environment_rows()
    assert len(rows) >= 11
    text = (ROOT / "docs/environment.md").read_text()
    missing = [row for row in rows if row not in text]
    assert not missing, "docs/environment.md lacks:\n" + "\n".join(missing)


def test_links_lead_somewhere():
    for path in (f for f in files() if f.suffix == ".md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / path).read_text()):
            assert (ROOT / path.parent / target).exists(), f"{path} links to {target}"

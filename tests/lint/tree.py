"""The project's files, and what their #include lines say. Shared by the lint tests."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE_SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".cu", ".cuh", ".def", ".inc"}
LIBRARY = ("runtime", "partition", "comm", "ops", "python")


def files():
    """Paths of all project files relative to the root: tracked ones and new ones that git does not ignore."""
    command = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, text=True)
    if listed.returncode == 0:
        names = [Path(name) for name in listed.stdout.splitlines()]
    else:  # an unpacked archive
        names = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
        names = [name for name in names if name.parts[0] not in ("build", ".venv", ".git")]
    return sorted(name for name in names if (ROOT / name).is_file())


def sources():
    """The C++ files of the library itself, without tests."""
    return [f for f in files() if f.suffix in SOURCE_SUFFIXES and f.parts[0] in LIBRARY]


def quoted_includes(path):
    """What a file includes with quotes, in order."""
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', (ROOT / path).read_text(), re.MULTILINE)


def system_includes(path):
    """What a file includes with angle brackets, in order."""
    return re.findall(r"^\s*#\s*include\s+<([^>]+)>", (ROOT / path).read_text(), re.MULTILINE)

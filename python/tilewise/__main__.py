"""python -m tilewise [--] prog.py args | -m module args | -c code args | - args: runs a program whose workers are
captured before it starts.

Importing the package, which has happened when this file runs, keeps every rank but the leader. The program sees what it
would see under `python`: sys.argv as typed, sys.path[0], and its own absolute __file__.
"""

import io
import linecache
import os
import runpy
import sys
import types

USAGE = "usage: python -m tilewise [--] prog.py [args] | -m module [args] | -c code [args] | - [args]"


def run_code(source, name, file=None):
    """Runs a program's text as the module __main__."""
    module = types.ModuleType("__main__")
    if file:
        module.__file__ = file
    module.__builtins__ = sys.modules["builtins"]
    run_code.replaced = sys.modules["__main__"]
    sys.modules["__main__"] = module
    exec(compile(source, name, "exec"), module.__dict__)


def run_file(path):
    """A program's file, or what else Python runs: a folder or an archive with a __main__.py."""
    if not os.path.exists(path):
        sys.exit(f"tilewise: there is no file {path}")
    file = os.path.join(os.getcwd(), path)  # not normalized: as Python leaves it
    if os.path.isdir(file) or file.endswith((".zip", ".pyz", ".pyc")):
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = os.path.dirname(os.path.realpath(file))
    with io.open_code(file) as text:
        source = text.read()
    run_code(source, file, file)


def main(argv):
    first, rest = (argv[0], argv[1:]) if argv else ("", [])
    if first == "-m" and rest:
        sys.argv = rest
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c" and rest:
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        if sys.version_info >= (3, 13):  # from then on Python shows the lines of such a program
            linecache.cache["<string>"] = (len(rest[0]), None, rest[0].splitlines(keepends=True), "<string>")
        run_code(rest[0], "<string>")
    elif first == "-":
        sys.argv = argv
        sys.path[0] = ""
        run_code(sys.stdin.read(), "<stdin>", "<stdin>")
    elif (first == "--" and rest) or (first and not first.startswith("-")):
        sys.argv = rest if first == "--" else argv
        run_file(sys.argv[0])
    else:
        sys.exit(USAGE)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SystemExit as ending:  # the other ranks end with the same status
        sys.exit(ending.code)

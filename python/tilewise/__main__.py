"""python -m tilewise [--] prog.py args | -m module args: runs a program whose workers are captured before it starts.

Importing the package, which has happened when this file runs, keeps every rank but the leader.
"""

import os
import runpy
import sys

USAGE = "usage: python -m tilewise [--] prog.py [args] | -m module [args]"


def main(argv):
    if argv[:1] == ["-m"] and len(argv) > 1:
        sys.argv = argv[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(argv[1], run_name="__main__", alter_sys=True)
        return
    if argv[:1] == ["--"]:
        argv = argv[1:]
    elif argv[:1] and argv[0].startswith("-"):
        sys.exit(USAGE)
    if not argv:
        sys.exit(USAGE)
    if not os.path.exists(argv[0]):
        sys.exit(f"tilewise: there is no file {argv[0]}")
    sys.argv = argv
    sys.path[0] = os.path.dirname(os.path.abspath(argv[0]))
    runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except SystemExit as ending:  # the other ranks end with the same status
        sys.exit(ending.code)

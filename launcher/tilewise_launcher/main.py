"""Entry point of the `tilewise` command. The program takes this process's place, so that its signals and its exit
status are the command's own."""

import os
import shlex
import sys

from . import command, mpi, options


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if argv == ["info"]:
        from .info import print_info
        return print_info()
    chosen, program = options.parse(argv)
    try:
        added, words = command.build(chosen, program)
    except command.Unavailable as e:
        print(f"tilewise: {e}", file=sys.stderr)
        return 1
    if chosen.dry_run:
        print(shlex.join([f"{name}={value}" for name, value in sorted(added.items())] + words))
        return 0
    if program[0] not in (*options.STARTS, "--") and not os.path.exists(program[0]):
        print(f"tilewise: there is no file {program[0]}", file=sys.stderr)
        return 2
    sys.stdout.flush()
    environ = {name: value for name, value in os.environ.items() if name not in mpi.OWN_MARKS}
    os.execvpe(words[0], words, environ | added)


if __name__ == "__main__":
    sys.exit(main())

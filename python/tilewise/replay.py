"""python -m tilewise.replay FILE: runs a saved stream (TILEWISE_SAVE_STREAM) again, in this process's configuration.

Prints a line for each value that the program read: type, shape and a hash of its bytes. Under mpirun the
ranks share the work, as for a program.
"""

import sys

from tilewise import _core


def main(argv):
    if len(argv) != 1:
        sys.exit("usage: python -m tilewise.replay FILE")
    for i, (dtype, shape, value) in enumerate(_core.replay(argv[0])):
        print(f"read {i}: {dtype} {tuple(shape)} {value:016x}")


if __name__ == "__main__":
    main(sys.argv[1:])

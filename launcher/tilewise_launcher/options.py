"""The command line of `tilewise`: its own options, then a program with its arguments."""

import argparse

DESCRIPTION = """\
Runs a Python program that uses tilewise: in this process alone, or on many ranks.

  tilewise prog.py args              every device of this machine, one process
  tilewise --ranks 4 prog.py args    four ranks on this machine
  tilewise --nodes 4 --gpus 8 prog.py
  tilewise -m module args            a module instead of a file
  tilewise -c code args, tilewise -  code given here, or on standard input
  tilewise info                      what was found and built
"""


STARTS = ("-m", "-c", "-")  # a module, code, standard input: as for python


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def parser():
    p = argparse.ArgumentParser(
        prog="tilewise",
        usage="tilewise [options] [--] prog.py [args] | [options] -m module | -c code | - [args] | info",
        description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    p.add_argument("--nodes", type=positive, metavar="N", help="machines to use (default: those of --hosts, else one)")
    p.add_argument("--ranks", type=positive, metavar="N", help="processes in all (default: one a machine)")
    p.add_argument("--gpus", type=positive, metavar="N", help="GPUs of each machine")
    p.add_argument("--cpus", type=positive, metavar="N", help="parts into which each process cuts its cores")
    p.add_argument("--hosts", metavar="A,B:2", help="machines, with the most ranks of each")
    p.add_argument("--hostfile", metavar="FILE", help="a file that lists machines, as mpirun reads it")
    p.add_argument("--start-with", choices=("mpirun", "srun"),
                   help="what starts the ranks (default: srun inside a Slurm job, else mpirun)")
    p.add_argument("--dry-run", action="store_true", help="print the command and do not run it")
    return p


def split(argv):
    """Our own arguments, and the program's: it starts at `--`, -m, -c or -, or at the first that is no option."""
    takes_value = {name for action in parser()._actions if action.nargs is None for name in action.option_strings}
    at = 0
    while at < len(argv):
        if argv[at] == "--":
            return argv[:at], argv[at:]
        if argv[at] in STARTS or not argv[at].startswith("-"):
            break
        at += 2 if argv[at] in takes_value else 1
    return argv[:at], argv[at:]


def parse(argv):
    """(options, program): the program's words still begin with `--` or -m where the user wrote that."""
    own, program = split(argv)
    p = parser()
    options = p.parse_args(own)
    if options.gpus and options.cpus:
        p.error("--gpus and --cpus exclude each other")
    if options.hosts and options.hostfile:
        p.error("--hosts and --hostfile exclude each other")
    if options.ranks and options.nodes and options.ranks % options.nodes:
        p.error(f"--ranks {options.ranks} cannot be spread evenly over --nodes {options.nodes}")
    if not program or program in (["-m"], ["-c"], ["--"]):
        p.error("no program given")
    return options, program

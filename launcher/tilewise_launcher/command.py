"""From options to the command that starts the program, and what must be added to the environment for it."""

import os
import shutil
import sys

from . import mpi


class Unavailable(Exception):
    """What was asked for cannot be started here; the message says what to do."""


def devices(options):
    """The value of TILEWISE_DEVICES that the options ask for, or None."""
    if options.gpus:
        return "cuda:" + ",".join(str(i) for i in range(options.gpus))
    return f"cpu:{options.cpus}" if options.cpus else None


def is_local(options):
    """One process on this machine: no other program is needed to start it."""
    return not (options.hosts or options.hostfile or options.ranks or (options.nodes or 1) > 1)


def count_hosts(options):
    if options.hosts:
        return len(options.hosts.split(","))
    if options.hostfile:
        try:
            with open(options.hostfile) as f:
                return sum(1 for line in f if line.split("#")[0].strip())
        except OSError as e:
            raise Unavailable(f"--hostfile: {e}") from None
    return 1


def build(options, program, environ=os.environ):
    """(variables to add, command)."""
    run = [sys.executable, "-m", "tilewise", *program]
    added = {"TILEWISE_DEVICES": devices(options)} if devices(options) else {}
    if is_local(options):
        return added, run
    nodes = options.nodes or count_hosts(options)
    ranks = options.ranks or nodes
    if (options.start_with or ("srun" if environ.get("SLURM_JOB_ID") else "mpirun")) == "srun":
        return added, [*srun(options, nodes, ranks), *run]
    found = mpi.find_mpirun()
    if not found:
        raise Unavailable("several ranks need MPI, and no mpirun was found: apt-get install openmpi-bin")
    added |= mpi.missing(environ)
    return added, [*mpirun(found, options, nodes, ranks, {**environ, **added}), *run]


def mpirun(found, options, nodes, ranks, environ):
    words = [found.path, "-n", str(ranks)]
    if found.kind == "openmpi":
        # Quiet: the program's own traceback and exit status say what is wrong. Unbound: the runtime binds its workers
        # itself, by hwloc, within the cores that it divides with the ranks beside it.
        words += ["--quiet", "--bind-to", "none"]
        if nodes > 1:
            words += ["--map-by", f"ppr:{ranks // nodes}:node"]
        if options.hosts or options.hostfile:
            for name in mpi.passed_on(environ):
                words += ["-x", name]
    elif nodes > 1:
        words += ["-ppn", str(ranks // nodes)]
    if options.hosts:
        words += ["--host" if found.kind == "openmpi" else "-hosts", options.hosts]
    if options.hostfile:
        words += ["--hostfile" if found.kind == "openmpi" else "-f", options.hostfile]
    return words


def srun(options, nodes, ranks):
    if not shutil.which("srun") and not options.dry_run:
        raise Unavailable("srun was not found: this is no Slurm machine; use --start-with mpirun")
    words = ["srun", f"--nodes={nodes}", f"--ntasks={ranks}", "--cpu-bind=none"]
    if options.hosts:
        words.append(f"--nodelist={options.hosts}")
    return words

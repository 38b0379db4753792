"""The life of a process: who leads, how workers are captured, and how the job ends."""

import atexit
import os
import sys
import threading
import weakref

from tilewise import _core, _settings
from tilewise._errors import SettingError

_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_RUNNERS = ("<frozen runpy>", _FOLDER + "__main__.py")  # whose frames lie below the program's
_status = 0
_exiting = False  # whether the interpreter ends with _status by itself
_role = {"rank": 0, "size": 1, "leader": True}


def start():
    """Joins the job. A worker lives its whole life in here and does not return, except in spmd mode."""
    global _role
    try:
        _role = _core.start(_FOLDER)
    except ValueError as error:
        if _is_launched():
            sys.exit(f"tilewise: {error}")
        raise SettingError(str(error)) from None
    if not _role["leader"] and _settings.mode == "leader":
        _work()
    _hear_ctrl_c()
    sys.excepthook = _Hook(sys.excepthook)
    sys.exit = _exit
    atexit.register(_end)
    os.register_at_fork(after_in_child=_after_fork)


def _is_launched():
    """Whether `python -m tilewise` imports the package: nobody needs the frames of what goes wrong."""
    words = sys.orig_argv
    return sys.argv[:1] == ["-m"] and "-m" in words and words[words.index("-m") + 1 :][:1] == ["tilewise"]


def _work():
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    status = _core.run_worker()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def _hear_ctrl_c():
    """Open MPI's mpirun answers Ctrl-C by SIGTERM to its ranks (SIGKILL a second later): here it is Ctrl-C again."""
    import signal

    ours = _role["size"] > 1 and _settings.mode == "leader" and "OMPI_COMM_WORLD_RANK" in os.environ
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return

    def interrupt(number, frame):
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


class _Hook:
    """An uncaught exception makes every rank end with its status."""

    def __init__(self, former):
        self.former = former

    def __call__(self, kind, error, trace):
        _set_status(130 if issubclass(kind, KeyboardInterrupt) else 1, True)
        while trace is not None and trace.tb_frame.f_code.co_filename in _RUNNERS:
            trace = trace.tb_next
        error.__traceback__ = trace
        self.former(kind, error, trace)


def _set_status(status, exiting=False):
    global _status, _exiting
    _status, _exiting = status, exiting


_python_exit = sys.exit


class _SystemExit(SystemExit):
    """Python tells nobody that it ends by SystemExit. But this exception can be watched (weakref): one that ends the
    program goes when no frame is left, one that was caught while there are frames, or later."""


_SystemExit.__name__, _SystemExit.__qualname__, _SystemExit.__module__ = "SystemExit", "SystemExit", "builtins"
_leaving = None  # the last exception of sys.exit, and what the status was before


def _exit(code=None, /):
    """sys.exit that lets the workers know the status. In another thread than the first it ends that thread only."""
    if threading.current_thread() is not threading.main_thread():
        _python_exit(code)
    global _leaving
    error = _SystemExit() if code is None else _SystemExit(*code) if isinstance(code, tuple) else _SystemExit(code)
    _leaving = weakref.ref(error, _caught), _status, _exiting
    _set_status(0 if code is None else code & 0xFF if isinstance(code, int) else 1, True)
    try:
        raise error
    finally:
        del error  # or its traceback would keep it


def _caught(reference):
    global _leaving
    try:
        sys._getframe(1)
    except ValueError:
        return
    if _leaving and _leaving[0] is reference:
        _set_status(*_leaving[1:])
        _leaving = None


def _end():
    if _leaving and _leaving[0]() is not None:  # caught, and kept
        _set_status(*_leaving[1:])
    try:
        _core.settle()
    except KeyboardInterrupt:
        _set_status(130)
    except Exception as error:
        if not _status:  # else the traceback has told it
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            _set_status(1)
    sys.stdout.flush()
    _core.shutdown(_status)
    if _status and not _exiting:
        os._exit(_status)


def _after_fork():
    """In a child the job's threads and sockets are gone: what it records starts a runtime alone."""
    _core.forked()


def role():
    return dict(_role)

"""The command ``lowtide``, also as ``python -m lowtide``."""

from __future__ import annotations

import os
import signal
import sys
import sysconfig


def main() -> int:
    """Does what the arguments of the process ask for."""
    from . import _lowtide

    # As any command: Ctrl-C is the command's, a closed pipe no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return _lowtide.main(["lowtide", *sys.argv[1:]], _start(), _lowtide.__file__)


def _start() -> str:
    """What starts this command again."""
    own = os.path.abspath(sys.argv[0])
    if os.access(own, os.X_OK) and not own.endswith("__main__.py"):
        return own
    return os.path.join(sysconfig.get_path("scripts"), "lowtide")


if __name__ == "__main__":
    sys.exit(main())

"""The program `pith`: `pith …` and `python -m pith …`."""

from __future__ import annotations

import signal
import sys

from . import _pith


def main() -> None:
    """Runs the program with the words of the command line, and ends with its exit code."""
    # The program hears Ctrl-C by itself, and ends where it can be resumed.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_pith.run(["pith", *sys.argv[1:]], [sys.executable, "-m", "pith"]))


if __name__ == "__main__":
    main()

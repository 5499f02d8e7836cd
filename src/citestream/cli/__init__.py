"""The ``citestream`` command. Needs the ``cli`` extra; everything else of the package does not.

``app``, ``ask`` and ``sessions`` have the commands, ``inputs`` finds and reads the files to cite,
``logs`` reads event logs, ``answers`` prints answers, ``output`` writes for a terminal or a pipe.
"""

import io
import sys

__all__ = ("main",)

_INTERRUPTED = 130


def main() -> None:
    """Run the command; errors are one line on stderr and a non-zero exit."""
    try:
        from .app import run  # noqa: PLC0415 - typer and rich are an extra
    except ModuleNotFoundError as error:
        sys.exit(f"citestream: error: {error.name} is missing: pip install 'citestream[cli]'")
    # Python has None for a stream that is closed, and nothing says so better than an empty one.
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())
    if sys.stdout is None:
        sys.exit("citestream: error: standard output is closed")
    try:
        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)

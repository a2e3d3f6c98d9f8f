"""`python -m sardonyx hf FOLDER -o OUT`: the commands that need Python, which the native program
`sardonyx` hands over to."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command of that name."""
    commands = ("hf",)
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(f"usage: python -m sardonyx {{{','.join(commands)}}} ...", file=sys.stderr)
        return 2
    from sardonyx.hf.command import main as hf

    return hf(sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())

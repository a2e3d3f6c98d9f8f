"""The most memory that a process holds of its own, watched from outside.

RssAnon: resident pages that are not of a file. VmHWM would count the pages of mapped archives.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

# A process, not a thread: native code may hold the interpreter's lock for as long as it runs.
_WATCH = """
import sys, select
status = f"/proc/{sys.argv[1]}/status"
most = 0
def anonymous():
    with open(status) as lines:
        for line in lines:
            if line.startswith("RssAnon"):
                return int(line.split()[1])
    return 0
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.001)[0]:
    try:
        most = max(most, anonymous())
    except OSError:
        break
print(most, flush=True)
"""


def anonymous_kilobytes(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1])
    return 0


class Watch:
    """Within it, watches a process; then `most` is in kilobytes, `growth` from where it began."""

    def __init__(self, process: int | None = None) -> None:
        self.process = os.getpid() if process is None else process
        self.most = 0
        self.growth = 0

    def __enter__(self) -> Self:
        self._watcher = subprocess.Popen(
            [sys.executable, "-S", "-c", _WATCH, str(self.process)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._watcher.stdout is not None
        self._watcher.stdout.readline()
        self._before = anonymous_kilobytes(self.process)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        said, _ = self._watcher.communicate("stop\n")
        self.most = int(said.split()[-1])
        self.growth = max(0, self.most - self._before)

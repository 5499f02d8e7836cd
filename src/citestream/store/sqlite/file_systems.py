"""Where a file is kept: file systems without shared memory and reliable locks are not for SQLite.

In: a path. Out: StoreError for a network or virtual file system, as Linux names it. Elsewhere than
on Linux nobody is asked.
"""

import os
import re
from pathlib import Path

from ...errors import StoreError

__all__ = ("check_file_system", "file_system")

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_REMOTE = re.compile(
    "9p|afs|beegfs|ceph|cifs|coda|davfs|fuse([.].*)?|gfs2?|glusterfs|gpfs|lustre|ncpfs|nfs4?|ocfs2"
    "|orangefs|prl_fs|pvfs2|smb[23]?|smbfs|sshfs|vboxsf|virtiofs|vmhgfs"
)


def check_file_system(path: Path, /, *, mounts: str | None = None) -> None:
    """Refuse a ``path`` on a network or virtual file system.

    ``mounts`` is the text of a ``mountinfo``, by default this process's.
    """
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text("utf-8", "surrogateescape")
        except OSError:
            return
    kind, mounted = file_system(os.path.realpath(path), mounts)
    if _REMOTE.fullmatch(kind) is not None:
        raise StoreError(
            f"{path}: is on {kind} (mounted at {mounted}), where SQLite's shared memory does not "
            "work and files get damaged; keep the file on a local disk, or give "
            'SQLiteOptions(journal_mode="truncate") and have one machine use it at a time'
        )


def file_system(path: str, mounts: str, /) -> tuple[str, str]:
    """Return the kind of the file system that ``path`` is on and where it is mounted.

    ``path`` is absolute and without links. What nothing is known of is of the kind ``""``.
    """
    kind = mounted = ""
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        fields, kinds = before.split(" "), after.split(" ")
        if len(fields) < 5:  # noqa: PLR2004 - the fifth is the mount point
            continue
        place = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        # Of two at one place the later one hides the earlier one.
        if inside and len(place) >= len(mounted):
            kind, mounted = kinds[0], place
    return kind, mounted

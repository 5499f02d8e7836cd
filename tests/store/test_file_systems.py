"""Which file systems a store refuses."""

from pathlib import Path

import pytest

from citestream.errors import StoreError
from citestream.store.sqlite import file_systems
from citestream.store.sqlite.file_systems import check_file_system, file_system

MOUNTS = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
28 27 0:40 / /mnt rw shared:1 master:2 - tmpfs tmpfs rw
29 28 0:41 / /mnt/net rw - nfs4 server:/x rw
30 28 0:42 / /mnt/with\040space rw - fuse.sshfs me@server: rw
31 29 0:43 / /mnt/net/local rw - xfs /dev/vdb rw
32 28 0:44 / /mnt/twice rw - ext4 /dev/vdc rw
33 32 0:45 / /mnt/twice rw - virtiofs share rw
34 28 0:46 / /mnt/back\134slash rw - 9p share rw
broken line
""".strip()


@pytest.mark.parametrize(
    ("path", "kind", "mounted"),
    [
        ("/", "ext4", "/"),
        ("/home/x.db", "ext4", "/"),
        ("/mnt", "tmpfs", "/mnt"),
        ("/mnt/nets/x.db", "tmpfs", "/mnt"),
        ("/mnt/net/x.db", "nfs4", "/mnt/net"),
        ("/mnt/net/local/x.db", "xfs", "/mnt/net/local"),
        ("/mnt/with space/x.db", "fuse.sshfs", "/mnt/with space"),
        ("/mnt/twice/x.db", "virtiofs", "/mnt/twice"),
        ("/mnt/back\\slash/x.db", "9p", "/mnt/back\\slash"),
    ],
)
def test_the_longest_mount_counts(path, kind, mounted):
    assert file_system(path, MOUNTS) == (kind, mounted)


def test_nothing_is_known_of_no_mounts():
    assert file_system("/x", "") == ("", "")


@pytest.mark.parametrize(
    "kind",
    [
        "nfs",
        "nfs4",
        "cifs",
        "smb",
        "smb3",
        "smbfs",
        "9p",
        "virtiofs",
        "fuse",
        "fuse.sshfs",
        "ceph",
        "vboxsf",
    ],
)
def test_remote_file_systems_are_refused(kind):
    mounts = f"1 0 0:1 / / rw - {kind} x rw"
    with pytest.raises(StoreError, match=rf'/x/s\.db: is on {kind} \(.*journal_mode="truncate"'):
        check_file_system(Path("/x/s.db"), mounts=mounts)


@pytest.mark.parametrize(
    "kind", ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "apfs", "fuseblk"]
)
def test_local_file_systems_are_taken(kind):
    check_file_system(Path("/x/s.db"), mounts=f"1 0 0:1 / / rw - {kind} x rw")


def test_links_are_followed(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("/mnt/net")
    mounts = MOUNTS.replace("/mnt/net ", f"{tmp_path.resolve()}/remote ")
    (tmp_path / "remote").mkdir()
    check_file_system(tmp_path / "s.db", mounts=mounts)
    link.unlink()
    link.symlink_to(tmp_path / "remote")
    with pytest.raises(StoreError, match="is on nfs4"):
        check_file_system(link / "s.db", mounts=mounts)


def test_elsewhere_than_on_linux_nobody_is_asked(monkeypatch, tmp_path):
    check_file_system(tmp_path / "s.db")
    monkeypatch.setattr(file_systems, "_MOUNTS", tmp_path / "missing")
    check_file_system(tmp_path / "s.db")

"""Folders on network and shared mounts are recognised from the kernel's own table."""

from pathlib import Path

import pytest

from core.store.mounts import network_mount

TABLE = r"""
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
40 22 0:35 / /mnt/shared rw,relatime - virtiofs tag rw
41 22 0:36 / /mnt/nas rw,relatime shared:7 master:2 - nfs4 nas:/export rw,vers=4.2
42 41 0:37 / /mnt/nas/local rw,relatime - xfs /dev/vdb rw
43 22 0:38 / /mnt/with\040space rw - cifs //server/share rw
44 22 0:39 / /mnt/home rw - fuse.sshfs me@host: rw
45 22 0:40 / /mnt/over rw - nfs nas:/a rw
46 22 0:41 / /mnt/over rw - tmpfs tmpfs rw
47 22 0:42 / /mnt/mac rw - fuseblk /dev/sdc rw
garbage
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/var/lib/loccit", None),
        ("/mnt/shared", "virtiofs"),
        ("/mnt/shared/deep/down", "virtiofs"),
        ("/mnt/shared-not", None),
        ("/mnt/nas/books", "nfs4"),
        ("/mnt/nas/local/books", None),
        ("/mnt/with space/books", "cifs"),
        ("/mnt/home/x", "fuse.sshfs"),
        ("/mnt/over", None),
        ("/mnt/mac", None),
    ],
)
def test_the_mount_a_folder_lies_on_decides(folder: str, kind: str | None) -> None:
    assert network_mount(Path(folder), TABLE) == kind

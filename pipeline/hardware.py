"""What this machine has: cores, memory, instruction sets."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Memory", "cpu_features", "memory", "physical_cores", "processor", "resident_bytes"]

_TELLING_FEATURES = (
    "avx2",
    "fma",
    "f16c",
    "avx_vnni",
    "avx512f",
    "avx512_vnni",
    "avx512_bf16",
    "amx_int8",
    "asimd",
)


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of the machine in bytes."""

    total: int
    available: int


def physical_cores() -> int:
    """Cores that do arithmetic of their own and that this process may use; at least 1.

    Encoders and language models gain nothing from hyper-threads, so this is their thread count.
    """
    import psutil

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or usable, usable))


def processor() -> str:
    """Name of the processor and how much of it this process may use: what measured speeds hold for."""
    told = Path("/proc/cpuinfo")
    lines = told.read_text(encoding="utf-8", errors="replace").splitlines() if told.is_file() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    name = next(names, "") or platform.processor() or "?"
    return f"{platform.system()} {platform.machine()}, {name}, {physical_cores()}/{os.cpu_count()}"


def memory() -> Memory:
    """Memory of the machine."""
    import psutil

    now = psutil.virtual_memory()
    return Memory(total=int(now.total), available=int(now.available))


def resident_bytes() -> int:
    """Resident memory of this process in bytes."""
    import psutil

    return int(psutil.Process().memory_info().rss)


def cpu_features() -> tuple[str, ...]:
    """The instruction sets that matter for models, of those this processor has."""
    import cpuinfo

    flags = {str(flag).replace("-", "_") for flag in cpuinfo.get_cpu_info().get("flags", [])}
    aliases = {"avx512vnni": "avx512_vnni"}
    flags |= {aliases[flag] for flag in flags & aliases.keys()}
    return tuple(name for name in _TELLING_FEATURES if name in flags)

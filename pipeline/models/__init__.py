"""Where model files come from: catalogue, download, verification, conversion."""

from pipeline.models.catalog import Catalog, ModelEntry, profile_models
from pipeline.models.install import ModelSource, check_consent, install
from pipeline.models.layout import Problem, gguf_file, installed, locate, verify
from pipeline.models.profiles import ProfileModels, resolve_profile
from pipeline.models.progress import Reporter, SilentReporter
from pipeline.models.removal import remove

__all__ = [
    "Catalog",
    "ModelEntry",
    "ModelSource",
    "Problem",
    "ProfileModels",
    "Reporter",
    "SilentReporter",
    "check_consent",
    "gguf_file",
    "install",
    "installed",
    "locate",
    "profile_models",
    "remove",
    "resolve_profile",
    "verify",
]

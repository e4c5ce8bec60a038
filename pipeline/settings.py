"""All settings in one frozen model; the only place that reads the environment.

Order: command line, then environment (``OTVET_…``, nested with ``__``), then ``otvet.toml`` in
``OTVET_HOME``, then the defaults below. Unknown keys are refused.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import platformdirs
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pipeline.errors import SettingsError
from pipeline.strategies import DEFAULT_STRATEGY, RERANKERS, STRATEGIES

__all__ = [
    "ChunkingName",
    "FormatName",
    "GeneratorSettings",
    "IndexSettings",
    "Loaded",
    "RemoteSettings",
    "SearchSettings",
    "ServerSettings",
    "Settings",
    "SqlSettings",
    "StoreKind",
    "StoreSettings",
    "load_settings",
]


TOKEN_CHARACTERS = 16
"""Fewest characters of ``server.token``."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServerSettings(_Section):
    """How the product is served."""

    server: Literal["fastapi", "flask"] = Field("fastapi", description="which web framework serves")
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8000, ge=1, le=65535, description="port to listen on")
    allowed_hosts: tuple[str, ...] = Field((), description="host names answered to besides loopback")
    token: SecretStr = Field(SecretStr(""), description="what callers must know; empty: none")
    queue_size: int = Field(8, ge=1, le=1000, description="answers waiting for the generator")

    @field_validator("token")
    @classmethod
    def _token_cannot_be_guessed(cls, token: SecretStr) -> SecretStr:
        value = token.get_secret_value()
        if value and (len(value) < TOKEN_CHARACTERS or not value.isascii() or not value.isprintable()):
            raise ValueError(f"needs {TOKEN_CHARACTERS} or more plain ASCII characters")
        return token

    @property
    def address(self) -> str:
        """Where the server is found, as a browser writes it: an IPv6 host stands in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


ChunkingName = Literal["sentences", "headings", "recursive", "semantic"]
"""The strategies of `pipeline.ingest.chunkers.strategies`."""


FormatName = Literal["txt", "md", "html", "pdf", "docx", "xlsx", "csv", "json", "sqlite"]
"""Values of ``Document.metadata["source_type"]``."""


class IndexSettings(_Section):
    """How documents are cut and embedded."""

    chunk_tokens: int = Field(220, ge=16, le=480, description="tokens of a chunk at most")
    overlap_tokens: int = Field(40, ge=0, description="tokens shared by neighbours, less than half a chunk")
    large_block_tokens: int = Field(900, ge=1, description="otvet tokens flags larger blocks")

    chunking: ChunkingName = Field("sentences", description="how documents are cut into chunks")
    chunking_by_format: dict[FormatName, ChunkingName] = Field(
        {}, description='formats that are cut otherwise, as in `{md = "headings"}`'
    )

    @model_validator(mode="after")
    def _overlap_is_less_than_half(self) -> IndexSettings:
        if self.overlap_tokens * 2 >= self.chunk_tokens:
            raise ValueError("overlap_tokens must be less than half of chunk_tokens")
        return self


class SearchSettings(_Section):
    """How candidates are found and ordered."""

    candidates: int = Field(30, ge=1, le=1000, description="candidates of each first stage")
    rerank: int = Field(20, ge=1, le=200, description="candidates that late interaction reorders")
    strategy: str = Field(DEFAULT_STRATEGY, description="how passages are found, see strategies.md")
    reranker: str = Field("", description="what puts them in order; empty: what suits the strategy")
    strictness: int = Field(
        0, ge=-2, le=2, description="2: refuse sooner than answer wrongly; -2: the reverse"
    )
    refusal_threshold: float | None = Field(
        None, ge=0, le=1, description="not set: the calibrated one and strictness; 0: never refuse"
    )
    second_look: bool = Field(
        False, description="ask the language model too whether a doubtful passage holds the answer"
    )

    @field_validator("strategy", "reranker")
    @classmethod
    def _is_registered(cls, name: str, info: ValidationInfo) -> str:
        known = STRATEGIES.names() if info.field_name == "strategy" else ("", *RERANKERS.names())
        if name not in known:
            raise ValueError(f"one of {', '.join(filter(None, known))}")
        return name


class GeneratorSettings(_Section):
    """How text is generated."""

    model: str = Field("", description="empty: the profile's own")
    context_tokens: int = Field(4096, ge=512, le=32768, description="prompt and answer together")
    answer_tokens: int = Field(256, ge=16, le=2048, description="tokens of an answer at most")
    temperature: float = Field(0.0, ge=0, le=2, description="0: the same answer every time")
    threads: int = Field(0, ge=0, le=256, description="0: what otvet tune found, else one a physical core")
    kv_memory_mb: int = Field(
        96, ge=0, le=8192, description="memory for what the model made of hot sources, 28 KB a token"
    )


class SqlSettings(_Section):
    """Questions over the databases of ``sources.toml``: how they are answered, and bounds of a statement."""

    enabled: bool = Field(True, description="answer over the declared databases too")
    tables: Literal["none", "keyword", "dense", "chroma", "hybrid"] = Field(
        "keyword", description="how the tables that a prompt shows are chosen"
    )
    confirm: bool = Field(False, description="show a statement and run it only when somebody confirms it")
    step_seconds: float = Field(60.0, ge=1, le=600, description="time of one call of the model at most")
    rows: int = Field(1000, ge=1, le=100_000, description="rows of a result at most")
    seconds: float = Field(10.0, ge=0.1, le=600, description="time of a statement at most")
    cost: float = Field(
        5_000_000, ge=0, description="highest cost that PostgreSQL may expect of a statement; 0: any"
    )


class RemoteSettings(_Section):
    """Servers that speak OpenAI's protocol. Without an address nothing ever leaves this machine."""

    generator_url: tuple[str, ...] = Field(
        (), description="servers that write the answers, as `http://gpu:8080/v1`; empty: the local model"
    )
    generator_model: str = Field("", description="its name there")
    generator_key: SecretStr = Field(SecretStr(""), description="key sent to it; empty: none")
    generator_parallel: int = Field(4, ge=1, le=256, description="answers written at once, by all together")
    embedder_url: tuple[str, ...] = Field(
        (), description="servers that embed texts, as `http://gpu:8081/v1`; empty: the local model"
    )
    embedder_model: str = Field("", description="its name there")
    embedder_key: SecretStr = Field(SecretStr(""), description="key sent to it; empty: none")
    embedder_prefix: Literal["none", "e5"] = Field(
        "none", description="what that model wants before texts: nothing, or `query: ` and `passage: `"
    )
    embedder_tokens: int = Field(512, ge=64, le=131_072, description="most tokens of a text it takes")
    embedder_batch: int = Field(32, ge=1, le=2048, description="texts of one request")
    embedder_parallel: int = Field(2, ge=1, le=64, description="requests at once while indexing")
    connect_s: float = Field(5.0, gt=0, le=600, description="wait for a connection")
    silence_s: float = Field(60.0, gt=0, le=3600, description="wait for the next bytes of a reply")
    retries: int = Field(3, ge=0, le=20, description="further attempts where a failure may pass")

    @field_validator("generator_url", "embedder_url", mode="before")
    @classmethod
    def _one_or_several(cls, value: object) -> object:
        # One address is as good as a list of one; the environment has them separated by commas.
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("generator_url", "embedder_url")
    @classmethod
    def _plain_addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        for url in urls:
            try:
                parts = urlsplit(url)
                usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
            except ValueError:
                usable = False
            if not usable or parts.query or parts.fragment:
                raise ValueError("an address looks like http://name:8080/v1")
            if parts.username is not None or parts.password is not None:
                raise ValueError("a key does not belong into an address: use generator_key, embedder_key")
        return urls

    @model_validator(mode="after")
    def _models_are_named(self) -> RemoteSettings:
        for part in ("generator", "embedder"):
            if getattr(self, f"{part}_url") and not getattr(self, f"{part}_model"):
                raise ValueError(f"{part}_url needs {part}_model: the model's name at that server")
        return self


StoreKind = Literal["json", "faiss-flat", "faiss-hnsw", "chroma", "postgres", "qdrant"]
"""What can keep an index; see docs/stores.md."""


class StoreSettings(_Section):
    """What keeps the index that is searched."""

    kind: StoreKind = Field("json", description="what keeps the index, see stores.md")
    url: SecretStr = Field(
        SecretStr(""), description="address of PostgreSQL or Qdrant; empty: Qdrant in a local folder"
    )
    source: str = Field(
        "main", pattern=r"^[A-Za-z0-9][A-Za-z0-9_\-]{0,39}$", description="name of this knowledge base there"
    )
    base: str = Field(
        "otvet",
        pattern=r"^[A-Za-z][A-Za-z0-9_]{0,39}$",
        description="name of the base that all sources share: a schema, or the start of collections' names",
    )
    pool: int = Field(8, ge=1, le=256, description="connections to the server at once")
    timeout_s: float = Field(10.0, gt=0, le=600, description="wait for the server")
    hnsw_links: int = Field(32, ge=4, le=128, description="HNSW: neighbours of each passage (M)")
    hnsw_build: int = Field(200, ge=8, le=4096, description="HNSW: care in building (efConstruction)")
    hnsw_search: int = Field(256, ge=8, le=4096, description="HNSW: care in searching (efSearch)")
    shards: int = Field(
        0, ge=0, le=1000, description="Qdrant cluster: parts of a new base; 0: as it thinks fit"
    )
    replicas: int = Field(1, ge=1, le=20, description="Qdrant cluster: copies of each part")

    @model_validator(mode="after")
    def _a_server_has_an_address(self) -> StoreSettings:
        if self.kind == "postgres" and not self.url.get_secret_value():
            raise ValueError("kind postgres needs store.url, as postgresql://user@host/base")
        return self


class Settings(_Section):
    """Everything a user can set."""

    home: Path = Field(Path(), description="holds knowledge_base, embeddings and otvet.toml")
    models: Path = Field(Path(), description="folder of the models")
    profile: Literal["auto", "embedded", "reference", "search"] = Field("auto", description="set of models")
    language: Literal["ru", "en"] = Field("ru", description="language of the command line")
    embedder: str = Field("", description="empty: the profile's own; a catalogue name or a folder")
    embedder_threads: int = Field(
        0, ge=0, le=256, description="0: what otvet tune found, else one a physical core"
    )
    cross_encoder: str = Field("", description="empty: the profile's own, if installed")
    judge_key: SecretStr = Field(
        SecretStr(""), description="key that otvet eval sends to the server given with --judge; empty: none"
    )
    server: ServerSettings = ServerSettings()
    index: IndexSettings = IndexSettings()
    search: SearchSettings = SearchSettings()
    generator: GeneratorSettings = GeneratorSettings()
    store: StoreSettings = StoreSettings()
    remote: RemoteSettings = RemoteSettings()
    sql: SqlSettings = SqlSettings()

    @property
    def knowledge_base(self) -> Path:
        """Folder of the user's documents."""
        return self.home / "knowledge_base"

    @property
    def embeddings(self) -> Path:
        """Folder of the index."""
        return self.home / "embeddings"


class Loaded(_Section):
    """Settings with the origin of every value: ``default``, ``file``, ``environment`` or ``command line``."""

    settings: Settings
    origins: dict[str, str]


def load_settings(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None
) -> Loaded:
    """Read the settings.

    Args:
        overrides: Dotted keys from the command line, for example ``{"server.port": 8001}``.
        environ: The environment; the process's own by default.

    Raises:
        SettingsError: An unknown key or a wrong value, named with where it was set.
    """
    environ = os.environ if environ is None else environ
    layers = {
        "environment": _from_environment(environ),
        "command line": {key: value for key, value in (overrides or {}).items() if value is not None},
    }
    home = layers["command line"].get("home") or layers["environment"].get("home") or Path.cwd()
    home = Path(home).expanduser().resolve()
    values: dict[str, Any] = {"home": home, "models": platformdirs.user_data_path("otvet") / "models"}
    origins = dict.fromkeys(values, "default")
    for origin, layer in {"file": _from_file(home / "otvet.toml"), **layers}.items():
        values.update(layer)
        origins.update(dict.fromkeys(layer, origin))
    values["home"] = home
    values["models"] = Path(values["models"]).expanduser().resolve()
    try:
        settings = Settings.model_validate(_nested(values))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        where = f"{key}, {origins.get(key, 'default')}" if key else "otvet.toml"
        raise SettingsError(where=where, reason=first["msg"].removeprefix("Value error, ")) from error
    everything = _flat(settings.model_dump(), empty=True)
    return Loaded(settings=settings, origins={key: origins.get(key, "default") for key in everything})


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    prefix = "OTVET_"
    # A value from the environment is text; a list setting takes its items separated by commas.
    lists = {"server.allowed_hosts"}
    found: dict[str, Any] = {}
    for name, value in sorted(environ.items()):
        if name.startswith(prefix):
            key = name.removeprefix(prefix).lower().replace("__", ".")
            found[key] = tuple(filter(None, value.split(","))) if key in lists else value
    return found


def _from_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return _flat(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(where=path.name, reason=str(error)) from error


def _flat(values: Mapping[str, Any], prefix: str = "", *, empty: bool = False) -> dict[str, Any]:
    """Values by dotted keys; what holds nothing is left out unless ``empty``."""
    result: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping) and (value or not empty):
            result |= _flat(value, f"{prefix}{key}.", empty=empty)
        else:
            result[prefix + key] = value
    return result


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in values.items():
        *parents, last = key.split(".")
        place = result
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise SettingsError(where=key, reason=f"{parent} is not a section")
        place[last] = value
    return result

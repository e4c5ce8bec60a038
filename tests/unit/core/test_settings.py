"""Settings: order of sources, refusal of unknown keys, clear errors."""

from pathlib import Path

import pytest

from pipeline.errors import SettingsError
from pipeline.settings import ServerSettings, load_settings


def write(home: Path, text: str) -> dict[str, str]:
    (home / "otvet.toml").write_text(text, encoding="utf-8")
    return {"OTVET_HOME": str(home)}


def test_order_is_command_line_environment_file_default(tmp_path):
    environ = write(tmp_path, "[server]\nport = 1001\nqueue_size = 3\n[search]\ncandidates = 11\n")
    environ["OTVET_SERVER__PORT"] = "1002"
    environ["OTVET_SERVER__QUEUE_SIZE"] = "4"
    loaded = load_settings({"server.port": 1003}, environ)
    assert loaded.settings.server.port == 1003
    assert loaded.settings.server.queue_size == 4
    assert loaded.settings.search.candidates == 11
    assert loaded.settings.server.host == "127.0.0.1"
    assert loaded.origins["server.port"] == "command line"
    assert loaded.origins["server.queue_size"] == "environment"
    assert loaded.origins["search.candidates"] == "file"
    assert loaded.origins["server.host"] == "default"


def test_home_holds_the_data_folders(tmp_path):
    settings = load_settings({}, {"OTVET_HOME": str(tmp_path)}).settings
    assert settings.knowledge_base == tmp_path / "knowledge_base"
    assert settings.embeddings == tmp_path / "embeddings"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("colour = 1", "colour"),
        ("[server]\nprot = 1", "server.prot"),
        ("[server]\nport = 'x'", "server.port"),
        ("[index]\nchunk_tokens = 100\noverlap_tokens = 50", "index"),
        ("[index]\noverlap_tokens = -1", "index.overlap_tokens"),
        ("[index]\nchunk_tokens = 0", "index.chunk_tokens"),
        ("broken", "otvet.toml"),
    ],
)
def test_bad_file_is_refused_and_named(tmp_path, text, named):
    """Case 10: an overlap of half a chunk or more never gets as far as cutting."""
    with pytest.raises(SettingsError) as caught:
        load_settings({}, write(tmp_path, text))
    assert named in str(caught.value)


def test_unknown_environment_key_is_refused():
    with pytest.raises(SettingsError, match="environment"):
        load_settings({}, {"OTVET_SERVER__PROT": "1"})


def test_a_file_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "otvet.toml").write_bytes("\ufefflanguage = 'en'".encode())
    assert load_settings({}, {"OTVET_HOME": str(tmp_path)}).settings.language == "en"


def test_lists_in_the_environment_are_separated_by_commas():
    settings = load_settings({}, {"OTVET_SERVER__ALLOWED_HOSTS": "a.example,b.example"}).settings
    assert settings.server.allowed_hosts == ("a.example", "b.example")


def test_a_file_nobody_may_read_is_an_error_of_ours(tmp_path, monkeypatch):
    def refused(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    environ = write(tmp_path, "language = 'en'")
    monkeypatch.setattr(Path, "read_text", refused)
    with pytest.raises(SettingsError, match=r"otvet\.toml"):
        load_settings({}, environ)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8001"),
        ("::1", "http://[::1]:8001"),
        ("otvet.local", "http://otvet.local:8001"),
    ],
)
def test_an_address_is_written_as_a_browser_does(host, address):
    assert ServerSettings(host=host, port=8001).address == address

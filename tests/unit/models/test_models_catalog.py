"""The catalogue that is shipped, and what a catalogue may say."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from fake_packages import NAME, model, part, sha256
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.errors import ModelUnknownError
from pipeline.models import Catalog, check_consent, install, profile_models, resolve_profile
from pipeline.models.catalog import ModelFile

QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"
JINA = "jina-reranker-v2-base-multilingual"


def test_profiles_of_the_shipped_catalogue():
    assert profile_models("embedded") == ("multilingual-e5-small", QWEN)
    assert profile_models("search") == ("multilingual-e5-small",)
    assert profile_models("reference") == ("multilingual-e5-base", JINA, "qwen2.5-1.5b-instruct-q5_k_m")


def test_default_profiles_need_packages_only_and_no_consent():
    catalog = Catalog.load()
    for profile in ("embedded", "search"):
        names = profile_models(profile)
        check_consent(names, accept_license=False)
        assert all("package" in catalog.entry(name).transports for name in names)


def test_qwen_is_the_publishers_file_in_22_parts():
    (file,) = Catalog.load().entry(QWEN).files
    assert (file.size, len(file.parts)) == (1_117_320_768, 22)
    assert file.sha256 == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert [part.member[-6:-4] for part in file.parts] == [f"{n:02}" for n in range(1, 23)]


def test_every_file_from_packages_has_size_and_hash_and_every_hub_file_a_pinned_revision():
    for entry in Catalog.load().models.values():
        for file in entry.files:
            assert file.parts == () or (file.size and file.sha256)
            assert file.hub is None or len(file.hub.revision) == 40
            assert all("==" in part.package for part in file.parts)


def test_only_jina_restricts_use():
    assert [entry.name for entry in Catalog.load().models.values() if entry.restricted] == [JINA]


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ModelUnknownError, match=QWEN):
        Catalog.load().entry("nonesuch")


def _file(**more: object) -> dict[str, object]:
    return {
        "path": "a.bin",
        "size": 4,
        "sha256": sha256(b"data"),
        "parts": [part("a==1", "a/a.bin", b"data")],
        **more,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        _file(surprise=1),
        _file(size=5),
        _file(sha256=None),
        _file(sha256="abc"),
        _file(parts=[]),
        _file(path="../a.bin"),
        _file(parts=[part("a", "a/a.bin", b"data")]),
        _file(parts=[part("a==1", "/a.bin", b"data")]),
        _file(hub={"repo": "a/b", "revision": "main", "path": "a.bin"}),
    ],
    ids=["key", "sum", "no hash", "hash", "no source", "climbs", "unpinned", "absolute", "branch"],
)
def test_a_wrong_catalogue_is_refused(wrong):
    with pytest.raises(ValidationError):
        model([wrong])


def test_a_profile_must_name_models_of_the_right_role():
    raw = model([_file()]).model_dump()
    raw["profiles"] = {"search": {"embedder": NAME}}  # it is a generator
    with pytest.raises(ValidationError):
        Catalog.model_validate(raw)


@given(st.text(alphabet="ab./\\:", max_size=12))
def test_an_accepted_path_never_leaves_its_folder(path):
    try:
        file = ModelFile.model_validate(_file(path=path))
    except ValidationError:
        return
    for flavour in (PurePosixPath, PureWindowsPath):
        joined = flavour("C:/models/x" if flavour is PureWindowsPath else "/models/x") / file.path
        assert ".." not in joined.parts
        assert joined.is_relative_to("C:/models/x" if flavour is PureWindowsPath else "/models/x")
        assert len(joined.parts) > len(flavour("/models/x").parts)


@pytest.fixture
def rich(shelf, models):
    """A catalogue with two profiles over tiny models; nothing is installed yet."""
    entries = {}
    for name, role in [("e-small", "embedder"), ("e-base", "embedder"), ("cross", "cross_encoder")]:
        shelf.wheel(f"{name}==1", {"w.bin": name.encode()})
        made = model(
            [
                _file(
                    path="w.bin",
                    size=len(name),
                    sha256=sha256(name.encode()),
                    parts=[part(f"{name}==1", "w.bin", name.encode())],
                )
            ],
            name=NAME,
            role=role,
        )
        entries[name] = made.models[NAME].model_dump() | {"name": name}
    profiles = {
        "embedded": {"embedder": "e-small"},
        "search": {"embedder": "e-small"},
        "reference": {"embedder": "e-base", "cross_encoder": "cross"},
    }
    return Catalog.model_validate({"models": entries, "profiles": profiles})


def test_auto_is_embedded_until_all_of_reference_is_installed(rich, models):
    assert resolve_profile("auto", models, catalog=rich).profile == "embedded"
    install(models, "e-base", catalog=rich)
    assert resolve_profile("auto", models, catalog=rich).profile == "embedded"
    install(models, "cross", catalog=rich)
    chosen = resolve_profile("auto", models, catalog=rich)
    assert (chosen.profile, chosen.names) == ("reference", ("e-base", "cross"))


def test_a_cross_encoder_that_happens_to_be_installed_serves_any_profile(rich, models):
    assert resolve_profile("search", models, catalog=rich).cross_encoder is None
    install(models, "cross", catalog=rich)
    chosen = resolve_profile("search", models, catalog=rich)
    assert (chosen.profile, chosen.cross_encoder, chosen.generator) == ("search", "cross", None)


def test_settings_replace_single_models(rich, models):
    chosen = resolve_profile("embedded", models, embedder="/some/folder", generator="g", catalog=rich)
    assert (chosen.embedder, chosen.cross_encoder, chosen.generator) == ("/some/folder", None, "g")

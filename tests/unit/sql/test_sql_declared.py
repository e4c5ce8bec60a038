"""Which of the declared databases can be asked."""

import logging

from pipeline.bootstrap import create_databases
from pipeline.settings import Settings

DECLARED = """
[[database]]
name = "shop"
url = "sqlite:///shop.sqlite"
[[database.table]]
table = "orders"

[[database]]
name = "old"
url = "postgresql+asyncpg://reader@server/old"
[[database.table]]
table = "orders"
"""


def test_a_database_of_a_kind_that_cannot_be_asked_leaves_the_others_asked(tmp_path, caplog):
    settings = Settings(home=tmp_path)
    settings.knowledge_base.mkdir()
    assert create_databases(settings) == {}
    (settings.knowledge_base / "sources.toml").write_text(DECLARED, encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert list(create_databases(settings)) == ["shop"]
    assert "asyncpg" in caplog.text


def test_a_file_that_cannot_be_read_declares_none(tmp_path, caplog):
    settings = Settings(home=tmp_path)
    settings.knowledge_base.mkdir()
    (settings.knowledge_base / "sources.toml").write_text("[[database", encoding="utf-8")
    assert create_databases(settings) == {}
    assert caplog.text

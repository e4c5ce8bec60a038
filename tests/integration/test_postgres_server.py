"""The PostgreSQL of the tests is the real one, with pgvector, and gives every test a database of its own."""

import psycopg
from postgres_server import Server


def test_vectors_and_both_languages(postgres_url: str):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE EXTENSION vector")
        distance = connection.execute("SELECT '[1,0]'::vector <=> '[0,1]'::vector").fetchone()
        words = connection.execute(
            "SELECT to_tsvector('russian', 'отчёты') || to_tsvector('english', 'reports')"
        )
        assert distance == (1.0,)
        assert words.fetchone() == ("'report':2 'отчет':1",)


def test_a_database_goes_with_its_context(postgres_server: Server):
    with postgres_server.database() as one, postgres_server.database() as other:
        assert one != other
        with psycopg.connect(one) as connection:
            connection.execute("CREATE TABLE t (x int)")
        with psycopg.connect(other) as connection:
            found = connection.execute("SELECT count(*) FROM pg_tables WHERE tablename = 't'").fetchone()
            assert found == (0,)
    with psycopg.connect(postgres_server.url) as connection:
        held = "SELECT count(*) FROM pg_database WHERE datname = %s"
        assert connection.execute(held, [one.rsplit("/", 1)[-1]]).fetchone() == (0,)

"""A knowledge base in PostgreSQL with pgvector: several indexers and several servers share it."""

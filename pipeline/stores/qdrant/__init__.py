"""A knowledge base in Qdrant: in a folder of one process, on a server, or on a cluster."""

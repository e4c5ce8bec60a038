"""Questions over declared databases: answered by a statement, by a search, or by one within the other."""

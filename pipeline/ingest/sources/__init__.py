"""Sources named in ``sources.toml``: tables of databases, and pages fetched when the user says so."""

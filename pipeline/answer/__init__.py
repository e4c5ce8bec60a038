"""From ranked candidates to an answer with citations."""

"""The map of a knowledge base: every passage as a point, close ones where their texts are close.

``map_data.make_map`` computes it from an index, ``map_file`` keeps it as ``embeddings/map.json``,
``png`` and ``page`` draw it, ``position`` finds the place of a question. The libraries are those of
the extra ``map`` and are imported inside the functions that need them.
"""

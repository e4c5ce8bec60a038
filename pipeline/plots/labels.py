"""What a cluster is about, in words that people wrote.

Terms are ranked by class-based TF-IDF (Grootendorst 2022, arXiv:2203.05794): how many of the cluster's
passages hold the term, times ``log(1 + A / f)`` where ``f`` counts its passages in all clusters and ``A``
is the average number of terms of a cluster. Counting passages, not repetitions, keeps one long listing
from naming a whole cluster.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Postings
from pipeline.plots.extras import load_library
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms

__all__ = ["LABEL_TERMS", "cluster_labels"]

LABEL_TERMS = 3
_CONSIDERED = 40  # the best terms by weight, of which those that are words are taken
_WORD = re.compile(r"[^\W\d_]{3,40}")


def cluster_labels(
    postings: Postings, clusters: NDArray[np.int64], texts: Sequence[str]
) -> list[tuple[str, ...]]:
    """The strongest terms of every cluster, best first, each as most often written there.

    Args:
        postings: Term statistics of the passages.
        clusters: Cluster number of every passage, below 0 for none.
        texts: The passages as written.

    Raises:
        ExtraMissingError: scikit-learn (which brings scipy) is not installed.
    """
    vocabulary = list(postings.terms)
    labels = []
    for cluster, (numbers, weights) in enumerate(_weights(postings, clusters)):
        strongest = numbers[np.lexsort((numbers, -weights))[:_CONSIDERED]].tolist()
        terms = [vocabulary[number] for number in strongest]
        written = _written([texts[row] for row in np.flatnonzero(clusters == cluster).tolist()], set(terms))
        labels.append(tuple(written[term] for term in terms if term in written)[:LABEL_TERMS])
    return labels


def _weights(
    postings: Postings, clusters: NDArray[np.int64]
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """For every cluster the numbers of the terms it holds, and their weights."""
    sparse = load_library("scipy.sparse")
    count = int(clusters.max(initial=-1)) + 1
    terms = np.repeat(np.arange(len(postings.terms)), np.diff(postings.starts))
    where = clusters[postings.rows]
    kept = where >= 0
    table = sparse.csr_array(
        (np.ones(int(kept.sum())), (where[kept], terms[kept])), shape=(count, len(postings.terms))
    )
    table.sum_duplicates()
    everywhere = np.bincount(table.indices, weights=table.data, minlength=len(postings.terms))
    average = everywhere.sum() / max(1, count)
    weights = table.data * np.log1p(average / everywhere[table.indices])
    cuts = table.indptr[1:-1]
    return list(zip(np.split(table.indices, cuts), np.split(weights, cuts), strict=True))[:count]


def _written(texts: Sequence[str], terms: set[str]) -> dict[str, str]:
    """For each term that is a word, not a particle, its most frequent written form."""
    counts = Counter(word for text in texts for word in _WORD.findall(text))
    forms: dict[str, Counter[str]] = {}
    for word, number in counts.items():
        term = keyword_terms(word)[0]
        if term in terms and term not in function_terms():
            forms.setdefault(term, Counter())[_plain(word)] += number
    return {term: min(found, key=lambda form: (-found[form], form)) for term, found in forms.items()}


def _plain(word: str) -> str:
    """Lower case, save for abbreviations and names with capitals inside."""
    return word.lower() if word[1:].islower() else word

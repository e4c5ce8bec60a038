"""Questions answered in the background: asked once, looked at from any connection, forgotten in time.

A caller that cannot hold a connection open for a whole answer asks, gets an id and comes back with it.
A caller that repeats a request after a timeout names it by a key and joins the request that still runs.
Both are entries of one bounded book.
"""

from pipeline.jobs.batch import LIMITS as BATCH_LIMITS
from pipeline.jobs.batch import Batch, BatchBook, BatchView
from pipeline.jobs.book import JobBook
from pipeline.jobs.job import Job, State, View
from pipeline.jobs.shelf import Key, Limits

__all__ = [
    "BATCH_LIMITS",
    "Batch",
    "BatchBook",
    "BatchView",
    "Job",
    "JobBook",
    "Key",
    "Limits",
    "State",
    "View",
]

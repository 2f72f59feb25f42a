"""Journey: the segments of a stored book summarised by a model, for a command that waits or behind a conversation."""

from core.summaries.indexing import Indexing
from core.summaries.jobs import Jobs
from core.summaries.judging import settle_summary
from core.summaries.work import Summaries, Summarised

__all__ = ["Indexing", "Jobs", "Summaries", "Summarised", "settle_summary"]

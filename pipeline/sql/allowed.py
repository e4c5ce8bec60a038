"""What a statement may be built of: every kind of node, function and type is named here, the rest is refused.

A function is here only if it computes a value from its arguments, of bounded size and in bounded time.
"""

from __future__ import annotations

from functools import cache

from pipeline.sql.catalog import Dialect

__all__ = ["TYPES", "function_names", "node_names"]

_STRUCTURE = """
Select Union Except Intersect Subquery With CTE From Join Where Group Having Order Ordered Limit LimitOptions
Offset Fetch Distinct Alias Column Table TableAlias Identifier Star Literal Null Boolean Paren Tuple Window
WindowSpec Filter WithinGroup Case If Interval IntervalSpan Var DataType DataTypeParam Cast And Or Not EQ NEQ
GT GTE LT LTE Is In Between Like ILike Escape Add Sub Mul Div Mod Neg DPipe SafeConcat NullSafeEQ NullSafeNEQ
Exists Any All Collate
"""

_FUNCTIONS = """
Abs Avg Ceil Coalesce Concat Count CurrentDate CurrentTimestamp Date DenseRank Extract FirstValue Floor
Greatest GroupConcat Lag LastValue Lead Least Length Lower Max Min NthValue Ntile Nullif PercentRank CumeDist
Rank Round RowNumber Sign StrPosition Substring Sum TimeToStr TsOrDsToTimestamp Trim Upper Year Month Day
Replace
"""

_OWN: dict[Dialect, str] = {
    "sqlite": "TsOrDsToDate DateStrToDate Datetime Time TsOrDsToTime JulianDay Glob",
    "postgres": """
    DateTrunc TimestampTrunc PercentileCont PercentileDisc Stddev StddevPop StddevSamp Variance VariancePop
    Corr Pow Sqrt ToChar AtTimeZone Initcap SplitPart Left Right Median Mode LogicalAnd LogicalOr UnixToTime
    StrToDate StrToTime DateFromParts Localtimestamp
    """,
}

_NAMELESS: dict[Dialect, str] = {
    "sqlite": """
    date time datetime julianday strftime unixepoch instr total iif ifnull likelihood likely unlikely
    """,
    "postgres": """
    age date_part make_date btrim ltrim rtrim position regr_slope bool_and bool_or every mode cbrt div mod
    power trunc width_bucket cume_dist percent_rank starts_with isfinite
    """,
}

_TYPES = """
INT BIGINT SMALLINT TINYINT DECIMAL BIGDECIMAL DOUBLE FLOAT TEXT VARCHAR CHAR NCHAR NVARCHAR BPCHAR NAME DATE
DATETIME TIME TIMESTAMP TIMESTAMPTZ TIMESTAMPNTZ BOOLEAN INTERVAL
"""

TYPES = frozenset(_TYPES.split())
"""Types a value may be cast to; others (``regclass``, ``oid``, ``xml``) look something up or parse much."""


@cache
def node_names(dialect: Dialect) -> frozenset[str]:
    """Class names of sqlglot's nodes that a statement may hold."""
    return frozenset(f"{_STRUCTURE} {_FUNCTIONS} {_OWN[dialect]}".split())


@cache
def function_names(dialect: Dialect) -> frozenset[str]:
    """Functions for which sqlglot has no class of its own, lower case."""
    return frozenset(_NAMELESS[dialect].split())

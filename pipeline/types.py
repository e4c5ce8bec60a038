"""The words of the domain: immutable values that flow from a question to an answer.

Data flows one way: ``Query -> list[Hit] -> Evidence -> Answer``. Everything here is a frozen
dataclass over the standard library and numpy arrays; nothing here does input or output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Answer",
    "AskRequest",
    "Block",
    "Candidate",
    "Chart",
    "Chunk",
    "Citation",
    "Clarification",
    "Classified",
    "ClassifyRequest",
    "Conditions",
    "Confirmation",
    "DayCost",
    "Document",
    "Encoded",
    "Event",
    "Evidence",
    "EvidenceSentence",
    "Explanation",
    "Failed",
    "Filter",
    "Finished",
    "FloatMatrix",
    "Hit",
    "IntMatrix",
    "Language",
    "Mark",
    "Metadata",
    "Option",
    "Outcome",
    "Query",
    "QuestionTerm",
    "Reply",
    "Retrieval",
    "Retrieved",
    "Role",
    "Route",
    "Routed",
    "SearchMode",
    "Source",
    "SourceView",
    "Stage",
    "Standing",
    "Step",
    "TableView",
    "Token",
    "TokenVectors",
    "Waiting",
    "WordMatch",
    "WordMatches",
]

FloatMatrix = NDArray[np.float32]
IntMatrix = NDArray[np.int32]

Language = Literal["ru", "en"]
Role = Literal["query", "passage"]
SearchMode = Literal["hybrid", "dense", "keyword"]
Outcome = Literal["answered", "sources", "not_found", "generated", "partial"]
Route = Literal["sql", "search", "hybrid", "clarify"]
"""How a question is answered where databases are declared; ``clarify``: the caller is asked back."""
Metadata = Mapping[str, str | int | float | bool]
Conditions = Mapping[str, str | int | float | bool | tuple[str | int | float | bool, ...]]


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a document that chunks never cross: a topic of a text file, a section of Markdown.

    ``document.text[start:end]`` is the block's text, its heading line excluded.
    """

    start: int
    end: int
    topic: str
    headings: tuple[str, ...] = ()
    link: str | None = None
    tags: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One readable document of the knowledge base.

    Attributes:
        id: Hash of ``file`` and ``text``; stable while neither changes.
        file: Path inside the knowledge base, with forward slashes.
        title: What a person would call it.
        link: Where it lives for a reader, an http(s) address or None.
        text: The cleaned text that every offset refers to.
        blocks: Non-overlapping blocks in document order.
        metadata: Values a filter can ask for; ``source_type`` is always present.
        tags: Labels of the whole document.
    """

    id: str
    file: str
    title: str
    link: str | None
    text: str
    blocks: tuple[Block, ...]
    metadata: Metadata = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage small enough for the embedder; the unit of retrieval and of citation.

    ``document.text[start:end] == text`` always; ``id`` is a hash of file, offsets and text.
    """

    id: str
    document_id: str
    ordinal: int
    topic: str
    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    link: str | None = None
    file: str = ""
    tags: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """Token vectors of one text, prefix and special tokens left out.

    Attributes:
        vectors: float32, shape (tokens, dimension), each row of length 1.
        spans: int32, shape (tokens, 2): character range of each token in the text.
    """

    vectors: FloatMatrix
    spans: IntMatrix

    def __len__(self) -> int:
        return int(self.vectors.shape[0])


@dataclass(frozen=True, slots=True)
class Encoded:
    """What one pass of an embedder yields.

    Attributes:
        vectors: float32, shape (texts, dimension), each row of length 1.
        tokens: Token vectors per text, or None when they were not asked for or this embedder has none.
    """

    vectors: FloatMatrix
    tokens: tuple[TokenVectors, ...] | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions a chunk's document must meet; all of them, checked before ranking.

    Empty fields ask nothing. ``source_types`` and ``tags`` are met by any one of their values, and so is a
    tuple in ``metadata``. ``since`` and ``until`` are ISO 8601 dates, both included; a document without a
    date meets neither.
    """

    source_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path_prefix: str = ""
    metadata: Conditions = field(default_factory=dict)
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """A question as understood: the text without its flags, and how to search for it.

    Attributes:
        text: The question as written, without flags (shown to people and to the generator).
        search_text: The cleaned form that is embedded and matched.
        flags: Flags that were recognised, as written, in order.
        strategy: Name of the way to search; empty: as the settings say.
        reranker: Name of the way to order; empty: as the settings say, else what suits the strategy.
        top_k: Sources to return, 1..20.
        sources_limit: Sources given to the generator, 1..9.
    """

    text: str
    search_text: str
    flags: tuple[str, ...] = ()
    strategy: str = ""
    reranker: str = ""
    top_k: int = 3
    sources_limit: int = 3
    scores: bool = False
    timings: bool = False
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Score and rank (from 1) that one stage gave a candidate."""

    name: str
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk. Ties break by ``(-score, chunk.id)``, so equal input gives equal bytes."""

    chunk: Chunk
    score: float
    rank: int
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionTerm:
    """One keyword of the question, as the keyword index understood it.

    Attributes:
        text: The stem or the code.
        weight: How telling it is, above 0; a word that no chunk holds weighs most.
        found_as: Terms of the index it stands for, each with a factor 0..1: itself with factor 1
            where the index knows it, else the nearest spellings, else nothing.
    """

    text: str
    weight: float
    found_as: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that took part in the ranking, with what later stages need to know about it.

    Attributes:
        hit: The chunk, its final score and rank, and the stages it went through.
        covered: float32, shape (question terms,): how surely the chunk holds each term, 0..1.
        tokens: Token vectors of topic + text (a topic token has the span (-1, -1)), or None for a
            candidate that is not shown.
        similarity: float32, shape (question tokens, passage tokens): cosines, or None when late
            interaction did not look at this chunk.
    """

    hit: Hit
    covered: FloatMatrix
    tokens: TokenVectors | None = None
    similarity: FloatMatrix | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What a search found and how.

    Attributes:
        hits: The sources to show, best first; the hits of the first candidates.
        candidates: All candidates in their final order, near-duplicates taken out.
        question: Token vectors of the question, windows of a long one joined.
        terms: The question's keywords.
        embedder_id: Who made the vectors; what their cosines mean depends on it.
        timings_ms: Stage name -> milliseconds.
        notes: Keys of ``messages/answers.toml`` a person should be told.
        shifts: Log-odds that the index's calibration takes off the relevance, where the evidence is in
            the question's language and where it is in another one.
    """

    query: Query
    hits: tuple[Hit, ...]
    candidates: tuple[Candidate, ...]
    question: TokenVectors
    terms: tuple[QuestionTerm, ...]
    embedder_id: str = ""
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    shifts: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A sentence chosen as evidence. ``start`` and ``end`` are offsets into the chunk's text.

    ``source`` is the number (from 1) of the hit it comes from, as shown to people.
    """

    source: int
    chunk: Chunk
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """The sentence as written."""
        return self.chunk.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an answer may rest on.

    Attributes:
        hits: The ranked sources, best first.
        sentences: Chosen sentences, best first.
        relevance: 0..1, how likely the sources hold an answer at all.
        refused: True when the knowledge base is taken to have no answer.
        passage: The best sentence with its best neighbours, short enough to be quoted whole.
    """

    hits: tuple[Hit, ...]
    sentences: tuple[EvidenceSentence, ...]
    relevance: float
    refused: bool
    passage: EvidenceSentence | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A checked marker ``[n]`` of the answer and the passage behind it (offsets into the document)."""

    n: int
    chunk_id: str
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A stretch of the answer that its sources do not support, with the reason."""

    start: int
    end: int
    reason: Literal["no_source", "number", "code", "name", "date"]


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer: plain text with markers ``[n]``, and what is wrong with it, if anything."""

    text: str
    outcome: Outcome
    citations: tuple[Citation, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class AskRequest:
    """One request as a caller means it, flags in ``question`` not yet read.

    Field names, types and defaults are those of ``POST /ask``; a flag in the question wins over
    its field, and ``reranker`` over ``cross_encoder``, which is its older spelling. ``client`` tells callers
    apart for a fair queue.
    """

    question: str
    use_rag: bool = False
    top_k: int = 3
    sources_limit: int = 3
    cross_encoder: bool = False
    strategy: str = ""
    reranker: str = ""
    scores: bool = False
    filter: Filter | None = None
    prompt: str | None = None
    data: tuple[str, ...] = ()
    deadline_s: float = 120.0
    language: Language = "ru"
    client: str = ""
    request_id: str = ""
    route: Route | None = None
    database: str = ""
    confirm_sql: bool | None = None
    confirmed: str = ""
    statement: str = ""


@dataclass(frozen=True, slots=True)
class ClassifyRequest:
    """Texts to be put under labels.

    Attributes:
        labels: What to choose from; all different.
        texts: Up to 200.
        prompt: The caller's own words about the task.
        examples: Texts with their labels; None stands for "none of these".
        none: Whether "none of these" may come out.
        threshold: A label less probable than this does not come out; None leaves that to the calibration.
    """

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    prompt: str | None = None
    examples: tuple[tuple[str, str | None], ...] = ()
    none: bool = True
    threshold: float | None = None
    language: Language = "ru"
    client: str = ""
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class Classified:
    """One text and its label.

    Attributes:
        n: The text's number in the request, from 1.
        label: The label, with ``outcome`` ``label`` only.
        probabilities: Of each label, in the order of the request; with ``none`` they come to 1.
        none: How probable it is that no label fits.
        model: Who decided.
        cut: Only the beginning of the text was read.
        error: Why it ``failed``.
    """

    n: int
    outcome: Literal["label", "none", "failed"]
    label: str | None
    probabilities: tuple[float, ...]
    none: float
    model: str
    cut: bool = False
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A source as shown.

    ``quote`` is the passage's best part; ``start`` and ``end`` are its offsets in the document;
    ``headings`` lead from the document's title down to the passage.
    """

    n: int
    title: str
    link: str | None
    file: str
    quote: str
    start: int
    end: int
    score: float
    page: int | None
    chunk_id: str
    stages: tuple[Stage, ...] | None = None
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step on a route and what it cost; tokens are those of the language model.

    Attributes:
        name: ``words``, ``route``, ``schema``, ``write``, ``repair``, ``run``, ``rows`` or ``search``.
        detail: What came out of it, in few words.
    """

    name: str
    seconds: float
    tokens_in: int = 0
    tokens_out: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DayCost:
    """All questions of a day that went one route, by one strategy of choosing tables where it is ``sql``."""

    day: str
    route: str
    strategy: str
    questions: int = 0
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class TableView:
    """A result as shown.

    Attributes:
        columns: As the statement calls them.
        kinds: As ``pipeline.sql.catalog`` knows them.
        truncated: There was more.
        labels: The columns in words, if there are any for them.
    """

    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    rows: tuple[tuple[str | int | float | bool | None, ...], ...]
    truncated: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture that suits a result: ``line`` over time, else ``bar``; ``x`` and ``y`` are its columns."""

    kind: Literal["bar", "line"]
    x: str
    y: str


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A statement that waits for a person: what it does, in words, and for how long it waits."""

    id: str
    explanation: str
    expires_s: int


@dataclass(frozen=True, slots=True)
class Option:
    """A way on from a question back: what to show, and the question and the route to ask next."""

    label: str
    question: str
    route: Route | None = None


@dataclass(frozen=True, slots=True)
class Clarification:
    """What the caller is asked back, and the answers there are."""

    question: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class Routed:
    """How a question over databases was answered.

    Attributes:
        sql: The statement as it ran, or would run once it is confirmed.
        result: The id under which the result can be had as CSV, for some minutes.
    """

    route: Route
    steps: tuple[Step, ...] = ()
    database: str = ""
    sql: str = ""
    table: TableView | None = None
    chart: Chart | None = None
    confirm: Confirmation | None = None
    clarify: Clarification | None = None
    result: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """The whole reply to a request, before it is written as JSON.

    ``answer`` is plain text with checked markers ``[n]``; ``notes`` are sentences for people about
    how the request was carried out (for example: no cross-encoder is installed); ``tokens`` are those that
    the language model has read and written for it.
    """

    question: str
    flags: tuple[str, ...]
    answer: Answer
    sources: tuple[Source, ...]
    timings_ms: Mapping[str, float]
    model: str
    kb_version: str
    request_id: str
    notes: tuple[str, ...] = ()
    routed: Routed | None = None
    tokens: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class SourceView:
    """A passage in its document, for the page that shows a source."""

    document: Document
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Standing:
    """How one passage does against a question.

    Attributes:
        stages: What each stage makes of it; cosine and BM25 are ranked among all passages.
        passages: How many passages there are.
        rank: Its final rank among the candidates; None if the search did not take it.
    """

    chunk: Chunk
    stages: tuple[Stage, ...]
    passages: int
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How an answer comes about, up to the moment when the model would speak.

    Attributes:
        prompt: (role, content) of the messages the model gets; empty where it would not be called.
        prompt_tokens: Tokens of those, an upper estimate.
        standing: The one passage that was asked about besides.
        read_tokens: What the prompt has or, of a refused question, would have.
        counted_by: Model whose tokens those are: the generator, or the embedder while none is ready.
    """

    retrieval: Retrieval
    evidence: Evidence
    prompt: tuple[tuple[str, str], ...]
    prompt_tokens: int
    kb_version: str
    standing: Standing | None = None
    read_tokens: int = 0
    counted_by: str = ""


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A word of the question (a range of it), and the word of the passage it met best.

    ``found`` is a range of the passage's text; None stands for its topic.
    """

    start: int
    end: int
    found: tuple[int, int] | None
    cosine: float


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Late interaction word by word.

    Attributes:
        question: The text that the ranges of ``matches`` refer to.
        words: Ranges of the passage's words in ``chunk.text``.
        strengths: For each of those the best cosine with any word of the question.
    """

    question: str
    chunk: Chunk
    matches: tuple[WordMatch, ...]
    words: tuple[tuple[int, int], ...]
    strengths: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Event: the sources are known; sent before any word of the answer exists.

    ``reply`` is what would be returned without a generator: sources and the extractive answer.
    """

    reply: Reply


@dataclass(frozen=True, slots=True)
class Waiting:
    """Event: the answer has joined the generator's line, or its place there has changed.

    Attributes:
        place: Answers to be written before this one; 0 once the model is at work on it.
        estimate_s: Seconds until the whole answer is likely to be there, from the measured speed.
    """

    place: int
    estimate_s: float


@dataclass(frozen=True, slots=True)
class Token:
    """Event: the next piece of generated text, whole characters only."""

    text: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Event: the checked answer; the last event of a request that went well."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Failed:
    """Event: the request ended with an error; the last event of that request."""

    error: Exception


Event = Retrieved | Waiting | Token | Finished | Failed

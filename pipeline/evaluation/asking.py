"""One question put to the product, and all that is measured of the reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipeline.errors import RunOutdatedError
from pipeline.evaluation.answer_match import shows, word_scores
from pipeline.evaluation.citing import citing, without_markers
from pipeline.evaluation.faithfulness import Faithfulness, Sentence
from pipeline.evaluation.judge import Judge
from pipeline.evaluation.places import place_of
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.records import Record, Verdict, key_of
from pipeline.ports import Embedder, Service
from pipeline.rerankers.late_interaction import late_interaction_score, similarity_matrix
from pipeline.retrieval.question import encode_question
from pipeline.service import EXTRACTIVE
from pipeline.types import AskRequest, Chunk, Reply

__all__ = ["Asking", "answer_relevance"]

_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are put.

    Attributes:
        service: Ready to search.
        embedder: For the measures of written answers; None where none are asked for.
        request: What every request has in common; its question is of no importance.
        kb_version: The version of the knowledge base that all of them are put to; empty: any.
        judge: Gives an opinion besides; None where none is asked for.
    """

    service: Service
    embedder: Embedder | None
    request: AskRequest
    kb_version: str = ""
    judge: Judge | None = None

    def ask(self, question: KnownQuestion) -> Record:
        """Put a question and measure the reply.

        Raises:
            RunOutdatedError: The knowledge base was renewed meanwhile.
            OtvetError: As from the service.
        """
        request = replace(self.request, question=question.text, deadline_s=_DEADLINE_S)
        before = self._written()
        reply = self.service.ask(request, lambda: False)
        after = self._written()
        if self.kb_version and reply.kb_version != self.kb_version:
            raise RunOutdatedError
        chunks = self._chunks(reply)
        cited = citing(reply, self.service.source)
        answer = without_markers(reply.answer.text)
        f1, word_recall = word_scores(answer, question.answers) if question.answers else (None, None)
        quotes = "\n".join((answer, *(source.quote for source in reply.sources)))
        refused = reply.answer.outcome == "not_found"
        return Record(
            key=key_of(question),
            question=question,
            files=tuple(source.file for source in reply.sources),
            right=tuple(place_of(question, chunks[source.n]) for source in reply.sources),
            outcome=reply.answer.outcome,
            answer=reply.answer.text,
            model=reply.model,
            shown=shows(quotes, question.answers) if question.answers else None,
            matches=not refused and shows(answer, question.answers) if question.answers else None,
            f1=0.0 if refused and question.answers else f1,
            word_recall=0.0 if refused and question.answers else word_recall,
            markers=cited.markers,
            valid_markers=cited.valid,
            sentences=None if refused else self._judged(reply, chunks),
            relevance=None if refused else self._relevance(question, answer),
            written_tokens=after - (before or 0) if after and reply.model != EXTRACTIVE else None,
            timings_ms=dict(reply.timings_ms),
            verdict=None if refused else self._opinion(question, reply, chunks),
        )

    def _chunks(self, reply: Reply) -> Mapping[int, Chunk]:
        return {source.n: self.service.source(source.chunk_id).chunk for source in reply.sources}

    def _judged(self, reply: Reply, chunks: Mapping[int, Chunk]) -> tuple[Sentence, ...] | None:
        if self.embedder is None:
            return None
        return tuple(Faithfulness(self.embedder).judge(reply.answer.text, chunks))

    def _opinion(self, question: KnownQuestion, reply: Reply, chunks: Mapping[int, Chunk]) -> Verdict | None:
        if self.judge is None:
            return None
        passages = [chunks[source.n].text for source in reply.sources]
        return self.judge.verdict(question.text, passages, reply.answer.text, question.answers)

    def _relevance(self, question: KnownQuestion, answer: str) -> float | None:
        if self.embedder is None:
            return None
        return answer_relevance(question.text, answer, self.embedder)

    def _written(self) -> int | None:
        """Tokens that the generator has written so far."""
        generator = self.service.status().get("generator")
        written = generator.get("written_tokens") if isinstance(generator, Mapping) else None
        return written if isinstance(written, int) else None


def answer_relevance(question: str, answer: str, embedder: Embedder) -> float:
    """How far an answer takes up the words of its question: late interaction, -1..1.

    Raw cosines: they tell one run from another, and nothing by themselves.
    """
    _, asked = encode_question(question, embedder)
    _, said = encode_question(answer, embedder)
    return late_interaction_score(similarity_matrix(asked.vectors, said.vectors))

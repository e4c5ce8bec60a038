"""The plain pipeline that Otvet is compared with: what one builds in an afternoon.

sentence-transformers and a cross-encoder of XLM-R-base size in torch fp32, a JSON index read at
start, llama-cpp-python with its defaults, the two best chunks whole in the prompt. The real e5-base
and Jina weights are not in the package index, so these models have the right architecture and
random weights: their time is real, their choice of chunks is not. Which chunks go into the prompt
is therefore decided outside, by e5-small, for both sides alike.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from protocol import serve

PROMPT = "Ответь на вопрос по тексту.\n\nТекст:\n{text}\n\nВопрос: {question}"


class Naive:
    """All models loaded at construction, as the plain pipeline does.

    Args:
        folder: Working folder for the random-weight models.
        tokenizer: ``tokenizer.json`` of the XLM-R vocabulary.
        generator: The GGUF file, or None to leave the language model out.
        index: The JSON index.
    """

    def __init__(self, folder: Path, tokenizer: Path, generator: Path | None, index: Path) -> None:
        from sentence_transformers import CrossEncoder, SentenceTransformer

        encoder, cross_encoder = random_models(folder, tokenizer)
        self._index_path = index
        self._encoder = SentenceTransformer(str(encoder), device="cpu")
        self._cross_encoder = CrossEncoder(str(cross_encoder), device="cpu", max_length=512)
        self._chunks: list[dict[str, Any]] = []
        self._llm: Any = None
        if self._index_path.is_file():
            self.load()
        if generator is not None:
            self._llm = default_llama(generator)

    def load(self) -> dict[str, Any]:
        """Read the JSON index."""
        import numpy as np

        self._chunks = json.loads(self._index_path.read_text(encoding="utf-8"))
        self._vectors = np.array([chunk["embedding"] for chunk in self._chunks], dtype=np.float32)
        self._text_vectors = np.array([chunk["text_embedding"] for chunk in self._chunks], dtype=np.float32)
        return {"chunks": len(self._chunks)}

    def index(self, chunks: list[dict[str, str]]) -> dict[str, Any]:
        """Embed topic + text and text alone of every chunk, write them as JSON."""
        whole = [f"passage: {chunk['topic']}\n{chunk['text']}" for chunk in chunks]
        alone = [f"passage: {chunk['text']}" for chunk in chunks]
        vectors = self._encoder.encode(whole, normalize_embeddings=True)
        text_vectors = self._encoder.encode(alone, normalize_embeddings=True)
        rows = [
            {**chunk, "embedding": vector.tolist(), "text_embedding": text_vector.tolist()}
            for chunk, vector, text_vector in zip(chunks, vectors, text_vectors, strict=True)
        ]
        self._index_path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        return {"chunks": len(rows)}

    def search(self, question: str) -> dict[str, Any]:
        """Cosine over topic + text, the ten best reordered by the text-only vector."""
        vector = self._encoder.encode([f"query: {question}"], normalize_embeddings=True)[0]
        best = (self._vectors @ vector).argsort()[::-1][:10]
        order = best[(self._text_vectors[best] @ vector).argsort()[::-1]]
        return {"rows": [int(row) for row in order[:3]]}

    def rerank(self, question: str, passages: list[str]) -> dict[str, Any]:
        """The torch cross-encoder over the given candidates."""
        scores = self._cross_encoder.predict([(question, passage) for passage in passages])
        return {"scores": [float(score) for score in scores]}

    def answer(self, question: str, passages: list[str]) -> dict[str, Any]:
        """Both passages whole in the prompt, streamed; seconds to the first token and in all."""
        started = time.perf_counter()
        prompt = PROMPT.format(text="\n\n".join(passages), question=question)
        stream = self._llm.create_chat_completion(
            [{"role": "user", "content": prompt}], max_tokens=256, temperature=0.0, stream=True
        )
        first = None
        text = ""
        for part in stream:
            delta = part["choices"][0]["delta"].get("content") or ""
            if delta and first is None:
                first = time.perf_counter() - started
            text += delta
        return {"first_token": first, "seconds": time.perf_counter() - started, "text": text}


def default_llama(generator: Path) -> Any:  # noqa: ANN401 - the library has no types
    """The language model with llama-cpp-python's defaults."""
    from llama_cpp import Llama

    return Llama(model_path=str(generator), n_ctx=4096, verbose=False)


def without_extra_buffers() -> None:
    """Take the one default away that crashes on some processors with AMX; `Llama` has no argument for it."""
    from llama_cpp import llama_cpp

    default = llama_cpp.llama_model_default_params

    def plain() -> Any:  # noqa: ANN401
        params = default()
        params.use_extra_bufts = False
        return params

    llama_cpp.llama_model_default_params = plain


def random_models(folder: Path, tokenizer_file: Path) -> tuple[Path, Path]:
    """Folders of an encoder and a cross-encoder of XLM-R-base size with random weights."""
    import torch
    from transformers import (
        PreTrainedTokenizerFast,
        XLMRobertaConfig,
        XLMRobertaForSequenceClassification,
        XLMRobertaModel,
    )

    encoder, cross_encoder = folder / "xlmr-base", folder / "xlmr-base-cross"
    if cross_encoder.is_dir():
        return encoder, cross_encoder
    torch.manual_seed(7)
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_file=str(tokenizer_file),
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=512,
    )
    config = XLMRobertaConfig(vocab_size=len(tokenizer), max_position_embeddings=514)
    config.num_labels = 1
    for path, kind in ((encoder, XLMRobertaModel), (cross_encoder, XLMRobertaForSequenceClassification)):
        kind(config).save_pretrained(path)
        tokenizer.save_pretrained(path)
    return encoder, cross_encoder


def main() -> None:
    """Run as one side of ``run.py``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--generator", type=Path)
    parser.add_argument("--index", type=Path)
    parser.add_argument("--no-extra-buffers", action="store_true")
    parser.add_argument("--probe", action="store_true", help="only see whether the defaults run at all")
    options = parser.parse_args()
    if options.probe:
        default_llama(options.generator).create_completion("Вопрос", max_tokens=1)
        return
    if options.no_extra_buffers:
        without_extra_buffers()
    options.folder.mkdir(parents=True, exist_ok=True)
    index = options.index or options.folder / "naive_index.json"
    naive = Naive(options.folder, options.tokenizer, options.generator, index)
    operations = ("load", "index", "search", "rerank", "answer")
    serve({name: getattr(naive, name) for name in operations})


if __name__ == "__main__":
    main()

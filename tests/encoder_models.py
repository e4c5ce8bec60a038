"""Models for tests: torch folders of given weights, tiny random XLM-RoBERTas, and ONNX files of both."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from pipeline.models.convert.e5_file import E5File
from pipeline.models.convert.e5_tokenizer import build_tokenizer

WORDS = ["сколько", "дней", "отпуск", "кладовщик", "склад", "номер", "query", "passage"]
WORDS += ["what", "leave", "day", "the", "store", "2", "3"]


def torch_e5_folder(e5: E5File, folder: Path) -> Path:
    """The weights of the 4-bit file as a BERT that transformers and sentence-transformers load."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    sizes = e5.sizes
    config = BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.hidden,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.feed_forward,
        max_position_embeddings=sizes.positions,
        type_vocab_size=sizes.token_types,
        layer_norm_eps=e5.epsilon,
        pad_token_id=e5.special.pad,
    )
    names = {
        "embeddings.word_embeddings.weight": ("emb.word", sizes.vocabulary),
        "embeddings.position_embeddings.weight": ("emb.pos", sizes.positions),
        "embeddings.token_type_embeddings.weight": ("emb.type", sizes.token_types),
        "embeddings.LayerNorm.weight": ("emb.ln.w", 0),
        "embeddings.LayerNorm.bias": ("emb.ln.b", 0),
    }
    parts = {
        "q": ("attention.self.query", sizes.hidden),
        "k": ("attention.self.key", sizes.hidden),
        "v": ("attention.self.value", sizes.hidden),
        "ao": ("attention.output.dense", sizes.hidden),
        "fi": ("intermediate.dense", sizes.feed_forward),
        "fo": ("output.dense", sizes.hidden),
        "aln": ("attention.output.LayerNorm", 0),
        "oln": ("output.LayerNorm", 0),
    }
    for layer in range(sizes.layers):
        for short, (long, rows) in parts.items():
            names[f"encoder.layer.{layer}.{long}.weight"] = (f"l{layer}.{short}.w", rows)
            names[f"encoder.layer.{layer}.{long}.bias"] = (f"l{layer}.{short}.b", 0)
    state = {
        name: torch.from_numpy(e5.matrix(source, rows) if rows else e5.values(source))
        for name, (source, rows) in names.items()
    }
    model = BertModel(config, add_pooling_layer=False)
    missing = model.load_state_dict(state, strict=False).missing_keys
    assert not [name for name in missing if "position_ids" not in name], missing
    model.save_pretrained(folder)
    pieces = e5.pieces
    PreTrainedTokenizerFast(
        tokenizer_object=build_tokenizer(e5),
        pad_token=pieces[e5.special.pad][0],
        unk_token=pieces[e5.special.unknown][0],
        bos_token=pieces[e5.special.begin][0],
        eos_token=pieces[e5.special.end][0],
        model_max_length=sizes.positions,
    ).save_pretrained(folder)
    return folder


def tiny_xlm_roberta(folder: Path, *, positions: int = 66, labels: int = 0) -> Path:
    """A random XLM-RoBERTa of two layers, saved by transformers, with ``model.onnx`` beside it.

    ``labels`` makes it a cross-encoder with that many logits.
    """
    import torch
    from transformers import (
        PreTrainedTokenizerFast,
        XLMRobertaConfig,
        XLMRobertaForSequenceClassification,
        XLMRobertaModel,
    )

    tokenizer = _tiny_tokenizer()
    config = XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=positions,
        type_vocab_size=1,
        initializer_range=0.3,
        num_labels=max(labels, 1),
    )
    torch.manual_seed(5)
    if labels:
        model = XLMRobertaForSequenceClassification(config)
    else:
        model = XLMRobertaModel(config, add_pooling_layer=False)
    model.eval().save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        unk_token="<unk>",
        bos_token="<s>",
        eos_token="</s>",
        model_max_length=positions - 2,
    ).save_pretrained(folder)
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    export_xlm_roberta(state, config.num_attention_heads, config.layer_norm_eps, folder / "model.onnx")
    return folder


def _tiny_tokenizer():
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = sorted({*"абвгдеёжзийклмнопрстуфхцчшщъыьэюяabcdefghijklmnopqrstuvwxyz0123456789:.,!?-▁"})
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    pieces += [(f"▁{word}", -2.0) for word in WORDS] + [(letter, -6.0) for letter in letters]
    tokenizer = Tokenizer(models.Unigram(pieces, 3, False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    return tokenizer


def export_xlm_roberta(state: dict[str, np.ndarray], heads: int, epsilon: float, path: Path) -> None:
    """Write the weights of a transformers XLM-RoBERTa as ONNX, in standard operators only."""
    graph = _Graph({name.removeprefix("roberta."): value for name, value in state.items()}, heads, epsilon)
    words = graph.op("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    # Positions count from pad + 1 = 2 and only real tokens count.
    counted = graph.op("CumSum", "attention_mask", graph.constant(np.array(1, np.int64)))
    places = graph.op(
        "Add", graph.op("Mul", counted, "attention_mask"), graph.constant(np.array(1, np.int64))
    )
    places = graph.op("Gather", graph.weight("embeddings.position_embeddings.weight"), places)
    kind = graph.constant(graph.state["embeddings.token_type_embeddings.weight"][0])
    hidden = graph.norm(graph.op("Add", graph.op("Add", words, places), kind), "embeddings.LayerNorm")
    keep = graph.op("Unsqueeze", "attention_mask", graph.constant(np.array([1, 2], np.int64)))
    missing = graph.op("Sub", graph.constant(np.float32(1)), graph.op("Cast", keep, to=TensorProto.FLOAT))
    mask = graph.op("Mul", missing, graph.constant(np.float32(-1e9)))
    for layer in range(1 + max(int(n.split(".")[2]) for n in graph.state if n.startswith("encoder.layer."))):
        hidden = graph.layer(hidden, mask, f"encoder.layer.{layer}")
    name, shape = "last_hidden_state", ["batch", "tokens", "hidden"]
    if "classifier.dense.weight" in graph.state:
        first = graph.op("Gather", hidden, graph.constant(np.array(0, np.int64)), axis=1)
        dense = graph.op("Tanh", graph.linear(first, "classifier.dense"))
        hidden, name, shape = graph.linear(dense, "classifier.out_proj"), "logits", ["batch", "labels"]
    graph.nodes.append(helper.make_node("Identity", [hidden], [name]))
    inputs = [
        helper.make_tensor_value_info(item, TensorProto.INT64, ["batch", "tokens"])
        for item in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    made = helper.make_graph(graph.nodes, "xlm-roberta", inputs, [output], graph.weights)
    onnx.save(helper.make_model(made, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(path))


class _Graph:
    def __init__(self, state: dict[str, np.ndarray], heads: int, epsilon: float) -> None:
        self.state, self.heads, self.epsilon = state, heads, epsilon
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def op(self, operator: str, *inputs: str, **options) -> str:
        output = f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **options))
        return output

    def constant(self, value) -> str:
        name = f"constant{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(self.state[name])

    def linear(self, value: str, name: str) -> str:
        product = self.op("MatMul", value, self.constant(self.state[f"{name}.weight"].T.copy()))
        return self.op("Add", product, self.weight(f"{name}.bias"))

    def norm(self, value: str, name: str) -> str:
        inputs = (value, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"))
        return self.op("LayerNormalization", *inputs, epsilon=self.epsilon)

    def layer(self, hidden: str, mask: str, name: str) -> str:
        size = len(self.state[f"{name}.output.LayerNorm.bias"]) // self.heads
        split = self.constant(np.array([0, 0, self.heads, size], np.int64))
        query, key, value = (
            self.op("Reshape", self.linear(hidden, f"{name}.attention.self.{part}"), split)
            for part in ("query", "key", "value")
        )
        query = self.op("Transpose", query, perm=[0, 2, 1, 3])
        scores = self.op("MatMul", query, self.op("Transpose", key, perm=[0, 2, 3, 1]))
        scores = self.op("Div", scores, self.constant(np.float32(size**0.5)))
        shares = self.op("Softmax", self.op("Add", scores, mask), axis=-1)
        mixed = self.op("MatMul", shares, self.op("Transpose", value, perm=[0, 2, 1, 3]))
        mixed = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        joined = self.op("Reshape", mixed, self.constant(np.array([0, 0, self.heads * size], np.int64)))
        attended = self.linear(joined, f"{name}.attention.output.dense")
        hidden = self.norm(self.op("Add", attended, hidden), f"{name}.attention.output.LayerNorm")
        wide = self.op("Gelu", self.linear(hidden, f"{name}.intermediate.dense"))
        inner = self.linear(wide, f"{name}.output.dense")
        return self.norm(self.op("Add", inner, hidden), f"{name}.output.LayerNorm")

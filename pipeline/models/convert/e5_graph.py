"""The ONNX graph of multilingual-e5-small, written for onnxruntime's fast CPU kernels.

A BERT with post-normalisation (https://arxiv.org/abs/1810.04805), one text a run:
``input_ids`` int64 (1, tokens) -> ``last_hidden_state`` float32 (1, tokens, hidden).

Without a second text there is no padding and so no mask, which lets onnxruntime take its flash
attention, and a text's vector cannot depend on its neighbours through the shared int8 scale.
The embedding table keeps the 4 bits it came in; all other matrices are int8 with one scale an output
channel; activations are quantised as they come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.models.convert.e5_file import BLOCK, E5File
from pipeline.models.convert.quantise import equalising_scales, pack_int4, quantise_rows
from pipeline.types import FloatMatrix

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["build_graph"]

_MICROSOFT = "com.microsoft"


def build_graph(source: E5File, layer_done: Callable[[int], None]) -> ModelProto:
    """The whole model; ``layer_done`` is called with the number of layers written so far."""
    writer = _Writer(source)
    state = writer.embed("input_ids")
    layer_done(0)
    for layer in range(source.sizes.layers):
        last = layer == source.sizes.layers - 1
        state = writer.layer(f"l{layer}", state, "last_hidden_state" if last else f"l{layer}.out")
        layer_done(layer + 1)
    return writer.model()


class _Writer:
    """Collects nodes and weights; every method returns the name of the value it adds."""

    def __init__(self, source: E5File) -> None:
        from onnx import NodeProto, TensorProto

        self._source = source
        self._nodes: list[NodeProto] = []
        self._weights: list[TensorProto] = []

    def model(self) -> ModelProto:
        from onnx import TensorProto, helper

        hidden = self._source.sizes.hidden
        graph = helper.make_graph(
            self._nodes,
            "multilingual-e5-small",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [1, "tokens", hidden])],
            self._weights,
        )
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10, producer_name="otvet")

    def embed(self, ids: str) -> str:
        source, sizes = self._source, self._source.sizes
        words = self._word_vectors(ids)
        positions = (
            source.matrix("emb.pos", sizes.positions) + source.matrix("emb.type", sizes.token_types)[0]
        )
        shape = self._node("Shape", [ids], "shape", start=1)
        zero = self._weight("zero", np.zeros(1, np.int64))
        table = self._weight("positions", positions)
        here = self._node("Slice", [table, zero, shape, zero], "here")
        total = self._node("Add", [words, here], "embedded.sum")
        return self._normalise(total, *self._gain_and_bias("emb.ln"), "embedded")

    def layer(self, name: str, state: str, output: str) -> str:
        source, sizes = self._source, self._source.sizes
        joined = np.concatenate([source.matrix(f"{name}.{part}.w", sizes.hidden) for part in "qkv"])
        bias = np.concatenate([source.values(f"{name}.{part}.b") for part in "qkv"])
        qkv = self._linear(state, joined, bias, f"{name}.qkv")
        parts = [f"{name}.{part}" for part in "qkv"]
        self._add("Split", [qkv], parts, axis=-1, num_outputs=3)
        heads = self._node("MultiHeadAttention", parts, f"{name}.heads", _MICROSOFT, num_heads=sizes.heads)
        attended = self._linear(heads, *self._weights_and_bias(f"{name}.ao", sizes.hidden), f"{name}.ao")
        # "Sum", not "Add": onnxruntime would fuse Add and LayerNormalization into a kernel that took
        # seven times as long as the two (0.35 ms for 185 tokens, version 1.32).
        total = self._node("Sum", [attended, state], f"{name}.attended.sum")
        gain, shift = self._gain_and_bias(f"{name}.aln")
        state = self._normalise(total, gain, shift, f"{name}.attended")
        inner = self._feed_forward(name, total, gain, shift)
        total = self._node("Sum", [inner, state], f"{name}.out.sum")
        return self._normalise(total, *self._gain_and_bias(f"{name}.oln"), output)

    def _feed_forward(
        self, name: str, total: str, gain: NDArray[np.float32], shift: NDArray[np.float32]
    ) -> str:
        sizes = self._source.sizes
        weights, bias = self._weights_and_bias(f"{name}.fi", sizes.feed_forward)
        even = equalising_scales(gain, shift, weights)
        # The same normalisation once more, with evened-out channels, costs 0.05 ms.
        state = self._normalise(total, gain / even, shift / even, f"{name}.even")
        wide = self._linear(state, weights * even, bias, f"{name}.fi")
        active = self._node("Gelu", [wide], f"{name}.gelu", _MICROSOFT)
        # A few tokens have huge values here; without a scale of their own they would leave the other
        # tokens a handful of integer steps. The smallest GELU is -0.17, so the largest value rules.
        axis = self._weight(f"{name}.axis", np.full(1, -1, np.int64))
        largest = self._node("ReduceMax", [active, axis], f"{name}.largest", keepdims=1)
        floor = self._weight(f"{name}.floor", np.full(1, 0.2, np.float32))
        reach = self._node("Max", [largest, floor], f"{name}.reach")
        scaled = self._node("Div", [active, reach], f"{name}.scaled")
        weights, bias = self._weights_and_bias(f"{name}.fo", sizes.hidden)
        product = self._linear(scaled, weights, None, f"{name}.fo")
        restored = self._node("Mul", [product, reach], f"{name}.restored")
        return self._node("Add", [restored, self._weight(f"{name}.fo.bias", bias)], f"{name}.inner")

    def _word_vectors(self, ids: str) -> str:
        from onnx import TensorProto, helper

        sizes = self._source.sizes
        scales, nibbles = self._source.blocks("emb.word")
        table = helper.make_tensor(
            "words",
            TensorProto.INT4,
            [sizes.vocabulary, sizes.hidden],
            pack_int4(nibbles).tobytes(),
            raw=True,
        )
        self._weights.append(table)
        scale = self._weight("words.scales", scales.reshape(sizes.vocabulary, -1))
        return self._node(
            "GatherBlockQuantized",
            ["words", ids, scale],
            "words.taken",
            _MICROSOFT,
            block_size=BLOCK,
            gather_axis=0,
            quantize_axis=1,
        )

    def _linear(self, state: str, weights: FloatMatrix, bias: NDArray[np.float32] | None, name: str) -> str:
        integers, scales = quantise_rows(weights)
        inputs = [
            state,
            self._weight(f"{name}.weights", np.ascontiguousarray(integers.T)),
            self._weight(f"{name}.scales", scales),
            self._weight(f"{name}.zeros", np.zeros(len(scales), np.int8)),
        ]
        if bias is not None:
            inputs.append(self._weight(f"{name}.bias", bias))
        return self._node("DynamicQuantizeMatMul", inputs, f"{name}.product", _MICROSOFT)

    def _normalise(
        self, state: str, gain: NDArray[np.float32], bias: NDArray[np.float32], output: str
    ) -> str:
        inputs = [state, self._weight(f"{output}.gain", gain), self._weight(f"{output}.shift", bias)]
        return self._node("LayerNormalization", inputs, output, axis=-1, epsilon=self._source.epsilon)

    def _gain_and_bias(self, name: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self._source.values(f"{name}.w"), self._source.values(f"{name}.b")

    def _weights_and_bias(self, name: str, rows: int) -> tuple[FloatMatrix, NDArray[np.float32]]:
        return self._source.matrix(f"{name}.w", rows), self._source.values(f"{name}.b")

    def _weight(self, name: str, values: NDArray[np.generic]) -> str:
        from onnx import numpy_helper

        self._weights.append(numpy_helper.from_array(values, name))
        return name

    def _node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", **options: object
    ) -> str:
        self._add(operator, inputs, [output], domain, **options)
        return output

    def _add(
        self, operator: str, inputs: list[str], outputs: list[str], domain: str = "", **options: object
    ) -> None:
        from onnx import helper

        node = helper.make_node(
            operator, inputs, outputs, name=f"node.{outputs[0]}", domain=domain, **options
        )
        self._nodes.append(node)

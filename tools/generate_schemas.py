#!/usr/bin/env python3
"""Writes the operator schemas that this build knows, from the PyTorch that is installed.

    python tools/generate_schemas.py          # rewrites src/program/schema/gen/*.inc
    python tools/generate_schemas.py --check  # exits with 1 when they are stale

Captured programs name their operators with overload; a file from another machine must be read with
no PyTorch at hand, so the text of every schema that a program may hold is compiled in. What only
training, other devices or distributed runs use is left out to keep the table small.
"""

import argparse
import re
import sys
from pathlib import Path

import torch
import torch._inductor.inductor_prims  # registers prims of the compiler
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed::*
import torch.nn.modules.linear_cross_entropy  # registers torch_nn::*
import torch.onnx.ops  # registers onnx::* and onnx_symbolic::*

try:
    import transformers.integrations.moe  # noqa: F401  (registers transformers::*)
except ImportError:
    print("transformers is not installed: its operators come from the list below", file=sys.stderr)

FOLDER = Path(__file__).resolve().parent.parent / "src" / "program" / "schema" / "gen"

SPACES = {
    "_quantized",
    "aten",
    "inductor_prims",
    "onnx",
    "onnx_symbolic",
    "prim",
    "prims",
    "quantized",
    "quantized_decomposed",
    "rngprims",
    "torch_nn",
    "transformers",
}

# Optimizers, vendor kernels, gradients written in place: never in a program that is captured for
# inference.
LEFT_OUT = re.compile(
    r"^aten::_foreach_\w+\.(\w+_)?out$|^aten::_?(fused_(ada|sgd)|cufft|cudnn|amp_|cslt|nested|"
    r"validate_|sparse_|miopen|mkldnn|mps|test_)"
    r"|_backward\w*\.|^aten::_?(mkldnn|miopen|cudnn|mps|sspaddmm|record_stream)"
    r"|^prim::(rpc|Rref|Future|fork|awaitable|profile|Debug)"
)

# Operators of libraries that need not be installed here, as those libraries declare them, and of
# the package itself (sardonyx.ops).
OTHERS = """
sardonyx::Attention.opset23(Tensor Q, Tensor K, Tensor V, Tensor? attn_mask=None, Tensor? past_key=None, Tensor? past_value=None, *, bool is_causal=False, SymInt kv_num_heads=0, SymInt q_num_heads=0, SymInt qk_matmul_output_mode=0, float? scale=None, float softcap=0., SymInt? softmax_precision=None) -> (Tensor, Tensor, Tensor, Tensor)
sardonyx::LinearAttention.opset27(Tensor query, Tensor key, Tensor value, Tensor? past_state=None, Tensor? decay=None, Tensor? beta=None, *, SymInt q_num_heads, SymInt kv_num_heads, str update_rule="gated_delta", float? scale=None) -> (Tensor, Tensor)
sardonyx::RotaryEmbedding.opset23(Tensor x, Tensor cos_cache, Tensor sin_cache, Tensor? position_ids=None, *, bool interleaved=False, SymInt num_heads=0, SymInt rotary_embedding_dim=0) -> Tensor
sardonyx::symbolic(Tensor?[] inputs, str domain, str op_type, int onnx_dtype, SymInt[] shape, str[] attr_names, str[] attr_kinds, int[] attr_counts, int[] attr_ints, float[] attr_floats, str[] attr_strings, str[] metadata_keys, str[] metadata_values, int? version) -> Tensor
sardonyx::symbolic_multi_out(Tensor?[] inputs, str domain, str op_type, int[] onnx_dtypes, int[] ranks, SymInt[] sizes, str[] attr_names, str[] attr_kinds, int[] attr_counts, int[] attr_ints, float[] attr_floats, str[] attr_strings, str[] metadata_keys, str[] metadata_values, int? version) -> Tensor[]
torchao::choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)
torchao::choose_scale_float8(Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=24, ScalarType scale_dtype=6, float? hp_value_lb=None, float? hp_value_ub=None) -> Tensor
torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor
torchao::dequantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType output_dtype=6) -> Tensor
torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor
torchao::quantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType float8_dtype=24) -> Tensor
torchvision::deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor
torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor
torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)
torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)
torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor
torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)
transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor
"""  # noqa: E501


def schemas() -> dict[str, str]:
    """Qualified name to schema text, of everything that belongs into the table."""
    found = {line.split("(")[0]: line for line in OTHERS.splitlines() if line}
    for schema in torch._C._jit_get_all_schemas():
        text = str(schema)
        name = text.split("(", maxsplit=1)[0]
        if schema.name.split("::")[0] in SPACES and not LEFT_OUT.search(name):
            found[name] = text
    return found


def file_of(name: str) -> str:
    """The table is split so that no file grows unwieldy."""
    space, base = name.split("::")
    if space != "aten":
        return "other.inc"
    return "aten_a_l.inc" if base.lstrip("_")[:1].lower() <= "l" else "aten_m_z.inc"


def render(texts: list[str]) -> str:
    lines = [
        f"// Generated by tools/generate_schemas.py from PyTorch {torch.__version__.split('+')[0]}."
    ]
    for text in texts:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'"{escaped}\\n"')
    return "\n".join(lines) + "\n"


def generate() -> dict[Path, str]:
    found = schemas()
    files: dict[str, list[str]] = {}
    for name in sorted(found):  # by code point, which is how the table is searched
        files.setdefault(file_of(name), []).append(found[name])
    return {FOLDER / file: render(texts) for file, texts in files.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when stale")
    check = parser.parse_args().check
    stale = 0
    for path, text in generate().items():
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        if check:
            print(f"{path} is stale: run tools/generate_schemas.py")
        else:
            path.write_text(text)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())

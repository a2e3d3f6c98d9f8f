"""What the options of a decoder cost in onnxruntime-genai, on one Llama with random weights.

    python -m bench.hf.decoder_figures [adapters] [cache] [split]

adapters  two LoRA adapters of rank 8: the time of a token with one next to that of the model
          without them, in interleaved runs, and the time to swap them
cache     the bytes of keys and values of a token by type
split     the largest difference of the outputs of a model in files from the whole, and the bytes
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

RUNTIME: Any = "onnxruntime-genai"
_PROMPT, _ROUNDS, _RANK = 32, 40, 8
_ADAPTED = ("q_proj", "k_proj", "v_proj", "o_proj")


def main() -> None:
    figures = {"adapters": adapters, "cache": cache, "split": split}
    parser = argparse.ArgumentParser(prog="bench.hf.decoder_figures", description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(figures))
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sardonyx-figures-") as work:
        checkpoint = Path(work) / "checkpoint"
        _checkpoint(checkpoint, options.hidden, options.layers)
        for name in options.figures or figures:
            for line in figures[name](checkpoint, Path(work)):
                print(line, flush=True)


def _checkpoint(folder: Path, hidden: int, layers: int) -> None:
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        hidden_size=hidden, intermediate_size=hidden * 3, num_hidden_layers=layers,
        num_attention_heads=hidden // 64, num_key_value_heads=hidden // 128, head_dim=64,
        vocab_size=8000, max_position_embeddings=1024, tie_word_embeddings=False,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


def adapters(checkpoint: Path, work: Path) -> list[str]:
    """A token with an adapter, a swap, and whether the swapped model is the one asked for."""
    import onnxruntime_genai as genai

    import sardonyx

    names = ("poet", "coder")
    folders = [_adapter(work / name, checkpoint, seed) for seed, name in enumerate(names)]
    sardonyx.hf.export(checkpoint, work / "plain", runtime=RUNTIME)
    sardonyx.hf.export(checkpoint, work / "adapted", runtime=RUNTIME, adapters=folders)
    plain, adapted = (genai.Model(str(work / each)) for each in ("plain", "adapted"))
    held = genai.Adapters(adapted)
    began = time.perf_counter()
    for name in names:
        held.load(str(work / "adapted" / f"{name}.onnx_adapter"), name)
    loaded = (time.perf_counter() - began) / len(names)
    runs = {"plain": _generator(plain), "poet": _generator(adapted), "swapped": _generator(adapted)}
    runs["poet"].set_active_adapter(held, "poet")
    runs["swapped"].set_active_adapter(held, "poet")
    for run in runs.values():
        run.append_tokens(_prompt())
        run.generate_next_token()
    times: dict[str, list[float]] = {name: [] for name in (*runs, "swap")}
    for turn in range(_ROUNDS):
        began = time.perf_counter()
        runs["swapped"].set_active_adapter(held, names[turn % 2])
        times["swap"].append(time.perf_counter() - began)
        for name in sorted(runs, reverse=bool(turn % 2)):
            began = time.perf_counter()
            runs[name].generate_next_token()
            times[name].append(time.perf_counter() - began)
    token, with_one, after, swap = (
        statistics.median(times[name]) * 1e3 for name in ("plain", "poet", "swapped", "swap")
    )
    more = f"{with_one:.2f} ({with_one / token - 1:+.1%})"
    swapped = f"swapped in {swap:.3f} ms, the token after it {after:.2f} ms"
    return [
        f"adapters: a token {token:.2f} ms, with one of rank {_RANK} {more}",
        f"adapters: {swapped}; loaded in {loaded * 1e3:.1f} ms",
    ]


def _adapter(folder: Path, checkpoint: Path, seed: int) -> Path:
    """As peft writes it, for the attention of each layer."""
    import torch
    from safetensors.torch import load_file, save_file

    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for name, weight in load_file(checkpoint / "model.safetensors").items():
        if name.split(".")[-2] in _ADAPTED:
            path = f"base_model.model.{name.removesuffix('.weight')}"
            down, up = (_RANK, weight.shape[1]), (weight.shape[0], _RANK)
            for side, shape in (("A", down), ("B", up)):
                value = torch.randn(shape, generator=generator) * 0.02
                tensors[f"{path}.lora_{side}.weight"] = value
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": _RANK, "lora_alpha": 2 * _RANK}
    (folder / "adapter_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def cache(checkpoint: Path, work: Path) -> list[str]:
    """Bytes of keys and values of a token, by their type."""
    import onnx
    import torch

    import sardonyx

    prompts = [torch.randint(8000, (40,), generator=torch.Generator().manual_seed(0))]
    kinds: dict[str, dict[str, Any]] = {
        "fp32": {},
        "fp16": {"precision": "fp16"},
        "int8": {"cache_type": "int8", "cache_prompts": prompts},
    }
    lines = []
    for kind, more in kinds.items():
        out = work / kind
        sardonyx.hf.export(checkpoint, out, runtime=RUNTIME, **more)
        graph = onnx.load(out / "model.onnx", load_external_data=False).graph
        lines.append(f"cache {kind}: {_bytes_of_token(graph)} bytes a token")
    return lines


def _bytes_of_token(graph: Any) -> int:
    from onnx import helper

    total = 0
    for each in graph.input:
        if each.name.startswith("past_key_values"):
            tensor = each.type.tensor_type
            _, heads, _, width = (axis.dim_value for axis in tensor.shape.dim)
            total += heads * width * helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize
    return total


def split(checkpoint: Path, work: Path) -> list[str]:
    """Of one prompt for two sequences and of one token after it."""
    import torch

    import sardonyx
    from sardonyx.hf.evaluation.generation import empty_caches, next_past

    results: dict[str, list[torch.Tensor]] = {}
    sizes = {}
    for name, count in (("whole", None), ("split", 2)):
        out = work / f"figure-{name}"
        sardonyx.hf.export(checkpoint, out, split=count)
        sizes[name] = sum(file.stat().st_size for file in out.glob("*.onnx*"))
        loaded = sardonyx.hf.load(out)
        past = empty_caches(loaded, 2)
        ids = torch.randint(8000, (2, _PROMPT + 1), generator=torch.Generator().manual_seed(1))
        found = results.setdefault(name, [])
        for begin, end in ((0, _PROMPT), (_PROMPT, _PROMPT + 1)):
            feed = {
                "input_ids": ids[:, begin:end],
                "attention_mask": torch.ones(2, end, dtype=torch.int64),
                "position_ids": torch.arange(begin, end).expand(2, -1),
            }
            made = loaded("model", **feed, **past)
            past = next_past(made)
            found += [made["logits"], *past.values()]
    pairs = zip(results["whole"], results["split"], strict=True)
    apart = max(float((a - b).abs().max()) for a, b in pairs)
    share = sizes["split"] / sizes["whole"]
    count = len(results["whole"])
    return [f"split: largest difference of {count} outputs {apart}; {share:.4f} of the bytes"]


def _prompt() -> Any:
    import numpy as np

    return np.arange(3, 3 + _PROMPT, dtype=np.int32)


def _generator(model: Any, places: int = _PROMPT + _ROUNDS + 8) -> Any:
    import onnxruntime_genai as genai

    parameters = genai.GeneratorParams(model)
    parameters.set_search_options(
        max_length=places, min_length=places, do_sample=False, early_stopping=False
    )
    return genai.Generator(model, parameters)


if __name__ == "__main__":
    main()

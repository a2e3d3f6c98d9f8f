"""Interleaved runs of folders in onnxruntime-genai, in an environment that has it.

python turns.py PROMPT TOKENS ROUNDS FOLDER...: a line of JSON with, for each folder, milliseconds
of the prompt and of a token, and the tokens that it chose.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

import numpy as np
import onnxruntime_genai as genai


def generator(model: Any, length: int) -> Any:
    options = genai.GeneratorParams(model)
    # No text ends early.
    options.set_search_options(max_length=length, min_length=length, batch_size=1, do_sample=False)
    return genai.Generator(model, options)


def main(prompt_length: int, tokens: int, rounds: int, folders: list[str]) -> None:
    models = {folder: genai.Model(folder) for folder in folders}
    prompt = np.random.default_rng(0).integers(3, 250, (1, prompt_length)).astype(np.int32)
    prompts: dict[str, list[float]] = {folder: [] for folder in folders}
    steps: dict[str, list[float]] = {folder: [] for folder in folders}
    chosen: dict[str, list[int]] = {}
    order = list(folders)
    for _ in range(rounds):
        running = {each: generator(models[each], prompt_length + tokens + 1) for each in order}
        for folder in order:
            began = time.perf_counter()
            running[folder].append_tokens(prompt)
            running[folder].generate_next_token()
            prompts[folder].append(time.perf_counter() - began)
        for _ in range(tokens):
            for folder in order:
                began = time.perf_counter()
                running[folder].generate_next_token()
                steps[folder].append(time.perf_counter() - began)
        for folder in order:
            chosen[folder] = running[folder].get_sequence(0).tolist()[prompt_length:]
        order.reverse()
    print(
        json.dumps(
            {
                folder: {
                    "prompt": 1e3 * statistics.median(prompts[folder]),
                    "token": 1e3 * statistics.median(steps[folder]),
                    "chosen": chosen[folder],
                }
                for folder in folders
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])

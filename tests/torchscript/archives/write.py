"""Run by a release of PyTorch: `python write.py FOLDER` saves the programs there, with what it is
given and answers in answers.json. tools/write_archives.sh does so for many releases."""

import json
import sys
import traceback
import warnings
from pathlib import Path

import torch

warnings.simplefilter("ignore")
sys.path.insert(0, str(Path(__file__).parent))
from programs import cases  # noqa: E402


def leaves(value: object) -> list:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [] if value is None else [value]


def written(value: object) -> object:
    if not isinstance(value, torch.Tensor):
        return value
    return {
        "dtype": str(value.dtype)[len("torch.") :],
        "shape": list(value.shape),
        "values": value.detach().reshape(-1).tolist(),
    }


def main(folder: Path) -> None:
    answers = {}
    with torch.no_grad():
        for name, case in cases().items():
            try:
                module = case.module.eval()
                script = (
                    torch.jit.trace(module, case.runs[0])
                    if case.traced
                    else torch.jit.script(module)
                )
                script.save(str(folder / (name + ".pt")))
                runs = [
                    {"given": [written(a) for a in run],
                     "answers": [written(a) for a in leaves(script(*run))]}
                    for run in case.runs
                ]  # fmt: skip
                answers[name] = {"inputs": case.inputs, "runs": runs}
            except Exception:  # what this release cannot do, say
                print(name, "fails:", "".join(traceback.format_exc()[-300:].split("\n")))
    (folder / "answers.json").write_text(json.dumps(answers, separators=(",", ":")))
    print(torch.__version__, len(answers), "programs")


main(Path(sys.argv[1]))

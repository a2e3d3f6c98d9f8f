"""Builds the site: copies the pages of docs/, adds a page for each diagnostic code and the
reference of Python (mkdocstrings), C++ and C (Doxygen) and the command, and runs mkdocs, which
fails on a broken link.

    python tools/build_site.py COMMAND MKDOCS     (see `make site`)
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tools.cpp_reference import write_cpp_reference  # noqa: E402
from tools.generate_rules import rows  # noqa: E402

PAGES = ROOT / "build-site" / "pages"
CODE = re.compile(r"^\| (SX\d{4}) \|", re.MULTILINE)
SECTION = re.compile(r"^## (SX\d{4})\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
FENCE = "```"
UNTRIED = """# Compatibility

`sardonyx doctor` says whether the installed releases of PyTorch, ONNX Runtime, onnx and
transformers are tested ones. `make compat` tests others, and writes this page.
"""

# What mkdocstrings fills in. Names of __init__ that are imported lazily are given in full.
PYTHON = {
    "python.md": """# sardonyx

The names below are those of the package `sardonyx`. Importing it imports neither torch nor onnx.

::: sardonyx._export.export.export
::: sardonyx._export.convert.convert
::: sardonyx._optimize.optimize.optimize
::: sardonyx._optimize.precision.Precision
::: sardonyx._optimize.report.OptimizationReport
::: sardonyx._model.program.ONNXProgram
::: sardonyx._export.observer.InputObserver
::: sardonyx._export.exportable.ExportableModule
::: sardonyx._capture.fake_mode.enable_fake_mode
::: sardonyx._runtime.options.ONNXRuntimeOptions
::: sardonyx._translate.registry.OnnxRegistry
::: sardonyx._translate.symbolic_functions.register_custom_op_symbolic
::: sardonyx._translate.symbolic_functions.unregister_custom_op_symbolic
::: sardonyx._capture.patches.modes.select_model_mode_for_export
::: sardonyx._base.state.is_in_onnx_export
::: sardonyx._base.log.enable_log
::: sardonyx._base.log.disable_log
::: sardonyx._model.view.view

## Errors

::: sardonyx._base.errors
    options: {show_root_heading: false, heading_level: 3}
""",
    "python-hf.md": """# sardonyx.hf

Exports Hugging Face checkpoints. The [guide](../huggingface.md) explains the files.

::: sardonyx.hf.conversion.export.export
::: sardonyx.hf.evaluation.running.load
::: sardonyx.hf.evaluation.running.ExportedFolder
::: sardonyx.hf.output.report.Report
::: sardonyx.hf.output.report.ExportedPart
""",
    "python-transformers.md": """# sardonyx.transformers

A backend of transformers' own exporters: the [guide](../how-to/transformers-exporters.md).

::: sardonyx.transformers.config.SardonyxConfig
::: sardonyx.transformers.exporter.SardonyxExporter
::: sardonyx.transformers.runner.SardonyxRunner
""",
    "python-ops.md": """# sardonyx.ops and sardonyx.op

`sardonyx.ops` holds ONNX operators for use in PyTorch code. `sardonyx.op` holds all ONNX operators
for use in translators: [custom operators](../custom-operators.md).

::: sardonyx.ops._symbolic
    options: {show_root_heading: false}
::: sardonyx.ops._attention
    options: {show_root_heading: false}
::: sardonyx.ops._linear_attention
    options: {show_root_heading: false}
::: sardonyx.ops._rotary_embedding
    options: {show_root_heading: false}
""",
    "python-verification.md": """# sardonyx.verification

Compares an exported model with PyTorch: [debug a mismatch](../how-to/mismatch.md).

::: sardonyx._debugging.verification.verify_onnx_program
::: sardonyx._debugging.verification.verify
::: sardonyx._debugging.graph_info.find_mismatch
::: sardonyx._debugging.graph_info.GraphInfo
::: sardonyx._compare.comparison.Comparison
::: sardonyx._compare.differences.VerificationInfo
::: sardonyx._compare.options.VerificationOptions
::: sardonyx._compare.node_data.save_node_data_from_verification_info
""",
    "python-modules.md": """# Other modules

## sardonyx.symbolic_helper

Helpers for symbolic functions, under the names of `torch.onnx.symbolic_helper`.

## sardonyx.operators, sardonyx.errors, sardonyx.utils

The modules of `torch.onnx` of the same name: [the specification](../specification.md) lists each
name.

## Legacy names

::: sardonyx._legacy.dynamo_export.dynamo_export
::: sardonyx._legacy.options.ExportOptions
::: sardonyx._legacy.diagnostic_options.DiagnosticOptions
::: sardonyx._legacy.inspection.export_to_pretty_string
::: sardonyx._legacy.inspection.unconvertible_ops
""",
}


def main() -> int:
    """Writes build-site/site; returns mkdocs' exit code."""
    command, mkdocs = sys.argv[1:]
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("screenshots", "data"))
    for name, source in {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        (PAGES / name).write_text(text.replace("(docs/", "("), encoding="utf-8")
    compatibility = PAGES / "compatibility.md"
    if not compatibility.exists():  # `make compat` writes it, from results of other releases
        compatibility.write_text(UNTRIED, encoding="utf-8")
    diagnostic_pages()
    draw = [sys.executable, str(ROOT / "tools/draw_pictures.py"), command, str(PAGES / "images")]
    gallery = [sys.executable, str(ROOT / "tools/draw_gallery.py"), command, str(PAGES / "gallery")]
    for words in (draw, gallery):
        subprocess.run(words, cwd=ROOT, env=os.environ | {"PYTHONPATH": paths()}, check=True)
    reference = PAGES / "reference"
    reference.mkdir()
    for name, text in PYTHON.items():
        (reference / name).write_text(text, encoding="utf-8")
    write_cpp_reference(ROOT, reference)
    (reference / "command-line.md").write_text(command_reference(command), encoding="utf-8")
    for page in PAGES.rglob("*.md"):
        page.write_text(at_home(page, page.read_text(encoding="utf-8")), encoding="utf-8")
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [mkdocs, "build", "--strict", "-q"], cwd=ROOT, env=quiet, check=False
    ).returncode


def diagnostic_pages() -> None:
    """One page for each code, and a link to it from the table, whose rows are anchors as well."""
    table = PAGES / "diagnostics.md"
    text = table.read_text(encoding="utf-8")
    linked = CODE.sub(r'| <a id="\1"></a>[\1](diagnostics/\1.md) |', text)
    table.write_text(linked, encoding="utf-8")
    examples = (ROOT / "docs/data/diagnostic_examples.md").read_text(encoding="utf-8")
    example_of = dict(SECTION.findall(examples))
    folder = PAGES / "diagnostics"
    folder.mkdir()
    for code, stage, meaning, fix in rows(text):
        parts = [
            f"# {code}",
            f"{meaning[0].upper()}{meaning[1:]}.",
            f"## What to do\n\n{fix[0].upper()}{fix[1:]}.",
            f"## Example\n\n{example_of[code].strip()}",
            f"## See also\n\n[All codes](../diagnostics.md#{code}), stage: {stage}",
        ]
        (folder / f"{code}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def paths() -> str:
    """Where Python finds the package, and the models of the tests."""
    return os.pathsep.join([str(ROOT), *filter(None, sys.path)])


def at_home(page: Path, text: str) -> str:
    """Links to files of the project that are no pages become their names."""

    def linked(match: re.Match[str]) -> str:
        label, target = match.groups()
        path = target.partition("#")[0]
        if not path or "://" in path or (page.parent / path).exists():
            return match[0]
        return str(label)

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)", linked, text)


def command_reference(command: str) -> str:
    """What each command's --help says."""
    parts = ["# Command line\n"]
    shown = subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  (\w+)  ", shown.partition("Subcommands:")[2], re.MULTILINE)
    for words in ([], *([name] for name in commands)):
        told = subprocess.run(
            [command, *words, "--help"], capture_output=True, text=True, check=False
        ).stdout
        parts.append(f"## {' '.join(['sardonyx', *words])}\n\n{FENCE}text\n{told}{FENCE}\n")
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())

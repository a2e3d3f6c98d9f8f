"""The reference of the C++ and the C interface: Doxygen reads the headers, Markdown comes out.

The headers have plain comments (`//` and `/* */`), which a filter makes Doxygen's.
"""

from __future__ import annotations

import subprocess
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

C_HEADERS = ("c.h", "plugin.h")
# Rules of sed: headings within c.h go; comments before a declaration and behind one are Doxygen's.
FILTER = (
    r"/^.\* ---/d",
    r"1s|^/[*] |/** @file |",
    r"s@^( *)// ?@\1/// @",
    r"s@([;,{)] *)// ?@\1///< @",
    r"s@^( *)/\* @\1/** @",
    r"s@([;,)] *)/\* @\1/**< @",
)
CONFIG = """
INPUT = {headers}
INPUT_FILTER = "sed -E {filter}"
OUTPUT_DIRECTORY = {out}
GENERATE_XML = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
EXTRACT_ALL = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = SARDONYX_API= __cplusplus
QUIET = YES
WARNINGS = NO
SORT_MEMBER_DOCS = NO
"""


def write_cpp_reference(root: Path, folder: Path) -> None:
    """Writes cpp.md and c.md into the folder."""
    headers = root / "include" / "sardonyx"
    cpp = [h for h in sorted(headers.glob("*.h")) if h.name not in (*C_HEADERS, "export.h")]
    intro = "[C++, C and other languages](../how-to/cpp.md) shows how to build with it."
    (folder / "cpp.md").write_text(f"# C++ API\n\n{intro}\n\n{_page(cpp)}", encoding="utf-8")
    c = _page([headers / name for name in C_HEADERS])
    (folder / "c.md").write_text(f"# C API\n\n{intro}\n\n{c}", encoding="utf-8")


def _page(headers: list[Path]) -> str:
    with tempfile.TemporaryDirectory(prefix="sardonyx-doxygen-") as scratch:
        config = Path(scratch) / "Doxyfile"
        listed = " ".join(map(str, headers))
        rules = " ".join(f"-e '{rule}'" for rule in FILTER)
        text = CONFIG.format(headers=listed, out=scratch, filter=rules)
        config.write_text(text, encoding="utf-8")
        subprocess.run(["doxygen", str(config)], check=True, capture_output=True)
        trees = [ET.parse(file).getroot() for file in sorted(Path(scratch, "xml").glob("*.xml"))]
    return "\n".join(line for header in headers for line in _header(header, trees))


def _header(header: Path, trees: list[ET.Element]) -> Iterator[str]:
    """Its classes and structs with their members, then enumerations, aliases and functions."""
    yield f"## sardonyx/{header.name}\n"
    for tree in trees:
        for compound in tree.findall("compounddef"):
            if not _within(compound, header):
                continue
            if compound.get("kind") in ("class", "struct"):
                yield from _compound(compound)
    for tree in trees:
        for compound in tree.findall("compounddef"):
            if compound.get("kind") not in ("file", "namespace"):
                continue
            for member in compound.iter("memberdef"):
                if _within(member, header) and member.get("kind") != "define":
                    yield from _member(member)


def _within(element: ET.Element, header: Path) -> bool:
    location = element.find("location")
    if location is None or not (location.get("file") or "").endswith(header.name):
        return False
    if element.tag == "memberdef":  # of namespaces and files, each once
        return (location.get("file") or "").endswith("/" + header.name)
    return element.get("prot", "public") == "public"


def _compound(compound: ET.Element) -> Iterator[str]:
    name = compound.findtext("compoundname", "")
    yield f"### {compound.get('kind')} {name}\n"
    yield from _description(compound)
    members = [
        m
        for m in compound.iter("memberdef")
        if m.get("prot") == "public" and not m.findtext("name", "").startswith("~")
    ]
    if members:
        yield "| member | description |\n|---|---|"
        for member in members:
            text = " ".join(_description(member)).replace("\n", " ").replace("|", "\\|").strip()
            yield f"| `{_declaration(member)}` | {text} |".replace("||", "\\|\\|")
        yield ""


def _member(member: ET.Element) -> Iterator[str]:
    name = member.findtext("name", "")
    if not name or name.startswith("@"):
        return
    kind = member.get("kind")
    yield f"### {name}\n"
    yield f"```cpp\n{_declaration(member)}\n```\n"
    yield from _description(member)
    if kind == "enum":
        yield "| value | description |\n|---|---|"
        for value in member.findall("enumvalue"):
            yield f"| `{value.findtext('name')}` | {' '.join(_description(value)).strip()} |"
        yield ""


def _declaration(member: ET.Element) -> str:
    name, kind = member.findtext("name", ""), member.get("kind")
    if kind == "enum":
        return f"enum class {name}" if member.get("strong") == "yes" else f"enum {name}"
    written = f"{_text(member.find('type'))} {name}{member.findtext('argsstring', '')}"
    value = _text(member.find("initializer"))
    if kind == "typedef":
        return f"{member.findtext('definition', written)}"
    return " ".join(f"{written} {value}".split())


def _description(element: ET.Element) -> Iterator[str]:
    for tag in ("briefdescription", "detaileddescription"):
        for paragraph in element.findall(f"{tag}/para"):
            text = _text(paragraph)
            if text:
                yield text.replace("<", "&lt;") + "\n"


def _text(element: ET.Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())

"""What may differ in the texts of one model's two captures, and why. All else counts."""

from __future__ import annotations

import collections
import difflib
import re
from collections.abc import Callable

from .samples import ANY, RANGE, Lines, Samples, at_samples, symbols_of

Change = Callable[[Lines, Lines], tuple[Lines, Lines]]


def explained(usual: Lines, quick: Lines, within: Samples = ()) -> str | None:
    """Why two texts say the same: empty where they are equal, None where they do not. `within` has
    sizes that torch.export's program takes, where it asserts something of them."""
    if usual == quick:
        return ""
    changes = _changes(within)
    for reason, change in changes.items():
        a, b = change(usual, quick)
        if a == b:
            return reason
    reasons = []
    for reason, change in changes.items():
        changed = change(usual, quick)
        if changed != (usual, quick):
            reasons.append(reason)
            usual, quick = changed
        if usual == quick:
            return "; ".join(reasons)
    return None


def _changes(within: Samples) -> dict[str, Change]:
    if not within:
        return EXPLAINED
    # In place of sizes of which nothing is asserted.
    return {
        **{reason: change for reason, change in EXPLAINED.items() if change is not _at_numbers},
        "of sizes that torch.export asserts, what they are is said in other words": (
            lambda usual, quick: (at_samples(usual, within), at_samples(quick, within))
        ),
    }


def _without_narrower(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """Without ranges where torch.export's alone begins later."""
    ours = {found[1]: found for line in quick if (found := RANGE.fullmatch(line))}
    same: set[str] = set()
    for line in usual:
        a = RANGE.fullmatch(line)
        b = ours.get(a[1]) if a else None
        if a and b and a[3] == b[3] and a[2].isdigit() and b[2].isdigit() and int(b[2]) < int(a[2]):
            same |= {line, b[0]}
    return [x for x in usual if x not in same], [x for x in quick if x not in same]


def _without_ranges_of_none(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    said = {s for line in (*usual, *quick) if not RANGE.fullmatch(line) for s in symbols_of(line)}

    def kept(lines: Lines) -> Lines:
        return [x for x in lines if not (m := RANGE.fullmatch(x)) or m[1] in said]

    return kept(usual), kept(quick)


def _without_what_bodies_say(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    kept: Lines = []
    for line in usual:
        kept.append(re.sub(r", mutated_arg_indices='[^']*'", "", line))
        # A region is a call, its body's head, and what that returns.
        if line.strip() == "return" and kept[-2].strip() == "@()" and "::wrap_with_" in kept[-3]:
            del kept[-3:]
    return _without_unread_names(kept, quick)


def _without_starts(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """With slices from 0 that do not say so."""

    def plain(lines: Lines) -> Lines:
        return [re.sub(r"(aten::slice\.Tensor\(.*), start=0(?=[,)])", r"\1", x) for x in lines]

    return plain(usual), plain(quick)


_REGION = re.compile(
    r"( *)(.*?)(?: = )?higher_order::wrap_with_autocast\(device_type=(.*), dtype=(.*), "
    r"enabled=(.*), cache_enabled=(.*), @\)"
)
_ENTERED = re.compile(r" *python::_(enter|exit)_autocast\(")


def _with_marks_of_autocast(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """With marks where fake-tensor tracing has regions, within which places are not said."""
    if not any(_ENTERED.match(line) for line in usual):
        return usual, quick
    depth, marked = 0, []
    for line in usual:
        mark = _ENTERED.match(line)
        depth += mark[1] == "enter" if mark else 0
        marked.append(line.partition("  #")[0] if depth else line)
        depth -= mark[1] == "exit" if mark else 0
    return _without_unread_names(marked, _unwrapped(quick))


def _unwrapped(lines: Lines) -> Lines:
    """With marks and what stands between them in place of regions under autocast."""
    start = next((i for i, line in enumerate(lines) if _REGION.match(line)), None)
    if start is None or (region := _REGION.match(lines[start])) is None:
        return lines
    indent, results, *options = region.groups()
    end = next(i for i in range(start, len(lines)) if lines[i].startswith(f"{indent}    return"))
    of_region, of_body = (re.findall(r"%\d+", line) for line in (results, lines[end]))
    given = dict(zip(of_region, of_body, strict=False))
    said = ", ".join(f"arg{i}={option}" for i, option in enumerate(options))
    marks = (f"{indent}python::_enter_autocast({said})", f"{indent}python::_exit_autocast()")
    body = [line[4:] for line in lines[start + 2 : end]]
    after = [re.sub(r"%\d+", lambda m: given.get(m[0], m[0]), x) for x in lines[end + 1 :]]
    return _unwrapped([*lines[:start], marks[0], *body, marks[1], *after])


_CONSTANT = re.compile(r"  (%\d+): .*  # constant (?:lifted_tensor_|_tensor_constant)\d+,.*")


def _with_constants_as_read(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """With the constants of no name in the order in which they are read."""

    def ordered(lines: Lines) -> Lines:
        constants = {m[1]: line for line in lines if (m := _CONSTANT.fullmatch(line))}
        rest = [line for line in lines if line not in constants.values()]
        read = dict.fromkeys(re.findall(r"%\d+", "\n".join(rest)))
        said = [
            re.sub(r"# constant \w+", "# constant", constants[x]) for x in read if x in constants
        ]
        return said + rest

    return _without_unread_names(ordered(usual), ordered(quick))


def _without_samples_layouts(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    if not any("::_remove_batch_dim(" in line for line in quick):
        return usual, quick

    def plain(lines: Lines) -> Lines:
        return [re.sub(r" strides \[[^\]]*\]", "", line) for line in lines]

    return _without_unread_names(_without_unread_repeats(plain(usual)), plain(quick))


_REPEAT = re.compile(r"\s*(?:_|(%\d+): \S+) = aten::(?:expand|unsqueeze)\(")


def _without_unread_repeats(lines: Lines) -> Lines:
    """torch.export repeats what is the same of all samples, and has that twice: once for nobody."""
    text = "\n".join(lines)
    counts = collections.Counter(re.findall(r"%\d+", text))
    kept = [x for x in lines if not (m := _REPEAT.match(x)) or (m[1] and counts[m[1]] > 1)]
    return kept if len(kept) == len(lines) else _without_unread_repeats(kept)


def _without_unread_names(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    def renamed(lines: Lines) -> Lines:
        counts = collections.Counter(name for line in lines for name in re.findall(r"%\d+", line))
        numbers: dict[str, str] = {}

        def name(found: re.Match[str]) -> str:
            if counts[found[1]] == 1 and found[2]:
                return "_"
            return numbers.setdefault(found[1], f"%{len(numbers) + 1}") + (found[2] or "")

        return [re.sub(r"(%\d+)(: (?:[^%=]*?)(?=, (?:%|_)| = ))?", name, line) for line in lines]

    return renamed(usual), renamed(quick)


def _without_unread_constants(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    counts = collections.Counter(name for line in quick for name in re.findall(r"%\d+", line))
    text = "\n".join(quick)
    unread = set()
    for found in re.finditer(
        r"( *(%\d+): \S+ = aten::lift_fresh_copy\((%\d+)\).*)\n( *(?:(%\d+): .*|_) = "
        r"aten::detach_\(\2\).*)",
        text,
    ):
        copy, name, constant, last, result = found.groups()
        if counts[name] == counts[constant] == 2 and (result is None or counts[result] == 1):
            declared = [x for x in quick if x.lstrip().startswith(f"{constant}: ")]
            unread |= {copy, last, *declared}
    if not unread:
        return usual, quick
    left = [line for line in quick if line not in unread]

    def unnumbered(lines: Lines) -> Lines:
        return [re.sub(r"\blifted_tensor_\d+", "lifted_tensor", line) for line in lines]

    return _without_unread_names(unnumbered(usual), unnumbered(left))


def _without_own_copies(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """Without writes of a converted buffer to itself, which it is where its type is the same."""
    converted = {
        m[1]: m[2] for line in usual if (m := re.match(r"\s*(%\d+): .*aten::to\.\w+\((%\d+)", line))
    }
    copies = [
        line
        for line in usual
        if (m := re.match(r"\s*(?:%\d+: .*|_) = aten::copy_\((%\d+), (%\d+)\)", line))
        and converted.get(m[2]) == m[1]
    ]
    return _without_unread_names([x for x in usual if x not in copies], quick)


def _without_copies_of_rows(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """Without contiguous() in fake-tensor tracing's alone, of tensors in rows now that both know
    which sizes are equal."""
    plain = [[re.sub(r"%\d+", "%", line) for line in lines] for lines in (usual, quick)]
    kept, names = [], {}
    for what, _, _, start, end in difflib.SequenceMatcher(
        None, *plain, autojunk=False
    ).get_opcodes():
        for line in quick[start:end]:
            said = re.sub(r"%\d+", lambda m: names.get(m[0], m[0]), line)
            copy = re.match(r"\s*(%\d+): [^=]* = aten::contiguous\((%\d+)\)", said)
            if what == "equal" or not copy or " strides " in line:
                kept.append(said)
            else:
                names[copy[1]] = copy[2]
    return _without_unread_names(usual, kept) if names else (usual, quick)


def _at_numbers(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """With three numbers for each size."""
    return at_samples(usual, ANY), at_samples(quick, ANY)


# Their results' sizes are right whatever the size is that torch.export takes for a number.
_RIGHT_FOR_ALL = ("max_pool2d", "vsplit.array")


def _at_fixed_numbers(usual: Lines, quick: Lines) -> tuple[Lines, Lines]:
    """With torch.export's numbers for the sizes that it fixes."""
    others = [line for line in usual if line not in quick and "aten::" in line]
    if not others or not all(
        re.search(rf"aten::(?:{'|'.join(_RIGHT_FOR_ALL)})\(", line) for line in others
    ):
        return usual, quick
    fixed, ranges = {}, set()
    ours = {m[1]: m for line in quick if (m := RANGE.fullmatch(line))}
    for line in usual:
        a = RANGE.fullmatch(line)
        b = ours.get(a[1]) if a else None
        if a and b and a[2] == a[3] and int(b[2]) <= int(a[2]):
            fixed[a[1]] = int(a[2])
            ranges |= {line, b[0]}
    usual, quick = ([x for x in lines if x not in ranges] for lines in (usual, quick))
    return at_samples(usual, [fixed] * 3), at_samples(quick, [fixed] * 3)


# In the order in which they are looked for.
EXPLAINED: dict[str, Change] = {
    "torch.export asks whether a size is 1, and takes the example's answer for a guard; "
    "fake-tensor tracing needs none, so that its range begins earlier": _without_narrower,
    "a range belongs to a number that no call has": _without_ranges_of_none,
    "of a result that nothing reads torch.export asks the size, which is arithmetic": (
        _without_unread_names
    ),
    "torch.export drops constants that nothing reads": _without_unread_constants,
    "torch.export writes a buffer to itself": _without_own_copies,
    "what a loop's bodies write to they say themselves, and a region without calls does nothing": (
        _without_what_bodies_say
    ),
    "in bodies torch.export says of slices from nowhere that they begin at 0": _without_starts,
    "torch.export leaves marks of autocast around control flow as they are": (
        _with_marks_of_autocast
    ),
    "a constant that only a body reads torch.export declares behind the inputs": (
        _with_constants_as_read
    ),
    "contiguous() copies for all sizes what it copies for some; torch.export takes the example's "
    "answer for a guard": _without_copies_of_rows,
    "torch.export fixes a size that fake-tensor tracing keeps symbolic": _at_fixed_numbers,
    "a size is said in other words": _at_numbers,
    "fake-tensor tracing does not know how samples of torch.vmap lie in memory: it says in rows, "
    "and "
    "declines writes to them": _without_samples_layouts,
}

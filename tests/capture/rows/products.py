"""Calls of products, of what looks elements up, and of networks."""

from __future__ import annotations

import itertools
from typing import Any

import torch

from .said import ALONE, DTYPES, INT, B, Calls, D, F, S, T, call, typed


def linear() -> Calls:
    for dtype, other in itertools.product(DTYPES, (F, torch.float64, torch.float16)):
        yield call(T("454", dtype), T("34", other))
    weights = (T("34"), T("34", order="10"), T("bc"), T("4"), T("34", step=2))
    inputs = (T("ab4"), T("b4"), T("4"), T("4ab", order="120"), T("ac"), T("a5"), T("a0"), T("0b4"))
    inputs = (*inputs, T("a4b", order="021"), T("ab4", order="102"), T("ab4", spread="1"), T(""))
    for tensor, weight in itertools.product(inputs, weights):
        yield from (call(tensor, weight), call(tensor, weight, None))
        yield from (call(tensor, weight, bias) for bias in (T("3"), T(""), T("b"), T("3", D)))
        yield from (call(tensor, weight, bias) for bias in (T("13"), T("3", step=2), T("5")))


def addmm() -> Calls:
    for a, b in itertools.product(DTYPES, (F, torch.float64, torch.int64, torch.complex64)):
        yield from (
            call(T("3", a), T("54", b), T("43", b)),
            call(T("3", b), T("54", a), T("43", b)),
        )
    for own, one, other in itertools.product(
        (T("3"), T("b3"), T("b3", order="10"), T(""), T("1"), T("13"), T("b1"), T("ab3"), T("c3")),
        (T("b4"), T("b4", order="10"), T("4"), T("b0"), T("bc")),
        (T("43"), T("43", order="10"), T("03"), T("cb")),
    ):
        yield call(own, one, other)
    yield from (call(T("3"), T("b4"), T("43"), beta=n, alpha=m) for n in (0, 2.5) for m in (1, 2j))


def multiplied() -> Calls:
    for a, b in itertools.product(DTYPES, DTYPES):
        yield call(T("454", a), T("45", b))
    tensors = (
        *(T("a4"), T("4a"), T("4"), T(""), T("ab4"), T("a4b"), T("4a", order="10"), T("44")),
        *(T("a4b", order="021"), T("c1a4"), T("1b4a"), T("1b4a", order="0132"), T("a34b")),
        *(T("ab4", order="102"), T("a2b4", order="0213"), T("14a"), T("a14", spread="0"), T("40")),
        *(T("ab4", spread="0"), T("0b4"), T("a4", step=2)),
    )
    yield from itertools.starmap(call, itertools.product(tensors, tensors))


def stacks_multiplied() -> Calls:
    for a, b in itertools.product(DTYPES, DTYPES):
        yield call(T("245", a), T("254", b))
    tensors = (
        *(T("ab4"), T("a4b"), T("4bc"), T("4cb"), T("ab4", order="021"), T("a4b", order="102")),
        *(T("14b"), T("1b4", spread="0"), T("a40"), T("0b4"), T("4b"), T("a4b", step=2), T("144")),
    )
    yield from itertools.starmap(call, itertools.product(tensors, tensors))


def compared() -> Calls:
    for a, b in itertools.product(DTYPES, (F, torch.float64)):
        yield call(T("54", a), T("34", b))
    tensors = (
        *(T("a4"), T("b4"), T("5b"), T("4"), T("ab4"), T("1b4"), T("c54"), T("a4", order="10")),
        *(T("ab4", order="102"), T("04"), T("50"), T("2154", spread="0"), T("a4", step=2)),
    )
    for one, other in itertools.product(tensors, tensors):
        yield from (call(one, other), call(one, other, 2.0, 2), call(one, other, 1.0))


def convolved() -> Calls:
    for a, b in itertools.product(DTYPES, (F, torch.float16)):
        yield call(T("a4bc", a), T("6433", b))
        yield call(T("a4b", a), T("643", b))
    images = (
        *(T("a4bc"), T("24bb"), T("a4b7"), T("4bc"), T("a4bc", order="0231"), T("a499"), T("a5bc")),
        T("a411", order="0231"),
        *(T("a4bc", order="0132"), T("a411"), T("04bc"), T("a4bc", step=2), T("14bc", spread="0")),
    )
    options = ((), ([2, 2], [1, 1]), ([1, 2], [0, 3], [2, 1]), ([4], [3]))
    for image, option in itertools.product(images, options):
        yield call(image, T("6433"), None, *option)
        yield call(image, T("6433"), T("6"), *option)
    yield from (call(T("a4bc"), T("6411"), T(bias)) for bias in ("6", "5", "1", "16"))
    for weight in (T("6411", order="0231"), T("6433", order="0231"), T("643b"), T("6433", D)):
        yield call(T("a4bc"), weight)
    yield from (call(T("a4bc"), T("4133"), None, [1], [1], [1], groups) for groups in (1, 2, 4))
    yield from (call(T("a1bc"), T("6133")), call(T("a111"), T("6111")), call(T("a1b1"), T("6131")))
    for line in (T("a4b"), T("4b"), T("a4b", order="021"), T("a49")):
        yield from (call(line, T("645"), None, [2], [2]), call(line, T("645"), T("6"), [3]))
    for volume in (T("a4bc5"), T("a4bc5", order="02341"), T("4bc5")):
        yield from (call(volume, T("64333"), T("6"), [1, 2, 2], [1]), call(volume, T("64111")))


_IMAGES = (
    *(T("a4b"), T("ab4", order="021"), T("a4"), T("14b"), T("a1b"), T("04b")),
    *(T("a4bc"), T("24bb"), T("a4bc", order="0231"), T("a499"), T("a411"), T("a1bc")),
    *(T("a411", order="0231"), T("a1bc", order="0231"), T("a4bc", order="0132"), T("04bc")),
    *(T("a4bc", step=2), T("14bc", spread="0"), T("abc4"), T("a4bc5"), T("a4b0")),
    *(T("a4bc5", order="02341"), T("a4b3c"), T("14b3c", spread="0"), T("")),
    *(T("a1b6", order="0321"), T("a4bc", order="0321"), T("abc4", order="0312")),
)


def resized() -> Calls:
    yield from (call(T("a4bc", dtype), [7, 5], None) for dtype in DTYPES)
    for image in _IMAGES:
        for sizes in ([3], [S("c", 1)], [7, 5], [S("b"), 8], [S("bc"), 0], [2, 3, S("b", 1)]):
            yield call(image, list(sizes), None)
        for factors in ([2.0], [1.5], [2.0, 2.0], [0.5, 1.25], [0.1, 1.0], [2.0, 0.5, 1.5]):
            yield call(image, None, list(factors))
        yield from (call(image, None, None), call(image, [3, 3], [1.0, 1.0]))


def interpolated() -> Calls:
    for (image, sizes, factors), _ in resized():
        yield from (call(image, sizes, aligned, factors) for aligned in (False, True))


def normalized_in_batches() -> Calls:
    def factors(*tensors: T | None) -> tuple[Any, ...]:
        return (*tensors, False, 0.1, 1e-5, True)

    four = T("4")
    for a, b in itertools.product(DTYPES, (F, D, torch.float16)):
        yield call(T("a4bc", a), *factors(T("4", b), T("4", b), T("4", b), T("4", b)))
    for image in _IMAGES:
        yield from (call(image, *factors(*[T(sizes)] * 4)) for sizes in ("4", "1", "3"))
        yield call(image, *factors(None, None, four, four))
        yield call(image, *factors(None, four, four, four))
        yield call(image, *factors(four, four, None, None))
        yield call(image, four, four, four, four, True, 0.1, 1e-5, True)


def pooled() -> Calls:
    for dtype in DTYPES:
        yield call(T("a4bc", dtype), [2, 2])
    images = (
        *(T("a4bc"), T("a4bb"), T("4bc"), T("a4bc", order="0231"), T("a499"), T("a411"), T("04bc")),
        *(T("a4bc", step=2), T("14bc", spread="0"), T("a4b"), T("a4bcb"), T("a4c"), T("a499b")),
        T("abcb", order="0231"),
    )
    options = ([2], [3], [0]), ([3], [2], [1]), ([2], [3], [1]), ([1], [3], []), ([3], [], [])
    for image in images:
        axes = len(image.sizes) - 2
        for ceil_mode, (kernel, stride, padding) in itertools.product((False, True), options):
            yield call(image, kernel * axes, stride, padding or [0] * axes, ceil_mode=ceil_mode)


def maxima() -> Calls:
    yield from pooled()
    for image in (T("a4bc"), T("a4b"), T("a4bcb")):
        axes = len(image.sizes) - 2
        yield from (call(image, [2] * axes, [3], [1], [2], ceil) for ceil in (False, True))


def unfolded() -> Calls:
    for dtype in DTYPES:
        yield call(T("a4bc", dtype), [2, 2], [1, 1], [0, 0], [2, 2])
    images = (
        *(T("a4bc"), T("24bb"), T("4bc"), T("a4bc", order="0231"), T("a499"), T("a411"), T("04bc")),
        *(T("a4bc", step=2), T("14bc", spread="0"), T("acbc"), T("bc")),
    )
    options = (
        ([2, 2], [1, 1], [0, 0], [2, 2]),
        ([3, 1], [2, 1], [1, 0], [1, 1]),
        ([2], [1], [0], [1]),
    )
    yield from (call(image, *option) for image in images for option in options)


def folded() -> Calls:
    for dtype in DTYPES:
        yield call(T("a84", dtype), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1])
    blocks = (
        *(
            T("a84"),
            T("84"),
            T("284"),
            T("a84", order="021"),
            T("a74"),
            T("a8b"),
            T("a81"),
            T("084"),
        ),
        *(T("a84", step=2), T("184", spread="0"), T("ab4")),
    )
    for each in blocks:
        yield call(each, [3, 3], [2, 2], [1, 1], [0, 0], [1, 1])
        yield call(each, [4, 4], [2, 2], [1, 1], [0, 0], [2, 2])
        yield call(each, [2, 2], [2, 2], [1, 1], [0, 0], [2, 2])


def contracted() -> Calls:
    pairs = {
        "bcxd,bcyd->bcxy": (T("abc4"), T("ab54"), T("abc4", order="0213"), T("a154"), T("1bc4")),
        "bcxd,bcyd->bcyx": (T("abc1"), T("1b41"), T("abc1", order="0213"), T("ab51")),
        "bij,bjk->bik": (T("ab4"), T("a45"), T("a4b", order="021"), T("4ab"), T("014"), T("a1b")),
        "ij,kj->ki": (T("ab"), T("cb"), T("4b"), T("b4", order="10"), T("1b")),
        "bqhd,bkhd->bhqk": (T("ab45"), T("ac45"), T("a345")),
        "ij,jk->ik": (T("ab"), T("bc"), T("45"), T("53")),
        "ijx,kjy->kixy": (T("ab4"), T("cb5")),
        "ijx,kjy->xkyi": (T("ab4"), T("cb5"), T("4b4")),
        "ijxz,kjyz->xzkyi": (T("ab43"), T("cb53"), T("4b4c")),
        "ijxz,kjyz->ykzxi": (T("ab43"), T("cb53")),
        "ij,jk->k": (T("ab"), T("bc")),
        "ij,ij->": (T("ab"), T("45")),
        "ij, ij -> ij": (T("ab"), T("45")),
        "...ij,jk->...ik": (T("ab4"), T("45")),
        "...qhd,...khd->...hqk": (T("ab45"), T("ac45"), T("cab45"), T("a145")),
        "...ij,...jk->...ik": (T("ab4"), T("a4c"), T("4b"), T("ca4b"), T("cb4a")),
        "ii,ij->j": (T("44"), T("45")),
        "ij,jk": (T("ab"), T("b4")),
        "ij,k->i": (T("ab"), T("4")),
        "bij,bkj->bji": (T("ab4"),),
    }
    for equation, tensors in pairs.items():
        for one, other in itertools.product(tensors, tensors):
            yield call(equation, [one, other])
    for a, b in itertools.product(DTYPES, DTYPES):
        yield call("ij,jk->ik", [T("a4", a), T("45", b)])
    yield from (call("ij,jk,kl->il", [T("ab"), T("bc"), T("c4")]), call("ij->ji", [T("ab")]))


def embedded() -> Calls:
    for dtype in DTYPES:
        yield from (call(T("94"), T("45", dtype)), call(T("94", dtype), T("45", INT)))
    for tensor in ALONE:
        for weight in (T("94"), T("94", order="10"), T("b4"), T("4"), T("944")):
            yield call(weight, typed(tensor, INT), -1, False, False)
    yield call(T("94"), T("ab", INT), 2, True, True)


def differences() -> Calls:
    for tensor, axis in itertools.product((*ALONE, T("5b")), (0, -1, 2)):
        yield from (call(tensor, n, axis) for n in (1, 0, 2))
        yield call(tensor, 1, axis, T("a1"))
    yield from (call(T("45", dtype)) for dtype in DTYPES)
    yield from (call(T("45", d), 1, -1, T("a1", e)) for d in (F, INT, B) for e in (F, INT, B))
    yield from (
        call(T("ab", INT), 1, 1, T("a1", INT), T("a2", INT)),
        call(T("ab"), 1, 1, None, T("a1")),
    )
    yield from (call(T("1"), 1, 0), call(T("a1")), call(T("ab", INT), 1, -1, T("a1", INT)))


def indexed() -> Calls:
    for dtype in DTYPES:
        yield from (call(T("55"), [T("4", dtype)]), call(T("55", dtype), [T("4", INT)]))
    own = (T("54"), T("54", order="10"), T("5b4"), T("b54", order="102"), T("ab5", order="210"))
    lists: tuple[list[Any], ...] = (
        *(
            [T("a", INT)],
            [T("ab", INT)],
            [T("ab", INT, "10")],
            [T("a", INT), T("a", INT)],
            [T("", INT)],
        ),
        *([T("a1", INT), T("1b", INT)], [None, T("a", INT)], [T("a", INT), None], [None], []),
        *(
            [T("a", INT), None, T("a", INT)],
            [None, T("a", INT), T("b1", INT)],
            [T("a", torch.int32)],
        ),
        *([T("a", INT), T("", INT)], [T("ab", INT, "10"), T("ab", INT, "10")], [T("0", INT)]),
        *([T("ab", INT), T("b", INT), T("ab", INT)], [T("a", INT)] * 4, [T("a", INT, step=2)]),
        *([T("ab", INT, spread="0"), T("ab", INT)], [T("a1", INT, "10")], [T("a", torch.uint8)]),
        [T("ab", INT, "10"), T("ab", torch.int32)],
    )
    yield from itertools.starmap(call, itertools.product(own, lists))


def gathered() -> Calls:
    for dtype in DTYPES:
        yield from (call(T("55"), 0, T("45", dtype)), call(T("55", dtype), 0, T("45", INT)))
    for index in (
        T("ab", INT, "10"),
        T("a", INT),
        T("", INT),
        T("0b", INT),
        T("2b", INT),
        T("cb", INT),
    ):
        for own, axis in itertools.product(
            (T("5b"), T("5b", order="10"), T("5"), T("")), (0, 1, -1)
        ):
            yield call(own, axis, index)


def meant() -> Calls:
    for dtype, other in itertools.product(DTYPES, (*DTYPES, None)):
        yield call(T("45", dtype), [1], True, dtype=other)
    axes = ([0], [-1], [0, 1], [-1, -2], [1, -1], [], None, [0, 0], [2], [9])
    for tensor, some, keeps in itertools.product(ALONE, axes, (True, False)):
        yield call(tensor, some, keeps)


def largest() -> Calls:
    for dtype in DTYPES:
        yield from (call(T("45", dtype), 2), call(T("", dtype), 1))
    for tensor, count in itertools.product(ALONE, (1, 2, 0, 3, 9, -1, S("a"))):
        yield from (call(tensor, count), call(tensor, count, 0, False), call(tensor, count, 1))


def softmax() -> Calls:
    for dtype, other in itertools.product(DTYPES, (*DTYPES, None)):
        yield call(T("45", dtype), -1, other)
    yield from (call(tensor, axis) for tensor in ALONE for axis in (0, -1, 2, -5))


def normalized() -> Calls:
    for dtype, other in itertools.product(DTYPES, (None, *DTYPES)):
        weight = other and T("4", other)
        yield call(T("454", dtype), [4], weight, weight)
    for tensor in (T("ab4", order="102"), T("a4b", order="021"), T("b4", step=2), T("4"), T("04")):
        yield from (call(tensor, sizes) for sizes in ([4], [S("b"), 4], [], [5]))
    tensor = T("ab4", order="102")
    yield from (call(tensor, [4], T("4"), T("4"), 1e-5, False), call(T("ab4"), [4], T("3")))
    yield from (
        call(T("a4b"), [S("b")]),
        call(T("ab4"), [4], T("4"), None),
        call(T("ab4"), [S("b")]),
    )
    yield from (call(T("ab4"), [4], T("4"), T("4", D)), call(T("ab4"), [4], None, T("4")))


def normalized_in_groups() -> Calls:
    for dtype, other in itertools.product(DTYPES, (None, *DTYPES)):
        weight = other and T("4", other)
        yield call(T("245", dtype), 2, weight, weight)
    for tensor in (T("a4b"), T("a4bc"), T("a4bc", order="0231"), T("a4b", order="021"), T("a4")):
        yield from (call(tensor, groups) for groups in (1, 2, 3, 4))
    yield from (call(T("a4b"), 2, T("4"), None), call(T("a4b"), 2, T("3"), T("4")))
    yield from (call(T("ab4"), 2), call(T("04b"), 2), call(T("a0b"), 2), call(T("4"), 2))
    yield call(T("a4b", step=2), 4, T("4"), T("4"), 1e-5, False)


def dropped() -> Calls:
    for p, train in itertools.product((0.0, 0.5, 1.0, 2.0), (True, False)):
        yield from (call(tensor, p, train) for tensor in ALONE)
    yield from (call(T("45", dtype), 0.5, False) for dtype in DTYPES)


def attended() -> Calls:
    for dtype in DTYPES:
        yield from (call(T("4258", dtype), T("4268"), T("4268")), call(*[T("4258", dtype)] * 3))
        yield call(T("4258"), T("4268"), T("4268"), T("56", dtype))
    own = (
        T("a2b8"),
        T("a2b8", order="0213"),
        T("a2b8", order="0132"),
        T("a2b4"),
        T("a4b8"),
        T("ab8"),
    )
    other = (T("a2c8"), T("a2c8", order="0213"), T("a2c8", order="0132"), T("a2c4"), T("12c8"))
    for query, key, value in itertools.product(own, other, other):
        yield call(query, key, value)
    masks = (
        T("bc"),
        T("a1bc"),
        T("11bc"),
        T("a2bc"),
        T("a11c"),
        T("c"),
        T("2bc"),
        T("cb"),
        T("1111"),
    )
    for mask, dtype in itertools.product((*masks, T("a1bc", spread="2")), (F, B, D)):
        yield call(own[0], other[0], other[0], typed(mask, dtype))
        yield call(own[1], other[1], other[1], typed(mask, dtype))
    for more in ({"scale": 0.5}, {"enable_gqa": True}, {"is_causal": True}, {"dropout_p": 0.5}):
        yield from (call(own[n], other[0], other[0], **more) for n in (0, 1, 4))


def grids() -> Calls:
    thetas = (T("a23"), T("a23", order="021"), T("a34"), T("b23"), T("23"), T("a33"), T("123"))
    sizes = (
        [S("a"), 3, S("b"), S("c")], [S("a"), 3, 5, 4], [S("a"), 2, S("b"), 4, S("c")],
        [S("a"), S("b"), S("c")], [1, 3, S("b"), S("c")],
    )  # fmt: skip
    for theta, size, aligns in itertools.product(thetas, sizes, (True, False)):
        yield call(theta, size, aligns)
    for dtype in DTYPES:
        yield call(T("a23", dtype), [S("a"), 3, S("b"), 4], False)

"""What transformers does otherwise while a program is captured, and models without data run."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any
from unittest import mock

from .probing import MissingError, Probe, has, lookup

_ASKED = "_ignore_bidirectional_mask_sdpa"
_COMPILING = "is_torchdynamo_compiling"
# The arguments of that function, _ASKED, that mask anything.
_MASKED_BY = ("padding_mask", "local_attention_size")


def _asks_what_masks() -> None:
    asked = inspect.signature(lookup("masking_utils", _ASKED)).parameters
    if missing := [name for name in _MASKED_BY if name not in asked]:
        raise MissingError(f"transformers.masking_utils.{_ASKED} takes no {', '.join(missing)}")


MASKS = Probe("encoders without a mask where none is given", _asks_what_masks)
NOTHING_KEPT = Probe("runs without data that keep nothing", has("pytorch_utils", _COMPILING))


@contextlib.contextmanager
def no_mask_where_none_given() -> Iterator[None]:
    """Within it, attention in both directions has no mask where it is given none.

    Where nothing is padded, an encoder's attention has no mask in eager PyTorch. While it is
    captured, transformers makes one of all that may be looked at, since it may not look at what a
    mask holds. Where there is no mask at all, there is nothing to look at, and layers that go by
    the length of the first mask (Informer's, whose states get fewer from layer to layer) would not
    run with one.
    """
    if not MASKS.available:
        yield
        return
    former = lookup("masking_utils", _ASKED)
    signature = inspect.signature(former)

    def ignored(*args: Any, **kwargs: Any) -> bool:
        given = signature.bind(*args, **kwargs).arguments
        if all(given.get(name) is None for name in _MASKED_BY):
            return True
        return bool(former(*args, **kwargs))

    with mock.patch.object(lookup("masking_utils"), _ASKED, ignored):
        yield


@contextlib.contextmanager
def nothing_kept() -> Iterator[None]:
    """Within it, methods that cache results, such as a detector's anchors by image size, do not.

    They ask whether PyTorch is compiling, and the answer is yes. So they keep no tensor without
    data.
    """
    if not NOTHING_KEPT.available:
        yield
        return
    with mock.patch.object(lookup("pytorch_utils"), _COMPILING, _yes):
        yield


def _yes() -> bool:
    return True

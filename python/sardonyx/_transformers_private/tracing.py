"""What transformers does otherwise while a program is captured, and models without data run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from .probing import Probe, has, lookup

_ASKED = "_ignore_bidirectional_mask_sdpa"
_COMPILING = "is_torchdynamo_compiling"
MASKS = Probe("encoders without a mask where none is given", has("masking_utils", _ASKED))
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

    def ignored(
        padding_mask: Any, kv_length: Any, local_attention_size: Any = None, *more: Any
    ) -> bool:
        if padding_mask is None and local_attention_size is None:
            return True
        return bool(former(padding_mask, kv_length, local_attention_size, *more))

    with mock.patch.object(lookup("masking_utils"), _ASKED, ignored):
        yield


@contextlib.contextmanager
def nothing_kept() -> Iterator[None]:
    """Within it, methods that keep what they made (the anchors of a detector, by the image's size)
    keep nothing that has no data: they are told what they ask, whether to keep it."""
    if not NOTHING_KEPT.available:
        yield
        return
    with mock.patch.object(lookup("pytorch_utils"), _COMPILING, _yes):
        yield


def _yes() -> bool:
    return True

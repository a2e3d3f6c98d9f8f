"""Masks that hide nothing, which transformers makes only while a program is captured.

Where nothing is padded, an encoder's attention has no mask in eager PyTorch. While it is captured,
transformers makes one of all that may be looked at, since it may not look at what a mask holds.
Where there is no mask at all, there is nothing to look at, and layers that go by the length of the
first mask (Informer's, whose states get fewer from layer to layer) would not run with one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from sardonyx._capture.replaced import Replacement, replaced

# Asked whether an encoder's attention goes without a mask.
_ASKED = "_ignore_bidirectional_mask_sdpa"


@contextlib.contextmanager
def none_where_none_given() -> Iterator[None]:
    """Within it, attention in both directions has no mask where it is given none."""
    try:
        from transformers import masking_utils
    except ImportError:
        yield
        return
    former = getattr(masking_utils, _ASKED, None)
    if former is None:
        yield
        return

    def ignored(
        padding_mask: Any, kv_length: Any, local_attention_size: Any = None, *more: Any
    ) -> bool:
        if padding_mask is None and local_attention_size is None:
            return True
        return bool(former(padding_mask, kv_length, local_attention_size, *more))

    with replaced([Replacement(masking_utils, _ASKED, ignored)]):
        yield

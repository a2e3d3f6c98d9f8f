"""What older opsets cannot express: the causes for which node models are refused.

A refusal for another cause is a fault: the model became inexpressible, or never was.
"""

from __future__ import annotations

import re

NARROW = r"(u?int[24]|float4_e2m1fn|float8_\w+)"
CAUSES = [
    # Types that the opset lacks.
    rf"in opset \d+ \w+ (takes|gives) no {NARROW}",
    r"no attribute saturate of Cast",  # came with float8
    r"in opset \d+ Equal takes no string",
    r"in opset \d+ Identity takes no sequence of float32",
    r"in opset \d+ \w+ (takes|gives) no optional of what is no tensor",
    r"no operator Optional(GetElement|HasElement)?$",
    # Operators on strings and files, of which older opsets have none.
    r"no operator (ImageDecoder|RegexFullMatch|StringConcat|StringSplit)$",
    # The bits of real numbers.
    r"no operator BitCast$",
    # Definitions that need sizes which these models compute.
    r"no operator Col2Im$",
    r"no antialiased Resize$",
    r"no attribute allowzero of Reshape$",
    # Not decomposed.
    r"no operator (STFT|MelWeightMatrix)$",
    r"no keep_aspect_ratio_policy of Resize$",
    r"no RoiAlign with half_pixel coordinates$",
    r"Scan of opset 8 runs over batches of sequences",
]
MESSAGE = re.compile(r"error\[SX1504\]: (.*)")


def is_expected(detail: str) -> bool:
    """Whether each cause of a refusal is one of these."""
    messages = MESSAGE.findall(detail)
    return bool(messages) and all(
        any(re.search(cause, message) for cause in CAUSES) for message in messages
    )

"""The builds of PyTorch in which all of our tests compared fake-tensor tracing with torch.export.
Written by tools/record_verified_torch.py; do not edit."""

from __future__ import annotations

# By the commit that PyTorch was built of, its release.
VERIFIED: dict[str, str] = {
    "cf30153c4c131c8164ee7798e5022d810682e2cb": "2.13.0",
    "d0f2af8b66b20da4baa50644c0cd3f887a2eae2e": "2.15.0",
}

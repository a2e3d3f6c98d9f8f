// Rotary embeddings as programs spell them out.
#pragma once

#include <optional>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// x * cosine + turn(x) * sine, where turn() puts -second, first for the halves of the last axis, or
// -odd, even for each pair of neighbors in it.
struct Rotation {
  onnx::ValueInfo *x, *cosine, *sine;
  bool interleaved;  // neighbors
  // Where halves change places without a sign, which `sine`, Concat(Neg(s), s), has: s.
  onnx::ValueInfo* half_sine = nullptr;
  bool by_halves = false;  // the tables have each angle once
};

// That of four axes which the Add computes, or the Concat of first * cosine - second * sine and
// second * cosine + first * sine; nothing where it is none, or parts of it
// are read elsewhere, too.
std::optional<Rotation> rotation_of(const onnx::Node* last);

}  // namespace sardonyx::passes

// What a Pad puts round its input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx/graph/ir.h"

namespace sardonyx::passes {

// How wide, for every axis: all begins, then all ends. Nothing where a width or the rank is not
// known.
std::optional<std::vector<std::int64_t>> padding_of(const onnx::Node* pad);

// What it fills with, where that is one known number.
std::optional<double> fill_of(const onnx::Node* pad);

// The widths of the axes of an image, which come third; nothing where others are padded, or one is
// cut.
std::optional<std::vector<std::int64_t>> image_padding_of(const onnx::Node* pad);

// These beside the `pads` of a convolution or pooling; nothing where those are of another rank.
std::optional<std::vector<std::int64_t>> with_own_pads(const onnx::Node* node,
                                                       std::vector<std::int64_t> pads);

}  // namespace sardonyx::passes

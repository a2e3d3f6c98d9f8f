// Where factors for the channels of a value can come from: constants before it that everything up
// to the value passes on, channel by channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "onnx/graph/ir.h"
#include "quantization/placement.h"

namespace sardonyx::quantization {

// A constant that takes the factors of channels along its axis.
struct ScaledConstant {
  onnx::Node* node;
  std::size_t input;
  std::int64_t axis;
};

struct ChannelPath {
  std::vector<ScaledConstant> constants;
  const Layer* layer = nullptr;  // the product whose weight is among them, if there is one
  bool from_normalization = false;
};

class ChannelPaths {
 public:
  explicit ChannelPaths(const std::vector<Layer>& layers);

  // The constants to divide by positive factors, so that the value is divided by them along its
  // axis and nothing else changes; no constants where there are none such.
  ChannelPath find(const onnx::ValueInfo* value, std::int64_t axis) const;

 private:
  bool follow(const onnx::ValueInfo* value, std::int64_t axis, ChannelPath& path) const;
  bool follow_only_use(const onnx::ValueInfo* value, std::int64_t axis, ChannelPath& path) const;
  bool end_in_layer(const Layer& layer, std::int64_t axis, ChannelPath& path) const;
  bool pass_sum(onnx::Node* node, std::int64_t axis, ChannelPath& path) const;
  bool pass_product(onnx::Node* node, std::int64_t axis, ChannelPath& path) const;

  std::map<const onnx::Node*, const Layer*> layers_;
};

// Whether a value is a constant of float32 whose elements may be replaced.
bool is_plain_constant(const onnx::ValueInfo* value);

}  // namespace sardonyx::quantization

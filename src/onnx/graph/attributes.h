// Attribute values as the generated structs take them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sardonyx::onnx {

// A list of integers that may be absent, as an attribute: `.pads = {0, 1}`, `.axes = axes`.
class Ints {
 public:
  Ints() = default;
  Ints(std::initializer_list<std::int64_t> values)  // NOLINT(google-explicit-constructor)
      : values_(std::in_place, values) {}
  Ints(std::vector<std::int64_t> values)  // NOLINT(google-explicit-constructor)
      : values_(std::move(values)) {}
  Ints(std::span<const std::int64_t> values)  // NOLINT(google-explicit-constructor)
      : values_(std::in_place, values.begin(), values.end()) {}

  bool given() const { return values_.has_value(); }
  const std::vector<std::int64_t>& values() const { return *values_; }

 private:
  std::optional<std::vector<std::int64_t>> values_;
};

}  // namespace sardonyx::onnx

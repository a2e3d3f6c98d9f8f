// Runs of elements from one type to another, by the instructions of the processor that the program
// runs on. The bytes are those of kernels/element.h on every processor.
#pragma once

#include <cstddef>
#include <span>

#include "base/dtype.h"

namespace sardonyx::kernels {

// All of these take real element types of a byte and more. Bytes may lie unaligned; those that are
// written do not overlap those that are read.

// Whether every number of the type is one of float32.
bool is_exact_in_float(base::DType dtype);

// Numbers that float32 does not have are rounded.
void to_floats(base::DType from, const std::byte* data, std::span<float> values);
void to_doubles(base::DType from, const std::byte* data, std::span<double> values);
void from_floats(base::DType to, std::span<const float> values, std::byte* data);
void from_doubles(base::DType to, std::span<const double> values, std::byte* data);

void cast(base::DType from, const std::byte* data, base::DType to, std::byte* result,
          std::size_t count);

}  // namespace sardonyx::kernels

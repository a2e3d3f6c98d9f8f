// One element of a tensor, to and from its bytes; conversions round as PyTorch does. What the
// vectorized kernels give is what these give, element by element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/dtype.h"

namespace sardonyx::kernels {

double load_real(base::DType dtype, const std::byte* at);
void store_real(base::DType dtype, double value, std::byte* at);
std::int64_t load_int(base::DType dtype, const std::byte* at);
void store_int(base::DType dtype, std::int64_t value, std::byte* at);

// Past the range of int64 the conversion is undefined in C++; PyTorch gives what x86 gives.
std::int64_t truncated(double value);

}  // namespace sardonyx::kernels

// The limits of rules that depend on how quick a runtime is: each target has its own.
#pragma once

#include <cstdint>

namespace sardonyx::rewriting {

struct Tuning {
  // Two dense layers of a tensor become Gemm of its rows where it has at least this many rows for
  // each element of its batch, each at most this long; a length of 0 is never.
  std::int64_t min_gemm_rows = 1;
  std::int64_t max_gemm_row_length = 0;
};

}  // namespace sardonyx::rewriting

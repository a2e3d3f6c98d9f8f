// Tensors of checkpoints: described with the places of their bytes, which are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"

namespace sardonyx::checkpoints {

// A file that is invalid, truncated or missing.
inline constexpr const char* kDamaged = "SX2005";
// What helps then.
inline constexpr const char* kCopyAgain = "download or copy the checkpoint again";

// Bytes of a file, from its beginning.
struct Extent {
  std::uint64_t offset = 0, length = 0;
};

// A tensor that lies in a file, row by row.
struct TensorInFile {
  std::string name;
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> dims;
  Extent extent;
};

std::string in_quotes(std::string_view name);

// The number of elements; nothing where it is beyond 62 bits. A tensor without dims has one.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> dims);

// A name that is printable UTF-8 of a length that a message can have.
bool is_name(std::string_view name);

// Throws SX2005 where a file of `size` bytes ends before one of the extents does: the file is cut
// short.
void check_inside(const std::string& path, std::uint64_t size, std::span<const Extent> extents);

// A name and where its bytes lie.
struct NamedExtent {
  std::string_view name;
  Extent extent;
};
// What is wrong with tensors of one file: two of one name, or two that share bytes; empty where
// nothing is. Tensors without bytes lie nowhere.
std::string conflict(std::vector<NamedExtent> tensors);

}  // namespace sardonyx::checkpoints

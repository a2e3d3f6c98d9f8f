// New files of tensors that a checkpoint has in pieces, with a few megabytes in memory.
#pragma once

#include <cstdint>
#include <string>

#include "frontends/checkpoints/distributed.h"

namespace sardonyx::checkpoints {

// A tensor put together of its pieces, row by row; returns the bytes of the file. Throws SX1601
// where it cannot be written, and as locate_pieces(). Files that are cut short meanwhile are found
// by base::check_not_cut_short().
std::int64_t write_joined(const std::string& folder, const DistributedTensor& tensor,
                          const std::string& path);

}  // namespace sardonyx::checkpoints

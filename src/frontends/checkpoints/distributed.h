// Checkpoints of torch.distributed: a folder with `.metadata`, a pickle, and files in which every
// piece of a tensor is an archive of torch.save().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "frontends/checkpoints/tensor_in_file.h"

namespace sardonyx::checkpoints {

// A box of a tensor's elements, and the archive that holds them.
struct Piece {
  std::vector<std::int64_t> offsets, sizes;
  std::string file;  // in the checkpoint's folder
  Extent extent;
};

struct DistributedTensor {
  std::string name;
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> dims;
  std::vector<Piece> pieces;  // disjoint, and all elements are in one
};

// The tensors, by name. `path` is for messages. Throws SX2005 where the bytes are no metadata, or
// the pieces of a tensor are not the whole of it; each tensor that is compressed, in no file or
// outside of the folder is listed.
std::vector<DistributedTensor> parse_distributed(std::span<const std::byte> metadata,
                                                 const std::string& path);
// Throws SX2005 for every file that is missing or cut short, too.
std::vector<DistributedTensor> read_distributed(const std::string& folder);

// Where the elements of a piece lie in its file.
struct StridedPlace {
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> dims, strides;  // in elements
  Extent extent;                            // from the first element to the end of the last
};
// Throws SX2005 where the extent of the file is no tensor of the piece's sizes.
StridedPlace locate_piece(std::span<const std::byte> file, const std::string& path,
                          const std::string& tensor, const Piece& piece);

// For all pieces of a tensor of a folder.
std::vector<StridedPlace> locate_pieces(const std::string& folder, const DistributedTensor& tensor);

}  // namespace sardonyx::checkpoints

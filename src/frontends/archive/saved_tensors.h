// Tensors as torch.save() writes them: described, with the entries of the archive that hold them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dtype.h"
#include "frontends/archive/zip.h"

namespace sardonyx::archive {

// A tensor as a file describes it: a view of one of its storages.
struct StoredTensor {
  base::DType dtype = base::DType::kUndefined;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;  // in elements
  std::string storage;      // the entry that holds the bytes
  bool pickled = false;     // `storage` is an archive that torch.save() made of this tensor alone
  std::string unsupported;  // why it has no plain bytes; empty mostly
};

// Tensors by their qualified names, with the archive that holds their bytes.
struct TensorTable {
  std::shared_ptr<const ZipReader> archive;
  std::unordered_map<std::string, StoredTensor> tensors;
};

// What torch.save() wrote of a dictionary of tensors: an archive of its own (up to PyTorch 2.9).
TensorTable read_state_dict(Bytes archive);
// The same of a single tensor, under `name`.
TensorTable read_saved_tensor(Bytes archive, const std::string& name);

}  // namespace sardonyx::archive

// Parameters, buffers and constants of a saved program, borrowed from the mapped file.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontends/archive/saved_tensors.h"
#include "frontends/archive/zip.h"
#include "program/ir/program.h"

namespace sardonyx::pt2 {

using archive::Bytes;
using archive::printable;
using archive::read_saved_tensor;
using archive::read_state_dict;
using archive::StoredTensor;
using archive::TensorTable;
using archive::ZipEntry;
using archive::ZipReader;

// data/weights/model_weights_config.json: raw bytes, one entry a storage (PyTorch 2.10 on).
// `folder` is where the entries are, with a slash at the end.
TensorTable read_payload_config(std::shared_ptr<const ZipReader> archive, const ZipEntry& config,
                                const std::string& folder);

class Weights {
 public:
  explicit Weights(program::Program& program) : program_(program) {}

  // Tables are searched in the order they were added.
  void add_table(TensorTable table) { tables_.push_back({std::move(table), {}}); }

  // Throws SX1107 when no table has it, SX1108 when it reaches outside of its storage, SX1222 when
  // it has no plain bytes. Tensors of one storage share a Storage.
  const program::Weight* add(std::string_view name);

 private:
  struct Table {
    TensorTable contents;
    std::unordered_map<std::string, program::Storage*> storages;
  };
  const program::Weight* add_from(Table& table, const std::string& name,
                                  const StoredTensor& tensor);
  program::Storage* storage_of(Table& table, const StoredTensor& tensor);

  program::Program& program_;
  std::deque<Table> tables_;
};

}  // namespace sardonyx::pt2

// The files beside a model that hold its tensors' data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mapped_file.h"

namespace sardonyx::proto {

// TensorProto.external_data.
struct ExternalEntry {
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;

  // One key and its value; unknown keys (checksum) are ignored. Throws SX1155.
  void set(std::string_view key, std::string_view value);
};

struct BorrowedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// Maps each file once.
class ExternalData {
 public:
  // `roots`: the folders that data may lie in; locations are relative to the first.
  explicit ExternalData(std::vector<std::filesystem::path> roots) : roots_(std::move(roots)) {}

  // Bytes that are in memory already, under a location that is no file's.
  void give(std::string location, BorrowedBytes bytes) {
    given_.insert_or_assign(std::move(location), std::move(bytes));
  }

  // The `size` bytes of a tensor. Throws SX1155 for a place outside the roots or the file.
  BorrowedBytes find(const ExternalEntry& entry, std::int64_t size);

  // Whether any tensor's data was found in a file.
  bool was_read() const { return !files_.empty(); }

 private:
  std::shared_ptr<const base::MappedFile> open(const std::string& location);

  std::vector<std::filesystem::path> roots_;
  std::map<std::string, std::shared_ptr<const base::MappedFile>> files_;  // by location
  std::map<std::string, BorrowedBytes> given_;
};

}  // namespace sardonyx::proto

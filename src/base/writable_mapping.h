// A file mapped into memory for reading by code that may write to what it read.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sardonyx::base {

// As MappedFile. What is written stays in memory, and the file as it is.
class WritableMapping {
 public:
  explicit WritableMapping(const std::string& path);
  ~WritableMapping();
  WritableMapping(const WritableMapping&) = delete;
  WritableMapping& operator=(const WritableMapping&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace sardonyx::base

// A file that appears whole or not at all: it is written beside its destination, without a name
// where the system allows that, and then takes the destination's place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "proto/wire/stream.h"
#include "proto/writer/file_calls.h"

namespace sardonyx::proto {

class AtomicFile : public Output {
 public:
  // `size` bytes are going to be written: refused at once where they do not fit.
  // A destination that is a device or a pipe is opened as it is.
  AtomicFile(const std::filesystem::path& destination, std::int64_t size);
  // Unless committed, nothing is left behind and the destination is as it was.
  ~AtomicFile() override;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> first, std::span<const std::byte> second) override;
  std::size_t copy(const base::PlaceInFile& place, std::size_t size) override;

  // Gives the file a name beside the destination and the errors of closing it their chance.
  void finish();
  // Puts it in the destination's place; until settle(), undo() brings back what was there before.
  void replace();
  void undo() noexcept;
  void settle() noexcept;

  bool is_regular() const { return regular_; }

 private:
  void find_target();
  void open_beside();
  void close() noexcept;
  [[noreturn]] void refuse(int error) const;

  std::filesystem::path destination_;  // as the caller has it, for messages
  std::filesystem::path target_;       // symbolic links followed
  std::filesystem::path name_;         // of the file in the making; empty while it has none
  std::filesystem::path backup_;       // what was at the target; empty when nothing was
  int fd_ = -1;
  FileCopier copier_;
  bool regular_ = true;
  bool existed_ = false;
  bool replaced_ = false;
};

}  // namespace sardonyx::proto

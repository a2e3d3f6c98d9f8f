// A folder that goes with this object, and all in it.
#pragma once

#include <filesystem>

namespace sardonyx::serve {

class TemporaryFolder {
 public:
  // In TMPDIR or /tmp, for this user alone. SX1601 where none can be made.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { remove(); }

  const std::filesystem::path& path() const { return path_; }
  void remove() noexcept;

 private:
  std::filesystem::path path_;
};

}  // namespace sardonyx::serve

// A folder that goes with this object, and all in it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sardonyx::base {

class TemporaryFolder {
 public:
  // In TMPDIR or /tmp, for this user alone. SX1601 where none can be made.
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { remove(); }

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  // What lies in it, sorted by name.
  std::vector<std::string> names() const;
  void remove() noexcept;

 private:
  std::filesystem::path path_;
};

}  // namespace sardonyx::base

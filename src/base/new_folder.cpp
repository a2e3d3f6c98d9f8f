#include "base/new_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/diagnostic.h"

namespace sardonyx::base {

std::filesystem::path new_folder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (parent / "sardonyx-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr)
    fail("SX1601", "cannot make the folder " + name + ": " +
                       (error ? error.message() : std::strerror(errno)));
  return name;
}

}  // namespace sardonyx::base

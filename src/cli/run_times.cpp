#include "cli/run_times.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "viewer/measures.h"

namespace sardonyx::cli {
namespace {

// A file that is there as long as this.
class TemporaryFile {
 public:
  TemporaryFile() {
    const int file = mkstemp(path_.data());
    if (file < 0) base::fail("SX1601", "cannot write a temporary file " + path_);
    close(file);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "sardonyx-times-XXXXXX").string();
};

}  // namespace

NodeTimes run_times(const std::string& model, const std::vector<std::string>& sizes) {
  const TemporaryFile times;
  std::vector<std::string> words = {"run",        model,      "--random", "--profile",
                                    times.path(), "--repeat", "20"};
  for (const std::string& size : sizes) words.insert(words.end(), {"--size", size});
  if (call_in_python(words) != kSuccess)
    base::fail("SX2006", "there are no times of " + model + ": `sardonyx run` failed");
  return viewer::read_measure(times.path()).nodes;
}

}  // namespace sardonyx::cli

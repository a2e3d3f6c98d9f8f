#include "cli/run_times.h"

#include "base/diagnostic.h"
#include "base/temporary_folder.h"
#include "cli/command.h"
#include "viewer/measures.h"

namespace sardonyx::cli {
NodeTimes run_times(const std::string& model, const std::vector<std::string>& sizes) {
  const base::TemporaryFolder folder;
  const std::string times = folder / "times.json";
  std::vector<std::string> words = {"run", model, "--random", "--profile", times, "--repeat", "20"};
  for (const std::string& size : sizes) words.insert(words.end(), {"--size", size});
  if (call_in_python(words) != kSuccess)
    base::fail("SX2006", "there are no times of " + model + ": `sardonyx run` failed");
  return viewer::read_measure(times).nodes;
}

}  // namespace sardonyx::cli

#include "cli/command.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

// In red on a terminal that shows colors, unless https://no-color.org says not to.
std::string colored(const std::string& text) {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool plain = !isatty(STDERR_FILENO) || (refused && *refused) ||
                     (terminal && std::string_view(terminal) == "dumb");
  const std::size_t end = text.find(':');
  if (plain || end == std::string::npos || !text.starts_with("error[")) return text;
  return "\033[1;31m" + text.substr(0, end) + "\033[0m" + text.substr(end);
}

int report(bool json, const std::vector<Diagnostic>& diagnostics) {
  if (json) {
    std::printf("{\"ok\": false, \"diagnostics\": %s}\n", to_json(diagnostics).c_str());
  } else {
    for (const Diagnostic& diagnostic : diagnostics) {
      std::fprintf(stderr, "%s\n", colored(diagnostic.str()).c_str());
    }
    if (diagnostics.size() > 1) std::fprintf(stderr, "%zu errors\n", diagnostics.size());
  }
  return kFailure;
}

Diagnostic failure(const char* code, const std::string& message) {
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = message;
  return diagnostic;
}

}  // namespace

namespace {

// What `body` fails of.
std::vector<Diagnostic> failures(const std::function<void()>& body) {
  std::vector<Diagnostic> found;
  try {
    body();
  } catch (const Error& error) {
    found = error.diagnostics();
  } catch (const std::bad_alloc&) {
    found.push_back(failure("SX1004", "out of memory"));
  } catch (const std::exception& error) {
    found.push_back(failure("SX1005", std::string("internal error: ") + error.what()));
  }
  return found;
}

}  // namespace

int guarded(bool json, const std::function<void()>& body, const Finish& finish) {
  std::vector<Diagnostic> found = failures([&] {
    body();
    // Output that could not be written (a full disk behind a redirection) is a failure too.
    if (std::fflush(stdout) != 0) throw Error(failure("SX1007", "standard output failed"));
  });
  if (finish) {
    const std::vector<Diagnostic> more = failures([&] { finish(found); });
    found.insert(found.end(), more.begin(), more.end());
  }
  return found.empty() ? kSuccess : report(json, found);
}

std::string input_file(const std::string& path) {
  if (path != "-") return path;
  // Models are mapped, and a pipe cannot be.
  std::FILE* file = std::tmpfile();
  std::vector<char> buffer(1 << 20);
  bool whole = file != nullptr;
  while (whole) {
    const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), stdin);
    if (count == 0) break;
    whole = std::fwrite(buffer.data(), 1, count, file) == count;
  }
  if (!whole || std::fflush(file) != 0 || std::ferror(stdin))
    throw Error(failure("SX1101", "standard input cannot be kept in a temporary file"));
  return "/dev/fd/" + std::to_string(fileno(file));  // open until the program ends
}

void write_model(const Model& model, const std::string& path, const WriteOptions& options) {
  if (path != "-") return write(model, path, options);
  if (isatty(STDOUT_FILENO))
    throw Error(failure("SX1601", "a model is not written to a terminal: redirect it"));
  const std::string bytes = serialize(model, options);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
    throw Error(failure("SX1007", "standard output failed"));
}

void check_not_overwritten(const std::string& input, const std::string& output) {
  std::error_code none;
  if (std::filesystem::equivalent(input, output, none) && std::filesystem::is_regular_file(input)) {
    throw Error(failure("SX1601",
                        "the model would take the place of the program that it is made "
                        "of, '" +
                            output + "'; name another file"));
  }
}

void check_one_output(const std::string& path, bool json) {
  if (path == "-" && json)
    throw CLI::ValidationError("--json", "standard output has the model already");
}

void add_read_options(CLI::App& command, ReadOptions& options) {
  command
      .add_option("--input", options.inputs,
                  "an input of a .pt file: x:float32[batch,3,224,224] (names are dynamic "
                  "dimensions), n:int, n=3")
      ->allow_extra_args(false)
      ->group("TorchScript files");
  command
      .add_option("--dynamic", options.dynamic,
                  "dynamic dimensions of a traced module's example: x:0,2")
      ->allow_extra_args(false)
      ->group("TorchScript files");
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error(failure("SX1601", "cannot write " + path));
}

void add_threads_option(CLI::App& command) {
  command
      .add_option_function<int>(
          "--threads", [](const int& count) { set_threads(count); },
          "threads that work on weights; default: one for each processor")
      ->check(CLI::PositiveNumber)
      ->group("Weights");
}

std::function<void(std::int64_t, std::int64_t)> progress_line(const std::string& label,
                                                              bool quiet) {
  if (quiet || !isatty(STDERR_FILENO)) return {};
  using Clock = std::chrono::steady_clock;
  // Nothing for what takes less than a second.
  const Clock::time_point begun = Clock::now();
  auto last = std::make_shared<Clock::time_point>(Clock::now() + std::chrono::milliseconds(900));
  auto shown = std::make_shared<bool>(false);
  return [label, begun, last, shown](std::int64_t done, std::int64_t total) {
    const auto now = Clock::now();
    if (done < total && now - *last < std::chrono::milliseconds(100)) return;
    if (done >= total && !*shown) return;
    *last = now;
    *shown = true;
    const double share = total ? 100.0 * static_cast<double>(done) / static_cast<double>(total) : 0;
    const std::chrono::duration<double> elapsed = now - begun;
    std::fprintf(stderr, "\r%s %3.0f %% of %.1f MB, %.2f GB/s", label.c_str(), share,
                 static_cast<double>(total) / 1e6,
                 static_cast<double>(done) / 1e9 / elapsed.count());
    if (done >= total) std::fputc('\n', stderr);
  };
}

}  // namespace sardonyx::cli

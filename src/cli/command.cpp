#include "cli/command.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <vector>

#include <CLI/CLI.hpp>

#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

int report(bool json, const std::vector<Diagnostic>& diagnostics) {
  if (json) {
    std::printf("{\"ok\": false, \"diagnostics\": %s}\n", to_json(diagnostics).c_str());
  } else {
    for (const Diagnostic& diagnostic : diagnostics) {
      std::fprintf(stderr, "%s\n", diagnostic.str().c_str());
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

void add_read_options(CLI::App& command, ReadOptions& options) {
  command
      .add_option("--input", options.inputs,
                  "an input of a .pt file: x:float32[batch,3,224,224] (names are dimensions that "
                  "vary), n:int, n=3")
      ->allow_extra_args(false);
  command
      .add_option("--dynamic", options.dynamic,
                  "dimensions of a traced module's example that vary: x:0,2")
      ->allow_extra_args(false);
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw Error(failure("SX1601", "cannot write " + path));
}

std::function<void(std::int64_t, std::int64_t)> progress_line(const std::string& label,
                                                              bool quiet) {
  if (quiet || !isatty(STDERR_FILENO)) return {};
  using Clock = std::chrono::steady_clock;
  auto last = std::make_shared<Clock::time_point>(Clock::now());
  return [label, last](std::int64_t done, std::int64_t total) {
    const auto now = Clock::now();
    if (done < total && now - *last < std::chrono::milliseconds(100)) return;
    *last = now;
    const double share = total ? 100.0 * static_cast<double>(done) / static_cast<double>(total) : 0;
    std::fprintf(stderr, "\r%s %3.0f %% of %.1f MB", label.c_str(), share,
                 static_cast<double>(total) / 1e6);
    if (done >= total) std::fputc('\n', stderr);
  };
}

}  // namespace sardonyx::cli

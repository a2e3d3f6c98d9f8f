#include <cstdint>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "serve/run.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kServeFooter =
    "Examples:\n"
    "  sardonyx serve                            then drop files on the page\n"
    "  sardonyx serve model.pt2 other.onnx       with models that are read where they are\n"
    "  sardonyx serve --watch model.py:example   exports again on each save\n"
    "  sardonyx serve --port 8000                for `ssh -L 8000:127.0.0.1:8000`\n"
    "\n"
    "The page is for whoever has its address, which holds a random token. Uploads go to a folder\n"
    "in TMPDIR, which is removed in the end.";

struct ServeArguments {
  serve::ServeOptions serve;
  std::uint64_t max_upload_megabytes = 4000;
};

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  CLI::App* command =
      app.add_subcommand("serve", "Show, convert and optimize models on a page in the browser");
  command->footer(kServeFooter);
  command->add_option("models", arguments->serve.models, ".pt2, .pt and .onnx files to begin with");
  command
      ->add_option("--host", arguments->serve.host,
                   "address to listen on; any but this machine's own lets others in")
      ->capture_default_str();
  command->add_option("--port", arguments->serve.port, "default: any free one")
      ->check(CLI::Range(1, 65535));
  command
      ->add_option("--max-upload", arguments->max_upload_megabytes,
                   "megabytes of one file that the page takes")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->type_name("MB")
      ->capture_default_str();
  command
      ->add_option("--watch", arguments->serve.watched,
                   "a function that returns a model and example inputs: exports it whenever its "
                   "file, or one that it imports, is saved (in Python, with torch)")
      ->type_name("FILE.py:FUNCTION");
  command->callback([arguments, &exit_code] {
    exit_code = guarded(false, [&] {
      if (const std::string& watched = arguments->serve.watched; !watched.empty())
        arguments->serve.start_watching = [watched](const std::string& address) {
          return start_in_python("sardonyx._serve.watch", watched, "SARDONYX_SERVE", address);
        };
      arguments->serve.max_upload = arguments->max_upload_megabytes * 1'000'000;
      serve::run(arguments->serve);
    });
  });
}

}  // namespace sardonyx::cli

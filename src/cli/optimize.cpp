#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/explain.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct OptimizeArguments {
  std::string input;
  std::string output;
  OptimizeOptions optimize;
  bool explain = false;
  bool json = false;
  bool quiet = false;
};

void run_optimize(const OptimizeArguments& arguments) {
  Model model = read_model(arguments.input);
  const long long before = model.node_count();
  const Simplification done = simplify(model, arguments.optimize);
  WriteOptions options;
  options.progress = progress_line("writing", arguments.quiet || arguments.json);
  write(model, arguments.output, options);
  const long long after = model.node_count();
  if (arguments.json) {
    std::string passes;
    for (const Simplification::Applied& each : done.applied)
      passes += (passes.empty() ? "" : ", ") + json_string(each.name);
    std::printf(
        "{\"ok\": true, \"output\": %s, \"nodes_before\": %lld, \"nodes\": %lld, "
        "\"passes\": [%s]}\n",
        json_string(arguments.output).c_str(), before, after, passes.c_str());
  } else if (!arguments.quiet) {
    std::printf("%s: %lld nodes, %lld before\n", arguments.output.c_str(), after, before);
    if (arguments.explain) {
      print_explanation(done);
      return;
    }
    for (const Simplification::Applied& each : done.applied)
      std::printf("  %s\n", each.name.c_str());
  }
}

}  // namespace

void add_optimize(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<OptimizeArguments>();
  CLI::App* command = app.add_subcommand("optimize", "Simplify an ONNX model");
  command->add_option("input", arguments->input, "the .onnx file")->required();
  command->add_option("-o,--output", arguments->output, "the .onnx file to write")->required();
  command
      ->add_option("--opset", arguments->optimize.opset,
                   "the opset that the model is to have; otherwise its own")
      ->check(CLI::Range(kOldestOpset, kNewestOpset));
  command
      ->add_option("--runtime", arguments->optimize.runtime,
                   "what the model is for; see docs/targets.md")
      ->check(CLI::IsMember(target_names()))
      ->default_str("onnxruntime");
  command->add_option("--stop-after", arguments->optimize.stop_after,
                      "run the passes only up to this one");
  command->add_flag("--explain", arguments->explain,
                    "how often each rule was applied, and why others were not");
  command->add_flag("--json", arguments->json, "say the result as JSON on standard output");
  command->add_flag("-q,--quiet", arguments->quiet, "print errors only");
  command->callback([arguments, &exit_code] {
    exit_code = guarded(arguments->json, [&] { run_optimize(*arguments); });
  });
}

}  // namespace sardonyx::cli

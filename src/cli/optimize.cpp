#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/choices.h"
#include "cli/command.h"
#include "cli/dims.h"
#include "cli/explain.h"
#include "cli/precision.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct OptimizeArguments {
  std::string input;
  std::string output;
  OptimizeOptions optimize;
  WriteOptions write;
  bool list_rules = false;
  bool explain = false;
  bool json = false;
  bool quiet = false;
};

void list_rules(bool json) {
  std::string text;
  for (const std::string& name : rule_names())
    text += json ? (text.empty() ? "" : ", ") + json_string(name) : name + '\n';
  std::printf(json ? "{\"ok\": true, \"rules\": [%s]}\n" : "%s", text.c_str());
}

// What the user could ask for, and what was done without being asked for.
void print_hints(const OptimizationReport& done, const OptimizeOptions& options) {
  for (const OptimizationReport::Applied& each : done.applied)
    if (each.name == "freeze-initializers" && !options.freeze_initializers)
      std::fprintf(stderr,
                   "note: %lld inputs with a value are constants now; --no-freeze-initializers "
                   "keeps them inputs\n",
                   static_cast<long long>(each.count));
  for (const OptimizationReport::Declined& each : done.declined)
    if (each.rule == "freeze-initializers") std::fprintf(stderr, "hint: %s\n", each.reason.c_str());
}

void print_what_was_done(const OptimizationReport& done, const OptimizeArguments& arguments) {
  if (arguments.explain) {
    print_explanation(done);
    return;
  }
  for (const OptimizationReport::Applied& each : done.applied)
    std::printf("  %s\n", each.name.c_str());
  print_hints(done, arguments.optimize);
}

void run_optimize(const OptimizeArguments& arguments) {
  Model model = read_model(input_file(arguments.input));
  OptimizeOptions optimize = arguments.optimize;
  optimize.is_as_read = true;
  const OptimizationReport done = simplify(model, optimize);
  WriteOptions options = arguments.write;
  options.progress = progress_line("writing", arguments.quiet || arguments.json);
  write_model(model, arguments.output, options);
  if (arguments.json) {
    std::printf("{\"ok\": true, \"output\": %s, %s%s}\n", json_string(arguments.output).c_str(),
                explanation_json(done).c_str(), notes_json(done.notes).c_str());
  } else if (!arguments.quiet && arguments.output != "-") {
    std::printf("%s: %lld nodes, %lld before\n", arguments.output.c_str(),
                static_cast<long long>(done.nodes_after),
                static_cast<long long>(done.nodes_before));
    print_weights(done, optimize.precision.to, arguments.explain);
    print_what_was_done(done, arguments);
  }
  if (!arguments.json && !arguments.quiet) print_notes(done.notes);
}

constexpr const char* kOptimizeFooter =
    "Examples:\n"
    "  sardonyx optimize model.onnx -o smaller.onnx\n"
    "  sardonyx optimize model.onnx -o model.onnx             in place\n"
    "  sardonyx optimize model.onnx -o out.onnx --opset 17    an older opset, or a newer one\n"
    "  sardonyx optimize model.onnx -o out.onnx --runtime onnxruntime-cpu\n"
    "  sardonyx optimize model.onnx -o fixed.onnx --fixed batch=1,sequence=128\n"
    "  sardonyx optimize model.onnx -o half.onnx --precision fp16 --keep Softmax\n"
    "  sardonyx optimize model.onnx -o small.onnx --precision int4 --mixed lm_head=int8\n"
    "  sardonyx optimize model.onnx -o out.onnx --functions   outline repeated layers\n"
    "  sardonyx optimize model.onnx -o out.onnx --explain     what each rule did, and why others "
    "declined\n"
    "  sardonyx optimize model.onnx -o out.onnx --disable fold-pad --disable fold-weights\n"
    "\n"
    "Weights are streamed: memory does not grow with the model. On an error the previous output\n"
    "file is kept. Exit codes: 0 success, 1 the model could not be read, optimized or written,\n"
    "2 wrong usage.";

void add_freezing(CLI::App& command, std::optional<bool>& choice) {
  CLI::Option* const yes = command.add_flag_callback(
      "--freeze-initializers", [&choice] { choice = true; },
      "make constants of initializers that are inputs too; default: "
      "where a file of IR version 4 or older has all of them so");
  CLI::Option* const no = command.add_flag_callback(
      "--no-freeze-initializers", [&choice] { choice = false; }, "leave them inputs");
  for (CLI::Option* each : {yes, no}) each->group("Model");
  no->excludes(yes);
}

void add_rules(CLI::App* command, OptimizeArguments& arguments) {
  command->add_option("--disable", arguments.optimize.disable, "skip this rule or pass; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->group("Optimization");
  command->add_option("--stop-after", arguments.optimize.stop_after, "stop after this rule or pass")
      ->type_name("RULE")
      ->group("Optimization");
  command
      ->add_flag("--list-rules", arguments.list_rules,
                 "list the rules and passes in order, and exit")
      ->group("Optimization");
  command
      ->add_flag("--explain", arguments.explain,
                 "print how often each rule was applied, and why others declined")
      ->group("Reports");
  command
      ->add_flag("--record-rules", arguments.optimize.record_rules,
                 "name the rules that made a node in its metadata, which the viewer shows")
      ->group("Reports");
}

}  // namespace

void add_optimize(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<OptimizeArguments>();
  CLI::App* command =
      app.add_subcommand("optimize", "Optimize an ONNX model, change its opset, quantize it");
  command->footer(kOptimizeFooter);
  CLI::Option* input =
      command->add_option("model", arguments->input, "the .onnx file; - for standard input");
  CLI::Option* output =
      command->add_option("-o,--output", arguments->output,
                          "the .onnx file to write, which may be the input; - for standard output");
  command
      ->add_option("--opset", arguments->optimize.opset, "target opset; default: the model's own")
      ->check(CLI::Range(kOldestOpset, kNewestOpset))
      ->group("Model");
  command
      ->add_option("--runtime", arguments->optimize.runtime, "target runtime; see docs/targets.md")
      ->check(CLI::IsMember(target_names()))
      ->default_str("onnxruntime")
      ->group("Model");
  add_dim_options(*command, arguments->optimize.dims);
  command
      ->add_option("--external-data", arguments->write.external_data,
                   "external data: auto (above 2 GB, or as the input has it), "
                   "always, never")
      ->transform(choices(external_data_choices()))
      ->group("Model");
  add_rules(command, *arguments);
  command
      ->add_flag("--functions", arguments->optimize.functions,
                 "outline repeated layers into one model-local function")
      ->group("Model");
  command
      ->add_flag("--inline-functions", arguments->optimize.inline_functions,
                 "inline calls of model-local functions")
      ->group("Model");
  add_freezing(*command, arguments->optimize.freeze_initializers);
  add_precision(command, arguments->optimize.precision);
  command->add_flag("--json", arguments->json, "print the result as JSON")->group("Reports");
  add_threads_option(*command);
  command->add_flag("-q,--quiet", arguments->quiet, "print errors only")->group("Reports");
  command->callback([arguments, input, output, &exit_code] {
    if (!arguments->list_rules) {
      for (const CLI::Option* needed : {input, output})
        if (needed->count() == 0) throw CLI::RequiredError(needed->get_name());
    }
    check_one_output(arguments->output, arguments->json);
    exit_code = guarded(arguments->json, [&] {
      if (arguments->list_rules) {
        list_rules(arguments->json);
      } else {
        run_optimize(*arguments);
      }
    });
  });
}

}  // namespace sardonyx::cli

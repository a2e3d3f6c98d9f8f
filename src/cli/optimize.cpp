#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/choices.h"
#include "cli/command.h"
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

// What the user could ask for.
void print_hints(const Simplification& done) {
  for (const Simplification::Declined& each : done.declined)
    if (each.rule == "freeze-initializers") std::fprintf(stderr, "hint: %s\n", each.reason.c_str());
}

void run_optimize(const OptimizeArguments& arguments) {
  Model model = read_model(input_file(arguments.input));
  OptimizeOptions optimize = arguments.optimize;
  optimize.is_as_read = true;
  const Simplification done = simplify(model, optimize);
  WriteOptions options = arguments.write;
  options.progress = progress_line("writing", arguments.quiet || arguments.json);
  write_model(model, arguments.output, options);
  if (arguments.json) {
    std::printf("{\"ok\": true, \"output\": %s, %s}\n", json_string(arguments.output).c_str(),
                explanation_json(done).c_str());
  } else if (!arguments.quiet && arguments.output != "-") {
    std::printf("%s: %lld nodes, %lld before\n", arguments.output.c_str(),
                static_cast<long long>(done.nodes_after),
                static_cast<long long>(done.nodes_before));
    print_weights(done, arguments.explain);
    if (arguments.explain) {
      print_explanation(done);
      return;
    }
    for (const Simplification::Applied& each : done.applied)
      std::printf("  %s\n", each.name.c_str());
    print_hints(done);
  }
}

constexpr const char* kOptimizeFooter =
    "Examples:\n"
    "  sardonyx optimize model.onnx -o smaller.onnx\n"
    "  sardonyx optimize model.onnx -o model.onnx             in place\n"
    "  sardonyx optimize model.onnx -o out.onnx --opset 17    an older opset, or a newer one\n"
    "  sardonyx optimize model.onnx -o out.onnx --runtime onnxruntime-cpu\n"
    "  sardonyx optimize model.onnx -o half.onnx --precision fp16 --keep Softmax\n"
    "  sardonyx optimize model.onnx -o small.onnx --precision int4 --mixed lm_head=int8\n"
    "  sardonyx optimize model.onnx -o out.onnx --functions   identical layers once\n"
    "  sardonyx optimize model.onnx -o out.onnx --explain     what was found and left, and why\n"
    "  sardonyx optimize model.onnx -o out.onnx --disable fold-pad --disable fold-weights\n"
    "\n"
    "Weights stay where they are until they are written: memory does not grow with the model.\n"
    "What cannot be read, optimised or written ends with exit code 1 and a diagnostic, and what\n"
    "was at the output before is still there; wrong usage ends with 2.";

void add_rules(CLI::App* command, OptimizeArguments& arguments) {
  command
      ->add_option("--disable", arguments.optimize.disable,
                   "run without this rule or pass; may be given again")
      ->type_name("RULE")
      ->allow_extra_args(false)
      ->group("Simplifying");
  command
      ->add_option("--stop-after", arguments.optimize.stop_after,
                   "run the rules and passes only up to this one")
      ->type_name("RULE")
      ->group("Simplifying");
  command
      ->add_flag("--list-rules", arguments.list_rules,
                 "list the rules and passes in the order they run, and do nothing else")
      ->group("Simplifying");
  command
      ->add_flag("--explain", arguments.explain,
                 "how often each rule was applied, and why others were not")
      ->group("What is told");
}

}  // namespace

void add_optimize(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<OptimizeArguments>();
  CLI::App* command = app.add_subcommand("optimize", "Simplify an ONNX model");
  command->footer(kOptimizeFooter);
  CLI::Option* input =
      command->add_option("model", arguments->input, "the .onnx file; - for standard input");
  CLI::Option* output = command->add_option(
      "-o,--output", arguments->output,
      "the .onnx file to write; may be the input, which is then replaced; - for "
      "standard output");
  command
      ->add_option("--opset", arguments->optimize.opset,
                   "the opset that the model is to have; otherwise its own")
      ->check(CLI::Range(kOldestOpset, kNewestOpset))
      ->group("The model");
  command
      ->add_option("--runtime", arguments->optimize.runtime,
                   "what the model is for; see docs/targets.md")
      ->check(CLI::IsMember(target_names()))
      ->default_str("onnxruntime")
      ->group("The model");
  command
      ->add_option("--external-data", arguments->write.external_data,
                   "weights in a second file: auto (above 2 GB, or as the input has them), "
                   "always, never")
      ->transform(choices(external_data_choices()))
      ->group("The model");
  add_rules(command, *arguments);
  command
      ->add_flag("--functions", arguments->optimize.functions,
                 "layers that are alike become calls of one function, which has their nodes once")
      ->group("The model");
  command
      ->add_flag("--inline-functions", arguments->optimize.inline_functions,
                 "calls of the model's own functions become what these do")
      ->group("The model");
  command
      ->add_flag("--freeze-initializers", arguments->optimize.freeze_initializers,
                 "initializers that are inputs too become constants, which callers cannot replace")
      ->group("The model");
  add_precision(command, arguments->optimize.precision);
  command->add_flag("--json", arguments->json, "say the result as JSON on standard output")
      ->group("What is told");
  command->add_flag("-q,--quiet", arguments->quiet, "print errors only")->group("What is told");
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

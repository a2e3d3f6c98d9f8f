#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/dims.h"
#include "cli/model_cost.h"
#include "cli/model_diff.h"
#include "cli/model_summary.h"
#include "cli/pages.h"
#include "cli/run_times.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct InspectArguments {
  std::string input;
  std::string file;   // the same; what standard input holds for `-`
  std::string other;  // of --diff
  std::string html;
  std::vector<std::string> measures;  // files
  int depth = 3;
  ReadOptions read;
  std::vector<std::string> sizes;  // of --cost: NAME=N
  bool cost = false;
  bool time = false;  // with it: runs the model
  bool graph = false;
  bool json = false;
};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!text.ends_with('\n')) std::fputc('\n', stdout);
}

void print_json(const InspectArguments& arguments, const std::string& members) {
  print("{\"ok\": true, \"input\": " + json_string(arguments.input) + ", " + members + "}");
}

void inspect_program(const InspectArguments& arguments) {
  const Program program = read(arguments.file, arguments.read);
  const std::string text = program.str();
  if (arguments.json) {
    print_json(arguments, "\"text\": " + json_string(text) +
                              ", \"program\": " + program_json(program.internal()));
  } else {
    print(text);
  }
}

constexpr std::size_t kMaxSizeDigits = 9;

// Throws SX1001 for what is no NAME=N.
DimSizes dim_sizes(const std::vector<std::string>& texts) {
  DimSizes sizes;
  for (const std::string& text : texts) {
    const auto given = named_number(text, kMaxSizeDigits);
    if (!given) base::fail("SX1001", "--size is NAME=N, not " + text);
    sizes[given->first] = given->second;
  }
  return sizes;
}

// Times of a run in ONNX Runtime, where they are asked for.
std::optional<NodeTimes> times_of(const InspectArguments& arguments, const std::string& path) {
  if (!arguments.time) return std::nullopt;
  if (path == "-") base::fail("SX1001", "--time runs a file, and standard input is none");
  return run_times(path, arguments.sizes);
}

CostedModel costed(const Model& model, const std::optional<NodeTimes>& times) {
  return {model.internal(), times ? &*times : nullptr};
}

// What the page shows: measures of the files, and the times.
std::vector<viewer::Measure> measures_of(const InspectArguments& arguments,
                                         const std::optional<NodeTimes>& times,
                                         const std::optional<NodeTimes>& others = {}) {
  std::vector<viewer::Measure> measures = read_measures(arguments.measures);
  if (times) measures.push_back({"time", "ms", *times, others.value_or(NodeTimes())});
  return measures;
}

void inspect_model(const InspectArguments& arguments) {
  const Model model = read_model(arguments.file);
  const auto times = times_of(arguments, arguments.input);
  if (!arguments.html.empty()) {
    const std::string cost =
        arguments.cost ? cost_json(costed(model, times), dim_sizes(arguments.sizes)) : "";
    write_model_page(arguments.html, {model, arguments.input, cost}, measures_of(arguments, times));
  }
  if (arguments.json) {
    std::string members = summary_json(model.internal());
    if (arguments.graph) members += ", \"text\": " + json_string(model.str());
    if (arguments.cost)
      members += ", \"cost\": " + cost_json(costed(model, times), dim_sizes(arguments.sizes));
    print_json(arguments, members);
  } else if (arguments.cost) {
    print(cost_text(costed(model, times), dim_sizes(arguments.sizes), arguments.depth));
  } else if (arguments.graph) {
    print(model.str());
  } else if (arguments.html.empty()) {
    print(summary_text(model.internal(), arguments.depth));
  }
}

void compare_models(const InspectArguments& arguments) {
  const Model a = read_model(arguments.file);
  const Model b = read_model(input_file(arguments.other));
  const ModelDiff found = diff(a.internal(), b.internal());
  const DimSizes sizes = dim_sizes(arguments.sizes);
  const auto times = times_of(arguments, arguments.input);
  const auto others = times_of(arguments, arguments.other);
  const std::string cost = arguments.cost ? cost_json(costed(a, times), sizes) : "";
  const std::string other_cost = arguments.cost ? cost_json(costed(b, others), sizes) : "";
  if (!arguments.html.empty())
    write_comparison_page(arguments.html, {a, arguments.input, cost},
                          {b, arguments.other, other_cost}, measures_of(arguments, times, others));
  if (arguments.json) {
    const std::string costs =
        arguments.cost ? ", \"costs\": [" + cost + ", " + other_cost + "]" : "";
    print_json(arguments,
               "\"other\": " + json_string(arguments.other) + ", " + diff_json(found) + costs);
  } else if (arguments.cost) {
    print(cost_text(costed(a, times), costed(b, others), sizes, arguments.depth));
  } else {
    print(diff_text(found));
  }
}

// Programs are zip archives.
bool is_archive(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[2] = {};
  return file.read(magic, 2) && magic[0] == 'P' && magic[1] == 'K';
}

void run_inspect(InspectArguments& arguments) {
  arguments.file = input_file(arguments.input);
  // .onnx files are models; everything else is taken for a program.
  const bool model =
      arguments.input == "-" ? !is_archive(arguments.file) : arguments.input.ends_with(".onnx");
  if (!arguments.other.empty()) {
    compare_models(arguments);
  } else if (model) {
    inspect_model(arguments);
  } else {
    inspect_program(arguments);
  }
}

constexpr const char* kInspectFooter =
    "Examples:\n"
    "  sardonyx inspect model.onnx                      operators, modules, dynamic dimensions\n"
    "  sardonyx inspect model.onnx --graph              every node\n"
    "  sardonyx inspect model.onnx --html model.html    a page to look at the graph\n"
    "  sardonyx inspect model.onnx --cost --size batch=8   multiply-adds, by operator and module\n"
    "  sardonyx inspect before.onnx --diff after.onnx   compare two models\n"
    "  sardonyx inspect before.onnx --diff after.onnx --cost --time   what changed in cost and "
    "time\n"
    "  sardonyx inspect model.pt2                       the calls of a captured program";

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", "Show what a .pt2, .pt or .onnx file holds");
  command->footer(kInspectFooter);
  command
      ->add_option("model", arguments->input, "the .pt2, .pt or .onnx file; - for standard input")
      ->required();
  command
      ->add_option("--diff", arguments->other,
                   "another model: compare operators, inputs, outputs, weights, and attributes of "
                   "nodes with the same name")
      ->type_name("MODEL");
  CLI::Option* const html = command->add_option(
      "--html", arguments->html,
      "write a self-contained page that shows the graph; with --diff: of both models");
  html->type_name("PAGE");
  add_measures_option(*command, html, arguments->measures);
  command->add_option("--depth", arguments->depth, "levels of modules to list")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  CLI::Option* const cost = command->add_flag(
      "--cost", arguments->cost,
      "print multiply-adds and bytes of a model, by operator and module; with --diff: of both");
  command
      ->add_flag(
          "--time", arguments->time,
          "with --cost: also the time, of runs in ONNX Runtime with random inputs (in Python)")
      ->needs(cost);
  command
      ->add_option("--size", arguments->sizes,
                   "with --cost: size of a dynamic dimension (default: 1); repeatable")
      ->type_name("NAME=N");
  command->add_flag("--graph", arguments->graph, "print the graph node by node");
  add_read_options(*command, arguments->read);
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->callback([arguments, &exit_code] {
    exit_code = guarded(arguments->json, [&] { run_inspect(*arguments); });
  });
}

}  // namespace sardonyx::cli

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/model_diff.h"
#include "cli/pages.h"
#include "sardonyx/report.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::cli {
namespace {

struct DiffArguments {
  std::string a, b;
  std::string html;
  std::vector<std::string> measures;  // files
  bool exit_code = false;
  bool json = false;
};

// Whether they differ.
bool run_diff(const DiffArguments& arguments) {
  const Model a = read_model(input_file(arguments.a));
  const Model b = read_model(input_file(arguments.b));
  const ModelDiff found = diff(a.internal(), b.internal());
  if (!arguments.html.empty())
    write_comparison_page(arguments.html, {a, arguments.a, ""}, {b, arguments.b, ""},
                          read_measures(arguments.measures));
  if (arguments.json) {
    std::printf("{\"ok\": true, \"input\": %s, \"other\": %s, %s}\n",
                json_string(arguments.a).c_str(), json_string(arguments.b).c_str(),
                diff_json(found).c_str());
  } else {
    std::printf("%s", diff_text(found).c_str());
  }
  return !found.empty();
}

constexpr const char* kDiffFooter =
    "Examples:\n"
    "  sardonyx diff before.onnx after.onnx                compare two models\n"
    "  sardonyx diff before.onnx after.onnx --exit-code    exit with 3 if they differ\n"
    "  sardonyx diff before.onnx after.onnx --html page.html    look at both\n"
    "  sardonyx optimize a.onnx -o - | sardonyx diff a.onnx -";

}  // namespace

void add_diff(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App* command = app.add_subcommand("diff", "Compare two ONNX models");
  command->footer(kDiffFooter);
  command->add_option("a", arguments->a, "an .onnx file; - for standard input")->required();
  command->add_option("b", arguments->b, "another; - for standard input")->required();
  CLI::Option* const html =
      command->add_option("--html", arguments->html, "write a page that shows both, side by side");
  html->type_name("PAGE");
  add_measures_option(*command, html, arguments->measures);
  command->add_flag("--exit-code", arguments->exit_code, "exit with 3 if the models differ");
  command->add_flag("--json", arguments->json, "print the result as JSON");
  command->callback([arguments, &exit_code] {
    bool differ = false;
    exit_code = guarded(arguments->json, [&] { differ = run_diff(*arguments); });
    if (exit_code == kSuccess && differ && arguments->exit_code) exit_code = kDifferent;
  });
}

}  // namespace sardonyx::cli

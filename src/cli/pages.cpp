#include "cli/pages.h"

#include <filesystem>
#include <system_error>

#include <CLI/CLI.hpp>

#include "base/diagnostic.h"
#include "cli/command.h"
#include "onnx/infer/infer_model.h"
#include "viewer/page.h"

namespace sardonyx::cli {
namespace {

viewer::Shown shown(const NamedModel& named) {
  onnx::infer_types(named.model.internal());
  return {named.model.internal(), std::filesystem::path(named.path).filename().string(),
          named.cost};
}

// A page in the place of a model would be the end of it.
void check_is_no_model(const std::string& page, const NamedModel& model) {
  std::error_code none;
  if (std::filesystem::equivalent(page, model.path, none))
    base::fail("SX1001", "--html " + page + " is the model itself",
               "name another file, such as " + page + ".html");
}

}  // namespace

std::vector<viewer::Measure> read_measures(const std::vector<std::string>& files) {
  std::vector<viewer::Measure> measures;
  for (const std::string& file : files) measures.push_back(viewer::read_measure(file));
  return measures;
}

void add_measures_option(CLI::App& command, CLI::Option* html, std::vector<std::string>& files) {
  command
      .add_option("--measures", files,
                  "with --html: color nodes by the numbers in a file: a profile of ONNX Runtime, "
                  "node data of Model Explorer, or {\"nodes\": {\"name\": number}}; "
                  "repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->needs(html);
}

void write_model_page(const std::string& page, const NamedModel& model,
                      const std::vector<viewer::Measure>& measures) {
  check_is_no_model(page, model);
  write_text(page, viewer::model_page(shown(model), measures));
}

void write_comparison_page(const std::string& page, const NamedModel& a, const NamedModel& b,
                           const std::vector<viewer::Measure>& measures) {
  check_is_no_model(page, a);
  check_is_no_model(page, b);
  write_text(page, viewer::comparison_page(shown(a), shown(b), measures));
}

}  // namespace sardonyx::cli

#include "cli/pages.h"

#include <filesystem>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "onnx/infer/infer_model.h"
#include "viewer/measures.h"
#include "viewer/page.h"

namespace sardonyx::cli {
namespace {

viewer::Shown shown(const NamedModel& named) {
  onnx::infer_types(named.model.internal());
  return {named.model.internal(), std::filesystem::path(named.path).filename().string()};
}

std::vector<viewer::Measure> read_measures(const std::vector<std::string>& files) {
  std::vector<viewer::Measure> measures;
  for (const std::string& file : files) measures.push_back(viewer::read_measure(file));
  return measures;
}

}  // namespace

void add_measures_option(CLI::App& command, std::vector<std::string>& files) {
  command
      .add_option("--measures", files,
                  "with --html: color nodes by the numbers in a file: a profile of ONNX Runtime, "
                  "node data of Model Explorer, or {\"nodes\": {\"name\": number}}; "
                  "repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void write_model_page(const std::string& page, const NamedModel& model,
                      const std::vector<std::string>& measures) {
  write_text(page, viewer::model_page(shown(model), read_measures(measures)));
}

void write_comparison_page(const std::string& page, const NamedModel& a, const NamedModel& b,
                           const std::vector<std::string>& measures) {
  write_text(page, viewer::comparison_page(shown(a), shown(b), read_measures(measures)));
}

}  // namespace sardonyx::cli

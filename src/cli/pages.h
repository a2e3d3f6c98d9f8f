// Pages that show models, as files.
#pragma once

#include <string>
#include <vector>

#include "sardonyx/sardonyx.h"
#include "viewer/measures.h"

namespace CLI {
class App;
}

namespace sardonyx::cli {

struct NamedModel {
  const Model& model;
  const std::string& path;  // as the user gave it
  const std::string& cost;  // an object of JSON; empty: none
};

// --measures: files with numbers of nodes.
void add_measures_option(CLI::App& command, CLI::Option* html, std::vector<std::string>& files);

std::vector<viewer::Measure> read_measures(const std::vector<std::string>& files);

// Types that the files do not have are inferred.
void write_model_page(const std::string& page, const NamedModel& model,
                      const std::vector<viewer::Measure>& measures);
void write_comparison_page(const std::string& page, const NamedModel& a, const NamedModel& b,
                           const std::vector<viewer::Measure>& measures);

}  // namespace sardonyx::cli

// The public interface over the layers.
#include <algorithm>
#include <utility>

#include "api/convert.h"
#include "api/plugin.h"
#include "base/parallel_for.h"
#include "pipeline/convert.h"
#include "pipeline/stages.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

Model convert(Program program, const ConvertOptions& options) {
  return convert(std::move(program), options, {});
}

Model convert(Program program, const ConvertOptions& options, aten::CustomLookup custom) {
  const plugin::Plugins plugins(options.plugins);
  const aten::CustomLookup lookup = [&](const program::Call& call) {
    const aten::CustomTranslator* found = custom ? custom(call) : nullptr;
    return found ? found : plugins.find(call);
  };
  Model model = pipeline::convert(std::move(program), options, lookup);
  model.internal().producer_version = version();
  return model;
}

bool translates(std::string_view op) {
  return aten::find_translator(op, /*complex=*/false) != nullptr;
}

std::int64_t target_opset(const std::string& name) { return pipeline::target_of(name).opset; }

int target_accuracy_level(const std::string& name) {
  return pipeline::target_of(name).accuracy_level;
}

void set_threads(int count) { base::set_threads(static_cast<std::size_t>(std::max(count, 0))); }

std::string_view version() { return SARDONYX_VERSION; }

}  // namespace sardonyx

// WebAssembly loads no libraries.
#include "api/plugin.h"
#include "base/diagnostic.h"

namespace sardonyx::plugin {

Plugins::Plugins(const std::vector<std::filesystem::path>& paths) {
  if (!paths.empty())
    base::fail("SX1009", "the plugin '" + paths.front().string() +
                             "' cannot be used: WebAssembly loads none");
}

const aten::CustomTranslator* Plugins::find(const program::Call& /*call*/) const { return nullptr; }

}  // namespace sardonyx::plugin

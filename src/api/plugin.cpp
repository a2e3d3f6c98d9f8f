#include "api/plugin.h"

#include <dlfcn.h>

#include "api/plugin_host.h"
#include "base/diagnostic.h"

namespace sardonyx::plugin {
namespace {

using Register = int (*)(const sardonyx_host*, sardonyx_registry*);

[[noreturn]] void cannot_load(const std::filesystem::path& path, const std::string& why) {
  base::fail("SX1009", "the plugin '" + path.string() + "' cannot be used: " + why,
             "a plugin exports sardonyx_plugin(), as sardonyx/plugin.h shows");
}

Register entry_of(const std::filesystem::path& path) {
  // A name without a folder is a file here, not one of the system's libraries.
  const std::string name =
      path.has_parent_path() ? path.string() : (std::filesystem::path(".") / path).string();
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) cannot_load(path, dlerror());
  void* const symbol = dlsym(library, "sardonyx_plugin");
  if (!symbol) cannot_load(path, "it exports no sardonyx_plugin()");
  return reinterpret_cast<Register>(symbol);
}

}  // namespace

Plugins::Plugins(const std::vector<std::filesystem::path>& paths) {
  sardonyx_registry registry{translators_, {}};
  for (const std::filesystem::path& path : paths) {
    const int result = entry_of(path)(&host(), &registry);
    if (result != 0) cannot_load(path, "its sardonyx_plugin() returned " + std::to_string(result));
    if (!registry.problem.empty()) cannot_load(path, registry.problem);
  }
}

const aten::CustomTranslator* Plugins::find(const program::Call& call) const {
  auto found = translators_.find(call.schema->qualified());
  if (found == translators_.end()) found = translators_.find(call.schema->name);
  return found == translators_.end() ? nullptr : &found->second;
}

}  // namespace sardonyx::plugin

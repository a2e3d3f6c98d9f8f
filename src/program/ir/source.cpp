// Where a call came from: the user's line and the module path.
#include "base/stack_trace.h"
#include "program/ir/program.h"

namespace sardonyx::program {

base::UserLocation Source::location() const { return base::user_location(stack_trace); }

std::string Source::module_path() const {
  if (modules.empty()) return {};
  const ModuleFrame& innermost = modules.back();
  return base::module_path(innermost.path, innermost.type.substr(innermost.type.rfind('.') + 1));
}

}  // namespace sardonyx::program

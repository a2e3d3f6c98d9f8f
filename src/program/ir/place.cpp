#include "program/ir/place.h"

#include <utility>

namespace sardonyx::program {

void place(base::Diagnostic& diagnostic, const Call& call) {
  if (call.schema) diagnostic.op = call.schema->qualified();
  diagnostic.node = call.name;
  if (!call.source) return;
  diagnostic.module_path = call.source->module_path();
  diagnostic.location = call.source->location();
}

base::Diagnostic diagnostic_at(const Call& call, std::string_view code, std::string message,
                               std::string help) {
  base::Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.help = std::move(help);
  place(diagnostic, call);
  return diagnostic;
}

}  // namespace sardonyx::program

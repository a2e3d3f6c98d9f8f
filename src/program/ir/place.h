// Where a diagnostic is: the call that it is about, its module, and the user's line.
#pragma once

#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "program/ir/program.h"

namespace sardonyx::program {

// Says which call the diagnostic is about, and where the user wrote it.
void place(base::Diagnostic& diagnostic, const Call& call);

// A diagnostic at a captured call.
base::Diagnostic diagnostic_at(const Call& call, std::string_view code, std::string message,
                               std::string help);

}  // namespace sardonyx::program

// Loops: run where their counts are known, else bodies of one call.
#pragma once

#include "frontends/torchscript/recording/interpretation.h"

namespace sardonyx::torchscript {

void follow_loop(Interpretation& state, const Statement& statement);

}  // namespace sardonyx::torchscript

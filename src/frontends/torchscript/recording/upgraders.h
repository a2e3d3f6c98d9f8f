// What operators meant in older archives.
#pragma once

#include <cstdint>

#include "frontends/torchscript/recording/graph_recorder.h"

namespace sardonyx::torchscript {

// The call as it is written today, of one in an archive of this version.
void upgrade(Operands& operands, std::int64_t version);

}  // namespace sardonyx::torchscript

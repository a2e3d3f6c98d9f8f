// Rules about LSTM, GRU and RNN, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kDropZeroStates;
extern const Rule kRaiseRecurrence;

}  // namespace sardonyx::passes

// From a captured program to a model.
#pragma once

#include "aten/translation/translate.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::pipeline {

// `lookup` finds translators that are asked before the library's.
Model convert(Program program, const ConvertOptions& options, const aten::CustomLookup& lookup);

}  // namespace sardonyx::pipeline

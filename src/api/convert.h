// Conversion with translators that the caller has in memory; the public interface takes them from
// plugins only.
#pragma once

#include "aten/translation/translate.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx {

// `custom` is asked before the plugins of the options, those before the library. It may be empty.
Model convert(Program program, const ConvertOptions& options, aten::CustomLookup custom);

// Whether the library translates "aten::addmm".
bool translates(std::string_view op);

}  // namespace sardonyx

// Objects of an archive's pickles. Nothing is imported and nothing is called.
#pragma once

#include <string>

#include "frontends/archive/pickle.h"
#include "frontends/torchscript/values/abstract_value.h"

namespace sardonyx::torchscript {

// The root of a pickle; its tensors lie in `folder` ("data/"). Throws SX1110 for every class and
// function that such archives do not need.
AbstractValue read_object(const archive::Pickle& pickle, const std::string& folder);

// Whether code of its own, its __setstate__, is to restore the object of the only thing it holds.
bool is_unrestored(const AbstractValue& datum);

// Gives modules their paths and weights their names, from the root on; not in what is still to be
// restored.
void name_parts(const AbstractValue& root);

}  // namespace sardonyx::torchscript

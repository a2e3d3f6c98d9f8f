// Rules that drop what does nothing, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kDropIdentity;
extern const Rule kDropNeutral;
extern const Rule kSpellCastLike;
extern const Rule kSpellNegation;

}  // namespace sardonyx::passes

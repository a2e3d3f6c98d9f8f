// Rules that drop what does nothing, and say simply what is said otherwise, one file each.
#pragma once

#include "rewriting/rule.h"

namespace sardonyx::passes {

using namespace rewriting;

extern const Rule kBoundBeforeCasting;
extern const Rule kChooseKnown;
extern const Rule kChooseWithoutNot;
extern const Rule kDropIdentity;
extern const Rule kDropNeutral;
extern const Rule kDropRepeated;
extern const Rule kJoinFactors;
extern const Rule kSpellCastLike;
extern const Rule kSpellNegation;

}  // namespace sardonyx::passes

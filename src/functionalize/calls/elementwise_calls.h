// Calls that compute each element of their result from the elements in its place.
#pragma once

#include <cstddef>
#include <unordered_set>

#include "program/ir/program.h"

namespace sardonyx::functionalize {

// The call gives the same for each sample when samples are stacked along a new first dimension:
// elementwise operators, and indexing of something else by samples.
bool broadcasts_over_samples(const program::Call& call,
                             const std::unordered_set<const program::Value*>& samples);

// The rank that samples have to have for that.
std::size_t rank_of_samples(const program::Call& call);

}  // namespace sardonyx::functionalize

// Work in parts, on as many threads as there are processors for.
#pragma once

#include <cstddef>
#include <functional>

namespace sardonyx::base {

// Processors that this process may run on, at least 1 and at most 32: each costs memory for what it
// works on.
std::size_t processors();

// Calls work(0) to work(count - 1), all at once, and returns when all are done; what the first of
// them threw is thrown then. A thread that cannot be had is not needed: the caller does its part.
void at_once(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace sardonyx::base

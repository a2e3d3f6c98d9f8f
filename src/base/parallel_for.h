// Work in parts, on as many threads as there are processors for.
#pragma once

#include <cstddef>
#include <functional>

namespace sardonyx::base {

// Processors that this process may run on, at least 1 and at most 32: each costs memory for what it
// works on. No more than set_threads() allows.
std::size_t processors();

// How many threads to work on at most, for the whole process; 0 for as many as there are
// processors.
void set_threads(std::size_t count);

// Calls work(0) to work(count - 1), all at once, and returns when all are done; what the first of
// them threw is thrown then. A thread that cannot be had is not needed: the caller does its part.
void run_on_threads(std::size_t count, const std::function<void(std::size_t)>& work);

// Calls make(piece, thread) for pieces 0 to count - 1 on several threads at once, and take(piece,
// thread) for one after the other in their order, each on the thread that made it: what comes out
// does not depend on how many threads there are. Thread 0 is the caller's, which has its share of
// the pieces. What the first piece to fail threw ends the rest, and is thrown then.
using PieceWork = std::function<void(std::size_t piece, std::size_t thread)>;
void in_order(std::size_t count, std::size_t threads, const PieceWork& make, const PieceWork& take);

}  // namespace sardonyx::base

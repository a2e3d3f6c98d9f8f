// Calls that run bodies, described by what they do with them: which arguments are bodies, what a
// body is given, and what becomes of its results. Every stage reads control flow from here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::program {

enum class Runs : std::uint8_t {
  kOnce,     // the body, where the call stands: a wrapper
  kOneOf,    // the first body where a condition holds, else the second
  kWhile,    // the second body, as long as the first one says so
  kEach,     // the body once for each slice, in order
  kPairs,    // the body on what it made of the slices so far and the next one
  kCounted,  // the body a number of times, as long as it says so: TorchScript's loop
  kUnknown,  // nothing is known but the bodies: a score of flex_attention, a newer operator's
};

// An operator that runs bodies; lists by the names of their parameters. A body's inputs are what is
// carried, slices of what is scanned, and what is given to every run as it is, in this order; of
// kPairs, slices come twice, and of kCounted the number of the run comes first. Results that are
// carried come first among a body's outputs (of kCounted behind whether to go on).
struct RegionKind {
  std::string_view op;
  Runs runs;
  std::size_t bodies;  // how many; they are the arguments that are graphs, in order
  std::string_view carried;
  std::string_view scanned;
  std::string_view given;
  // The bodies read values of the graphs around them by themselves.
  bool captures = false;
};

// Null for an operator of which nothing such is known.
const RegionKind* region_kind(const Schema& schema);

// A call's region. Lists are null where the operator has none.
struct Region {
  const RegionKind* kind = nullptr;
  std::vector<Graph*> bodies;
  const List* carried = nullptr;
  const List* scanned = nullptr;
  const List* given = nullptr;

  // The tensor that each input of a body is given, or given slices of; null for what is no tensor,
  // and for what an earlier run made.
  std::vector<Value*> operands() const;
};

// Nothing where the call holds no body.
std::optional<Region> region_of(const Call& call);

// Some argument of the call is a graph, whatever the operator does with it.
bool holds_bodies(const Call& call);

}  // namespace sardonyx::program

// Names of a model's inputs and outputs, the same for every front end: derived from the pytree
// specs and the captured names, so that a file and the live program give the same model.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "program/ir/program.h"

namespace sardonyx::program {

// One name for each user input (InputKind::kUser, constants included), in order. `wanted` are the
// user's names, in the same order without the constants; missing or empty ones are derived:
// key/value caches become past_key_values.0.key, everything else keeps its captured name.
// Unique; throws SX1001 when more names are wanted than there are inputs, or one is wanted twice.
std::vector<std::string> input_names(const Program& program, std::span<const std::string> wanted);

// One name for each OutputSpec that is not a token, in order (None outputs included, unused).
// `wanted` names the user outputs that are not None. Dataclass and dict outputs get their keys,
// caches present.0.key, other outputs the captured value's name; mutated buffers and inputs get
// "<target>_updated"; unique, and different from every name in `inputs`.
std::vector<std::string> output_names(const Program& program, std::span<const std::string> inputs,
                                      std::span<const std::string> wanted);
// The same where the inputs have the names they get by themselves.
std::vector<std::string> output_names(const Program& program, std::span<const std::string> wanted);

}  // namespace sardonyx::program

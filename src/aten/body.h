// Translating the calls of a captured graph, the main one or a body of control flow.
#pragma once

#include <span>
#include <vector>

#include "aten/call.h"
#include "program/ir/program.h"

namespace sardonyx::aten {

// Handed to the translators of cond, while_loop, scan and the like.
struct BodyTranslator {
  virtual ~BodyTranslator() = default;

  // Emits the calls of `body` into the emitter's present graph, with `inputs` standing for the
  // body's inputs in order, and returns its outputs. Symbolic scalars come out as 0-d tensors,
  // None as an absent value. Failures inside are collected with all others; throws SX1303 when the
  // body could not be translated.
  virtual std::vector<Value> emit_body(const program::Graph& body,
                                       std::span<const Value> inputs) = 0;
};

}  // namespace sardonyx::aten

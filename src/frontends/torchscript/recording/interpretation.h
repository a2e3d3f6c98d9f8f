// What the parts of the interpreter share while they follow one program.
#pragma once

#include <vector>

#include "base/diagnostic.h"
#include "frontends/torchscript/archive/archive.h"
#include "frontends/torchscript/recording/call_stack.h"
#include "frontends/torchscript/recording/graph_recorder.h"
#include "frontends/torchscript/recording/size_assumptions.h"
#include "frontends/torchscript/recording/source_tracker.h"
#include "frontends/torchscript/syntax/syntax.h"

namespace sardonyx::torchscript {

// Follows code with the variables of the innermost function.
class CodeFollower {
 public:
  virtual ~CodeFollower() = default;
  virtual void follow(const std::vector<Statement>& block) = 0;
  virtual AbstractValue evaluate(const Expression& expression) = 0;
  virtual void assign(const Expression& target, const AbstractValue& value) = 0;
};

struct Interpretation {
  Interpretation(Archive& of, program::Program& program, const ReadOptions& options, bool branches,
                 CodeFollower& follower, SpecialCalls& special_calls)
      : archive(of),
        code(follower),
        sizes(branches),
        position(of, program),
        weights(of, program, options),
        writes(weights),
        recorder(program, options, of.version(), position, weights, writes, special_calls) {}

  Archive& archive;
  CodeFollower& code;
  CallStack stack;
  SizeAssumptions sizes;
  SourceTracker position;
  Weights weights;
  MutationTracker writes;
  GraphRecorder recorder;
  // Collected, so that one run reports all.
  std::vector<base::Diagnostic> failures;
};

}  // namespace sardonyx::torchscript

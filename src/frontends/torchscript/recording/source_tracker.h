// Where in its modules and in its code the program is followed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "frontends/torchscript/archive/archive.h"
#include "program/ir/program.h"

namespace sardonyx::torchscript {

class SourceTracker {
 public:
  SourceTracker(Archive& archive, program::Program& program)
      : archive_(archive), program_(program) {}

  void enter_function(const SourceFile* file, std::size_t offset) {
    places_.emplace_back(file, offset);
  }
  void leave_function() { places_.pop_back(); }
  void enter_module(program::ModuleFrame module) { modules_.push_back(std::move(module)); }
  void leave_module() { modules_.pop_back(); }
  // The statement or expression of the innermost function.
  void move_to(std::size_t offset) { places_.back().second = offset; }

  // Of a call that is recorded here: the modules, and the user's lines.
  const program::Source* source();
  // Adds the place to a diagnostic that has none.
  void locate(base::Diagnostic& diagnostic);

 private:
  Archive& archive_;
  program::Program& program_;
  std::vector<program::ModuleFrame> modules_;
  std::vector<std::pair<const SourceFile*, std::size_t>> places_;  // calls, innermost last
};

}  // namespace sardonyx::torchscript

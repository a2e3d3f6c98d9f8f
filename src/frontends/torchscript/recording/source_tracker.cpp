#include "frontends/torchscript/recording/source_tracker.h"

namespace sardonyx::torchscript {

const program::Source* SourceTracker::source() {
  program::Source source;
  source.modules = modules_;
  for (const auto& [file, offset] : places_) {
    const SourceMark* mark = archive_.mark(*file, offset);
    if (!mark) continue;
    source.stack_trace += "  File \"" + mark->file + "\", line " + std::to_string(mark->line) +
                          ", in forward\n    " + mark->text + "\n";
  }
  return program_.intern_source(std::move(source));
}

void SourceTracker::locate(base::Diagnostic& diagnostic) {
  if (!diagnostic.contexts.empty()) return;
  const auto& [file, offset] = places_.back();
  const program::Source* place = source();
  diagnostic.module_path = place->module_path();
  diagnostic.location = place->location();
  diagnostic.contexts.push_back("in `" + file->line_text(offset) + "` (" + file->name + ":" +
                                std::to_string(file->line_of(offset)) + ")");
}

}  // namespace sardonyx::torchscript

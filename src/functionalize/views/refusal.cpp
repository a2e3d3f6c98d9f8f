#include "functionalize/views/refusal.h"

#include <utility>

namespace sardonyx::functionalize {

std::string place_of(const program::Source* source, std::string_view node) {
  if (source) {
    const base::UserLocation place = source->location();
    if (!place.file.empty()) {
      std::string text = place.file + ":" + std::to_string(place.line);
      return place.function.empty() ? text : text + " (" + place.function + ")";
    }
  }
  return "node '" + std::string(node) + "'";
}

void refuse_call(const Call& call, std::string_view code, std::string message, std::string help) {
  throw base::Error(diagnostic_at(call, code, std::move(message), std::move(help)));
}

namespace {

std::string described(const Alias& view) {
  return "the view '" + view.like->name + "' that " + view.view->schema->qualified() + " made at " +
         place_of(view.view->source, view.view->name);
}

}  // namespace

void refuse_view(const Alias& view, std::string_view why) {
  refuse_call(*view.write, "SX1703",
              "the write goes through " + described(view) + "; " + std::string(why),
              "write to a copy of the view, or to what it shows");
}

void refuse_overlap(const Alias& view) {
  refuse_call(*view.write, "SX1702",
              "the write goes through " + described(view) +
                  ", in which several elements share one place in memory",
              "clone() the view before writing to it");
}

}  // namespace sardonyx::functionalize

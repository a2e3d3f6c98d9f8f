#include "program/ir/regions.h"

#include <algorithm>

namespace sardonyx::program {
namespace {

constexpr RegionKind kKinds[] = {
    {"higher_order::associative_scan", Runs::kPairs, 1, "", "xs", "additional_inputs"},
    {"higher_order::cond", Runs::kOneOf, 2, "", "", "operands"},
    {"higher_order::hints_wrapper", Runs::kOnce, 1, "", "", "operands"},
    {"higher_order::invoke_subgraph", Runs::kOnce, 1, "", "", "args"},
    {"higher_order::loop", Runs::kCounted, 1, "carried_inputs", "", "additional_inputs"},
    {"higher_order::map_impl", Runs::kEach, 1, "", "xs", "additional_inputs"},
    {"higher_order::scan", Runs::kEach, 1, "init", "xs", "additional_inputs"},
    {"higher_order::strict_mode", Runs::kOnce, 1, "", "", "operands"},
    {"higher_order::tag_activation_checkpoint", Runs::kOnce, 1, "", "", "args"},
    {"higher_order::while_loop", Runs::kWhile, 2, "carried_inputs", "", "additional_inputs"},
    {"higher_order::wrap", Runs::kOnce, 1, "", "", "args"},
    {"higher_order::wrap_activation_checkpoint", Runs::kOnce, 1, "", "", "args"},
    {"higher_order::wrap_with_autocast", Runs::kOnce, 1, "", "", "args"},
    {"higher_order::wrap_with_set_grad_enabled", Runs::kOnce, 1, "", "", "args"},
    {"prim::If", Runs::kOneOf, 2, "", "", "", true},
    {"prim::Loop", Runs::kCounted, 1, "carried", "", "", true},
};

constexpr RegionKind kUnknownKind{"", Runs::kUnknown, 0, "", "", ""};

const List* list_of(const Call& call, std::string_view parameter) {
  const auto position = parameter.empty() ? std::nullopt : call.schema->find(parameter);
  return position ? call.arguments[*position].get<List>() : nullptr;
}

void add_tensors(const List* list, std::vector<Value*>& values) {
  if (!list) return;
  for (const Argument& item : *list) values.push_back(tensor_of(item));
}

}  // namespace

const RegionKind* region_kind(const Schema& schema) {
  const std::string_view space = schema.space();
  if (space != "higher_order" && space != "prim") return nullptr;
  const auto* const found = std::ranges::find(kKinds, schema.name, &RegionKind::op);
  return found == std::end(kKinds) ? nullptr : found;
}

std::vector<Value*> Region::operands() const {
  std::vector<Value*> values;
  if (kind->runs == Runs::kCounted) values.push_back(nullptr);
  if (kind->runs == Runs::kPairs && scanned) values.resize(scanned->size());
  add_tensors(carried, values);
  add_tensors(scanned, values);
  add_tensors(given, values);
  return values;
}

std::optional<Region> region_of(const Call& call) {
  Region region;
  region.kind = region_kind(*call.schema);
  if (!region.kind) region.kind = &kUnknownKind;
  for (const Argument& argument : call.arguments) {
    Graph* const* body = argument.get<Graph*>();
    if (body && *body) region.bodies.push_back(*body);
  }
  if (region.bodies.empty()) return std::nullopt;
  if (region.kind->bodies != region.bodies.size()) region.kind = &kUnknownKind;
  region.carried = list_of(call, region.kind->carried);
  region.scanned = list_of(call, region.kind->scanned);
  region.given = list_of(call, region.kind->given);
  return region;
}

bool holds_bodies(const Call& call) {
  return std::ranges::any_of(
      call.arguments, [](const Argument& argument) { return argument.get<Graph*>() != nullptr; });
}

}  // namespace sardonyx::program

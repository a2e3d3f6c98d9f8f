#include "functionalize/writes/while_loops.h"

#include <algorithm>
#include <utility>

#include "functionalize/writes/loop_inputs.h"

namespace sardonyx::functionalize {

using program::List;

// True in the first run.
static Value* carry_flag(FunctionalGraph& outer, Call& call, List& carried,
                         FunctionalGraph& condition, FunctionalGraph& step) {
  const Type type = contiguous(base::DType::kBool, {});
  const Cause cause{call.source, call.name};
  const auto full = [&](Builder& builder, bool value) {
    return builder.add("aten::full",
                       {{"size", List()}, {"fill_value", value}, {"dtype", type.dtype}}, type,
                       cause, "is_first");
  };
  carried.emplace_back(full(outer.builder(), true));
  step.graph().outputs.push_back(full(step.builder(), false));
  call.outputs.push_back(nullptr);
  condition.add_input("is_first", type);
  return step.add_input("is_first", type);
}

void carry_contents(FunctionalGraph& outer, Call& call, const program::RegionKind& kind,
                    FunctionalGraph& condition, FunctionalGraph& step,
                    std::vector<BodyWrite>& writes) {
  List& carried = list_argument(call, kind.carried);
  List& further = list_argument(call, kind.given);
  const std::size_t count = carried.size();
  call.outputs.resize(count);
  std::stable_partition(writes.begin(), writes.end(),
                        [&](const BodyWrite& each) { return each.position >= count; });
  std::vector<std::size_t> moved;
  Value* is_first = nullptr;
  for (BodyWrite& written : writes) {
    Value* input = step.graph().inputs[written.position];
    Value* content = step.aliases().current(step.aliases().of(input));
    if (written.position >= count) {
      moved.push_back(written.position);
    } else {
      if (!is_first) is_first = carry_flag(outer, call, carried, condition, step);
      const Type type = type_of(*written.operand);
      condition.add_input(written.operand->name, type);
      content = step.builder().add("aten::where.self",
                                   {{"condition", is_first},
                                    {"self", content},
                                    {"other", step.add_input(written.operand->name, type)}},
                                   type, {written.write->source, written.write->name}, input->name);
    }
    carried.emplace_back(written.operand);
    step.graph().outputs.push_back(content);
    written.content =
        outer.builder().output(call, type_of(*written.operand), written.operand->name);
  }
  List rest;
  for (std::size_t i = 0; i < further.size(); ++i) {
    if (std::find(moved.begin(), moved.end(), count + i) == moved.end()) rest.push_back(further[i]);
  }
  const std::size_t captured = count + further.size();
  further = std::move(rest);
  for (FunctionalGraph* each : {&condition, &step})
    order_inputs(each->graph(), count, captured, moved);
}

}  // namespace sardonyx::functionalize

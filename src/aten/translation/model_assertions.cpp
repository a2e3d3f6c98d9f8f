// What a program asserts, as outputs, and the bounds of its sizes, as metadata.
#include <fmt/format.h>

#include <unordered_set>

#include "aten/translation/translation.h"
#include "onnx/graph/dim_bounds.h"
#include "program/facts/facts.h"

namespace sardonyx::aten {

void Translation::keep_assertion(const program::Call& call) {
  if (!program::facts_of(*call.schema).asserts || !call.schema->find("self")) return;
  const program::Argument& asserted = call.argument("self");
  // What follows from the bounds of the sizes is said with them.
  const Expr* expr = asserted.get<Expr>();
  if (expr && expr->is_constant()) return;
  const Value truth = emit_.reshape(emit_.cast(output_value(asserted), DType::kBool), Shape{});
  const std::string* message = nullptr;
  if (call.schema->find("assert_msg")) message = call.argument("assert_msg").get<std::string>();
  assertions_.push_back({truth, message ? *message : call.name});
}

void Translation::keep_bounds() {
  for (const Expr symbol : program_.pool->symbols()) {
    const std::string bounds = symbol.is_unbacked() ? onnx::bounds_text(symbol) : std::string();
    if (bounds.empty() || !emit_.can_size(symbol)) continue;
    const symbolic::Range range = symbolic::range(symbol);
    const Value size = emit_.size(symbol);
    const Value low = emit_.less_or_equal(emit_.int_scalar(range.low), size);
    const Value high = emit_.less_or_equal(size, emit_.int_scalar(range.high));
    assertions_.push_back({emit_.and_(low, high), bounds});
  }
}

void Translation::add_assertions(std::vector<onnx::ValueInfo*>& outputs,
                                 std::vector<std::string>& names) {
  keep_bounds();
  for (std::size_t i = 0; i < assertions_.size(); ++i) {
    // One condition may be asserted twice, or be an output itself.
    outputs.push_back(emit_.identity(assertions_[i].truth).info());
    names.push_back(fmt::format("assertion_{}", i));
    model_->metadata.emplace_back("sardonyx." + names.back(), assertions_[i].message);
  }
}

void Translation::add_bounds() {
  std::unordered_set<Expr, symbolic::ExprHash> written;
  const auto add = [&](const program::Value* value) {
    if (!value) return;
    for (const Expr dim : value->shape) {
      if (!dim.known() || dim.is_constant()) continue;
      for (const Expr symbol : symbolic::symbols_of(dim)) {
        if (written.insert(symbol).second) onnx::write_bounds(*model_, symbol);
      }
    }
  };
  for (const program::InputSpec& input : program_.inputs) add(input.value);
  for (const program::OutputSpec& output : program_.outputs) output.value.each_value(add);
}

}  // namespace sardonyx::aten

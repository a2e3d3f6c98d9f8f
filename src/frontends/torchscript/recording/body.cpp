#include "frontends/torchscript/recording/body.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "frontends/torchscript/recording/interruptions.h"
#include "program/facts/facts.h"
#include "program/ir/regions.h"

namespace sardonyx::torchscript {

using Kind = AbstractValue::Kind;
using program::Argument;
using program::Graph;
using program::List;
using program::Value;
using symbolic::Expr;

namespace {

// Also where a body inside of a body does.
bool writes(const Graph& graph) {
  return std::ranges::any_of(graph.calls, [](const program::Call* call) {
    if (call->schema->mutates() || program::facts_of(*call->schema).asserts) return true;
    const auto region = program::region_of(*call);
    return region && std::ranges::any_of(region->bodies, [](Graph* body) { return writes(*body); });
  });
}

}  // namespace

Body::Body(Interpretation& state, const std::string& name) : state_(state) {
  graph = state.recorder.program().add_graph();
  graph->name = state.recorder.new_name(name);
  for (const Expr symbol : state.recorder.pool().symbols()) known_symbols_.emplace(symbol.name());
}

Body::Inside::Inside(Body& body)
    : recorder(body.state_.recorder), outer(recorder.exchange_graph(body.graph)) {}

Body::Inside::~Inside() { recorder.exchange_graph(outer); }

void Body::follow(const std::vector<Statement>& block, const std::function<void()>& then) {
  const auto inside = this->inside();
  MutationTracker::UndoLog undo_log;
  const std::uint64_t first_serial = Container::next_serial();
  CallStack::Frame& frame = state_.stack.top();
  const Variables before = frame.variables;
  CallStack::Frame* const outer_frame = state_.stack.exchange_body_frame(&frame);
  const std::optional<AbstractValue> result = frame.result;
  state_.writes.begin_body(undo_log);
  const auto take_back = [&] {
    state_.writes.end_body();
    state_.stack.exchange_body_frame(outer_frame);
    variables = std::exchange(frame.variables, before);
    for (const MutationTracker::Write& write : undo_log) {
      if (write.held->serial > first_serial) continue;  // made in the body
      contents.emplace_back(write.held, *write.held);
      *write.held = write.before;
    }
  };
  try {
    state_.code.follow(block);
    if (then) then();
  } catch (const Raised& raise) {
    raised = true;
    message = raise.message;
  } catch (...) {
    take_back();
    throw;
  }
  take_back();
  if (std::exchange(frame.result, result).has_value())
    refuse("a return inside of a data-dependent branch or loop");
}

Value* Body::tensor(const AbstractValue& datum) {
  const auto inside = this->inside();
  return state_.recorder.tensor(datum);
}

bool Body::is_local(Expr size) const {
  return std::ranges::any_of(symbolic::symbols_of(size), [&](Expr symbol) {
    return !known_symbols_.contains(std::string(symbol.name()));
  });
}

bool Body::is_local(const AbstractValue& datum) const {
  if (datum.expr.known() && is_local(datum.expr)) return true;
  if (!datum.value) return false;
  const auto holds = [&](const std::vector<Value*>& values) {
    return std::ranges::find(values, datum.value) != values.end();
  };
  return holds(graph->inputs) || std::ranges::any_of(graph->calls, [&](const program::Call* call) {
           return holds(call->outputs);
         });
}

bool Body::writes_outside() const { return writes(*graph); }

bool Body::wrote(const std::shared_ptr<Container>& held) const {
  return std::ranges::any_of(contents, [&](const auto& each) { return each.first == held; });
}

const Container& Body::content(const std::shared_ptr<Container>& held) const {
  for (const auto& [written, container] : contents)
    if (written == held) return container;
  return *held;
}

std::vector<std::shared_ptr<Container>> written_in(const Body& first, const Body& second) {
  std::vector<std::shared_ptr<Container>> found;
  for (const Body* body : {&first, &second}) {
    for (const auto& [held, container] : body->contents)
      if (std::ranges::find(found, held) == found.end()) found.push_back(held);
  }
  return found;
}

namespace {

class Closing {
 public:
  explicit Closing(program::Program& program) : program_(program) {}

  void read(const Graph& body) {
    std::unordered_set<const Value*> defined(body.inputs.begin(), body.inputs.end());
    const auto visit = [&](const Argument& argument) {
      argument.each_value([&](Value* value) {
        if (value && !defined.contains(value) && seen_.insert(value).second)
          operands.emplace_back(value);
      });
    };
    for (const program::Call* call : body.calls) {
      for (const Argument& argument : call->arguments) visit(argument);
      defined.insert(call->outputs.begin(), call->outputs.end());
    }
    for (const Argument& output : body.outputs) visit(output);
  }

  void close(Graph& body) {
    std::unordered_map<const Value*, Value*> inputs;
    for (const Argument& operand : operands) {
      const Value* outer = *operand.get<Value*>();
      Value* input = program_.add_value();
      *input = *outer;
      input->producer = nullptr;
      input->weight = nullptr;
      input->index = static_cast<std::uint32_t>(body.inputs.size());
      body.inputs.push_back(input);
      inputs.emplace(outer, input);
    }
    const auto replace = [&](Argument& argument) {
      argument.each_value([&](Value*& value) {
        const auto found = inputs.find(value);
        if (found != inputs.end()) value = found->second;
      });
    };
    for (program::Call* call : body.calls) {
      for (Argument& argument : call->arguments) replace(argument);
    }
    for (Argument& output : body.outputs) replace(output);
  }

  List operands;

 private:
  program::Program& program_;
  std::unordered_set<const Value*> seen_;
};

}  // namespace

List close(const std::vector<Graph*>& bodies, program::Program& program) {
  Closing closing(program);
  for (const Graph* body : bodies) closing.read(*body);
  for (Graph* body : bodies) closing.close(*body);
  return std::move(closing.operands);
}

AbstractValue stand_in(GraphRecorder& recorder, const AbstractValue& other, const Body& from) {
  // What was there before is itself: writes to it show.
  const bool is_earlier = (other.is_tensor() && other.value) || other.is_number();
  if (is_earlier && !from.is_local(other)) return other;
  if (other.is_tensor()) {
    std::vector<AbstractValue> sizes;
    const std::size_t rank = other.value ? other.value->rank() : 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const Expr size = other.value->shape[i];
      const bool is_known = !from.is_local(size) && symbolic::certainly_nonnegative(size);
      sizes.push_back(AbstractValue::of_int(is_known ? size : Expr(1)));
    }
    const base::DType dtype = other.value ? other.value->dtype : base::DType::kInt64;
    const program::Schema* schema = program::find_schema("aten::zeros");
    return recorder.call(
        *schema,
        program::bind(*schema, {recorder.argument(AbstractValue::of_items(Kind::kList, sizes))},
                      {{"dtype", Argument(dtype)}}));
  }
  if (other.kind == Kind::kInt) return AbstractValue::of_int(0);
  if (other.kind == Kind::kFloat) return AbstractValue::of_real(0);
  if (other.kind == Kind::kBool) return AbstractValue::of_bool(false);
  if (!other.held || other.kind == Kind::kObject) return other;
  AbstractValue made = AbstractValue::of_items(other.kind, {});
  made.held->type = other.held->type;
  made.held->names = other.held->names;
  for (const AbstractValue& item : other.held->items)
    made.held->items.push_back(stand_in(recorder, item, from));
  return made;
}

bool is_same(const AbstractValue& left, const AbstractValue& right) {
  if (left.kind != right.kind || left.value != right.value || left.text != right.text) return false;
  if (left.held != right.held || left.stored != right.stored) return false;
  if (left.expr.known() != right.expr.known()) return false;
  if (left.expr.known() && !(left.expr == right.expr)) return false;
  return left.real == right.real && left.imaginary == right.imaginary;
}

Expr fresh_size(symbolic::Pool& pool) {
  const Expr size = pool.fresh("u");
  pool.mark_unbacked(size);
  return size;
}

}  // namespace sardonyx::torchscript

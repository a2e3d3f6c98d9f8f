#include "onnx/infer/infer_model.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/diagnostic.h"
#include "onnx/gen/op.h"
#include "onnx/infer/infer.h"
#include "onnx/infer/infer_ml.h"
#include "onnx/infer/inference.h"
#include "onnx/infer/malformed_nodes.h"
#include "onnx/infer/merge_types.h"

namespace sardonyx::onnx {
namespace {

// Each round takes what is known once through the model; loops and functions need a few.
constexpr int kMaxRounds = 8;
// A loop's state either settles soon or has sizes that change.
constexpr int kMaxIterations = 4;
// As many disputes mean that the file's declarations are of another model.
constexpr std::size_t kStale = 3;

std::string first_message(const base::Error& error) {
  return error.diagnostics().empty() ? std::string(error.what())
                                     : error.diagnostics().front().message;
}

class Whole {
 public:
  explicit Whole(Model& model) : model_(model) {
    for (const Function& function : model.functions)
      functions_.emplace(std::tuple(function.domain, function.name, function.overload), &function);
    visit(*model.graph);
    for (const Function& function : model.functions)
      if (function.body != nullptr) visit(*function.body);
  }

  std::vector<TypeConflict> run() {
    settle_all();
    if (stale_ >= kStale) {
      for (auto& [value, type] : declared_)
        if (value->returns.empty() && value->producer != nullptr &&
            value->producer->op != kUnknownOp)
          type = Type{};
      forget_disputes();
      settle_all();
    }
    return std::move(disputes_);
  }

 private:
  // What the file says of each node's outputs.
  void visit(const Graph& graph) {
    for (const Node* node = graph.first; node != nullptr; node = node->next) {
      for (ValueInfo* output : node->outputs)
        if (output != nullptr) declared_.emplace(output, type_of(*output));
      for (const Graph* body : bodies(node)) {
        for (ValueInfo* input : body->inputs) declared_.emplace(input, type_of(*input));
        visit(*body);
      }
    }
  }

  // A layer that is given what its other calls give has the type of the first call, until a call
  // shows otherwise. What does not settle so begins with nothing known of the functions.
  void settle_all() {
    if (!model_.functions.empty()) {
      const bool settled = rounds(/*hopeful=*/true);
      forget_disputes();
      if (settled && rounds()) return;
      forget_disputes();
      for (const Function& function : model_.functions)
        if (function.body != nullptr)
          for (ValueInfo* input : function.body->inputs) set_type(*input, {});
    }
    rounds();
  }

  void forget_disputes() {
    for (ValueInfo* value : flagged_) value->is_disputed = false;
    flagged_.clear();
    disputed_.clear();
    disputes_.clear();
    stale_ = 0;
  }

  // Whether nothing was left to change. In hope, arguments of unknown type are not counted.
  bool rounds(bool hopeful = false) {
    for (int round = 0; round < kMaxRounds; ++round) {
      changed_ = false;
      calls_.clear();
      opset_ = opset_of(model_.graph);
      graph(model_.graph);
      for (const Function& function : model_.functions) {
        if (function.body == nullptr) continue;
        take_arguments(function, hopeful);
        opset_ = opset_of(function.body);
        graph(function.body);
      }
      if (!changed_) return true;
    }
    return false;
  }

  void graph(Graph* graph) {
    for (Node* node = graph->first; node != nullptr; node = node->next) this->node(node);
  }

  void set(ValueInfo* value, Type type) {
    if (type_of(*value) == type) return;
    set_type(*value, std::move(type));
    changed_ = true;
  }

  void node(Node* node) {
    if (node->op == Op::kLoop) {
      loop(node);
    } else if (node->op == Op::kScan) {
      scan(node);
    } else {
      for (Graph* body : bodies(node)) graph(body);
    }
    const bool is_ml = is_ml_operator(node) && !is_call(node);
    if (node->op == kUnknownOp && !is_ml) {
      call(node);
      return;
    }
    std::vector<Type> before;
    for (ValueInfo* output : node->outputs) {
      before.push_back(output == nullptr ? Type{} : type_of(*output));
      if (output == nullptr) continue;
      set_type(*output, {});
      output->contents.clear();
    }
    try {
      if (is_ml)
        infer_ml(node);
      else
        infer(node, *model_.pool, opset_);
    } catch (const base::Error& error) {
      dispute(node, first_message(error), /*is_rejected=*/node->graph == model_.graph);
      for (ValueInfo* input : node->inputs) flag(input);
      for (ValueInfo* output : node->outputs) flag(output);
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      if (ValueInfo* output = node->outputs[i]) settle(node, output, before[i]);
  }

  // What was inferred, and what is declared, as one.
  void settle(const Node* node, ValueInfo* output, const Type& before) {
    const Type& declared = declared_.at(output);
    std::string contradiction;
    Type type = merged(declared, type_of(*output), contradiction);
    if (!contradiction.empty()) {
      flag(output);
      if (disputed_.insert(output).second) ++stale_;
      dispute(node, fmt::format("'{}' is {}", output->name, contradiction));
      output->contents.clear();
    }
    if (is_interface(output) && declared.dtype != DType::kUndefined) type = declared;
    changed_ = changed_ || !(type == before);
    set_type(*output, std::move(type));
  }

  void flag(ValueInfo* value) {
    if (value == nullptr || value->is_disputed) return;
    value->is_disputed = true;
    flagged_.push_back(value);
  }

  bool is_interface(const ValueInfo* value) const {
    for (const Return& place : value->returns)
      if (place.graph == model_.graph) return true;
    return false;
  }

  void dispute(const Node* node, std::string message, bool is_rejected = false) {
    TypeConflict said{node->name.empty() ? node->op_type : node->name, std::move(message),
                      is_rejected};
    for (const TypeConflict& other : disputes_)
      if (other.node == said.node && other.message == said.message) return;
    disputes_.push_back(std::move(said));
  }

  // --- bodies

  void give(ValueInfo* input, Type type) {
    const Type& declared = declared_.at(input);
    if (declared.dtype != DType::kUndefined) type.dtype = declared.dtype;
    set(input, std::move(type));
  }

  // The state of a loop has what its first value and what the body makes of it have in common.
  void loop(Node* node) {
    const std::vector<Graph*> inner = bodies(node);
    if (inner.size() != 1) return;
    Graph* const body = inner.front();
    const std::size_t states = node->inputs.size() < 2 ? 0 : node->inputs.size() - 2;
    if (body->inputs.size() != states + 2 || body->outputs.size() < states + 1) {
      graph(body);
      return;
    }
    give(body->inputs[0], {TypeKind::kTensor, DType::kInt64, true, {}});
    give(body->inputs[1], {TypeKind::kTensor, DType::kBool, true, {}});
    for (std::size_t i = 0; i < states; ++i)
      if (const ValueInfo* first = node->inputs[i + 2]) give(body->inputs[i + 2], type_of(*first));
    iterate(body, states, 2, 1);
  }

  // Until the states, inputs from `in` on and outputs from `out` on, have a type that every step
  // keeps.
  void iterate(Graph* body, std::size_t states, std::size_t in, std::size_t out) {
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
      graph(body);
      bool settled = true;
      for (std::size_t i = 0; i < states; ++i) {
        const Type state = type_of(*body->inputs[i + in]);
        Type next = common(state, type_of(*body->outputs[i + out]));
        next.kind = state.kind;
        next.dtype = state.dtype;
        if (iteration + 1 == kMaxIterations && !(next == state))
          next = {state.kind, state.dtype, false, {}};
        if (next == state) continue;
        settled = false;
        give(body->inputs[i + in], std::move(next));
      }
      if (settled) return;
    }
    graph(body);
  }

  // Of what is scanned the body has one element along its axis.
  void scan(Node* node) {
    const std::vector<Graph*> inner = bodies(node);
    const auto scanned = static_cast<std::size_t>(node->int_or("num_scan_inputs", 0));
    if (inner.size() != 1) return;
    Graph* const body = inner.front();
    if (body->inputs.size() != node->inputs.size() || scanned > node->inputs.size() ||
        body->outputs.size() < node->inputs.size() - scanned) {
      graph(body);
      return;
    }
    const std::size_t states = node->inputs.size() - scanned;
    const std::vector<std::int64_t>* axes = node->ints("scan_input_axes");
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const ValueInfo* outer = node->inputs[i];
      if (outer == nullptr) continue;
      Type type = type_of(*outer);
      if (!type.has_rank) {
        // What the file says, which is as much as anybody knows.
        type.shape = declared_.at(body->inputs[i]).shape;
        type.has_rank = declared_.at(body->inputs[i]).has_rank;
      } else if (i >= states) {
        const auto rank = static_cast<std::int64_t>(type.shape.size());
        std::int64_t axis = axes != nullptr && i - states < axes->size() ? (*axes)[i - states] : 0;
        if (axis < 0) axis += rank;
        if (axis >= 0 && axis < rank) {
          type.shape.erase(type.shape.begin() + axis);
        } else {
          type = {type.kind, type.dtype, false, {}};
        }
      }
      give(body->inputs[i], std::move(type));
    }
    iterate(body, states, 0, 0);
  }

  // --- functions

  bool is_call(const Node* node) const {
    return functions_.contains(std::tuple(node->domain, node->op_type, node->overload));
  }

  void call(Node* node) {
    const auto found = functions_.find(std::tuple(node->domain, node->op_type, node->overload));
    if (found == functions_.end() || found->second->body == nullptr) return;
    calls_[found->second].push_back(node);
    const Graph& body = *found->second->body;
    for (std::size_t i = 0; i < node->outputs.size() && i < body.outputs.size(); ++i) {
      ValueInfo* const output = node->outputs[i];
      if (output == nullptr) continue;
      const Type before = type_of(*output);
      set_type(*output, type_of(*body.outputs[i]));
      settle(node, output, before);
    }
  }

  void take_arguments(const Function& function, bool hopeful) {
    const auto found = calls_.find(&function);
    if (found == calls_.end()) return;
    for (std::size_t i = 0; i < function.body->inputs.size(); ++i) {
      Type type;
      bool first = true;
      for (const Node* node : found->second) {
        const ValueInfo* argument = node->input(i);
        const Type given = argument != nullptr ? type_of(*argument) : Type{};
        if (hopeful && argument != nullptr && given.dtype == DType::kUndefined) continue;
        type = first ? given : common(type, given);
        first = false;
      }
      set(function.body->inputs[i], std::move(type));
    }
  }

  Model& model_;
  std::int64_t opset_ = 0;
  bool changed_ = false;
  std::size_t stale_ = 0;  // values of which something else is declared
  std::unordered_set<const ValueInfo*> disputed_;
  std::vector<ValueInfo*> flagged_;
  std::unordered_map<ValueInfo*, Type> declared_;
  std::vector<TypeConflict> disputes_;
  std::map<std::tuple<std::string, std::string, std::string>, const Function*> functions_;
  std::unordered_map<const Function*, std::vector<Node*>> calls_;
};

}  // namespace

std::vector<TypeConflict> infer_types(Model& model) {
  std::vector<TypeConflict> disputes = set_incomplete_aside(model);
  for (TypeConflict& each : Whole(model).run()) disputes.push_back(std::move(each));
  return disputes;
}

}  // namespace sardonyx::onnx

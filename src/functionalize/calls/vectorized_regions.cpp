#include "functionalize/calls/vectorized_regions.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "functionalize/calls/elementwise_calls.h"
#include "functionalize/views/builder.h"
#include "functionalize/views/refusal.h"

namespace sardonyx::functionalize {
namespace {

using program::Graph;
using program::List;
using program::Program;

constexpr std::string_view kEnter = "python::_vmap_increment_nesting";
constexpr std::string_view kLeave = "python::_vmap_decrement_nesting";
constexpr std::string_view kHide = "python::_add_batch_dim";
constexpr std::string_view kShow = "python::_remove_batch_dim";
constexpr std::string_view kPrepare = "python::lazy_load_decompositions";

std::int64_t dimension_of(const Call& call, std::size_t position, std::size_t rank) {
  const Expr* given = call.arguments.at(position).get<Expr>();
  if (!given || !given->is_constant()) {
    refuse_call(call, "SX1701", "a vectorized region whose dimension is not a number",
                "give vmap's in_dims and out_dims as numbers");
  }
  const std::int64_t dim = given->value();
  return dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
}

// A tensor whose dimension is hidden, and what one sample of it is called.
struct Hidden {
  Value* whole = nullptr;
  std::int64_t dim = 0;
  Value* sample = nullptr;
};

// A result on samples, and what it is called with its dimension shown again.
struct Shown {
  Value* sample = nullptr;
  std::int64_t dim = 0;
  Value* whole = nullptr;
};

class Expansion {
 public:
  explicit Expansion(Program& program, Graph& graph)
      : program_(program), graph_(graph), names_(program) {}

  void run() {
    std::vector<std::vector<Call*>> open(1);
    for (Call* call : graph_.calls) {
      const std::string_view name = call->schema->name;
      if (name == kEnter) {
        open.emplace_back();
      } else if (name == kLeave && open.size() > 1) {
        const std::vector<Call*> region = std::move(open.back());
        open.pop_back();
        calls_ = &open.back();
        expand(region);
      } else if (name != kPrepare) {
        open.back().push_back(call);
      }
    }
    graph_.calls = std::move(open.front());
  }

 private:
  void expand(const std::vector<Call*>& region) {
    hidden_.clear();
    shown_.clear();
    samples_.clear();
    std::vector<Call*> members;
    for (Call* call : region) {
      if (call->schema->name == kHide) {
        hide(*call);
      } else if (call->schema->name == kShow) {
        show(*call);
      } else if (depends_on_samples(*call)) {
        for (const Value* output : call->outputs) samples_.insert(output);
        members.push_back(call);
      } else {
        calls_->push_back(call);  // the same for every sample
      }
    }
    if (shown_.empty()) return;
    const bool at_once = std::all_of(members.begin(), members.end(), [&](const Call* call) {
      return broadcasts_over_samples(*call, samples_);
    });
    if (at_once) {
      all_at_once(members);
    } else {
      map_over_samples(members);
    }
  }

  void hide(const Call& call) {
    Value* whole = tensor_of(call.arguments.at(0));
    Value* sample = call.outputs.empty() ? nullptr : call.outputs[0];
    if (!sample) return;
    hidden_.push_back({whole, dimension_of(call, 1, whole->rank()), sample});
    samples_.insert(sample);
  }

  void show(const Call& call) {
    Value* whole = call.outputs.empty() ? nullptr : call.outputs[0];
    if (!whole) return;
    Value* sample = tensor_of(call.arguments.at(0));
    const std::int64_t dim = dimension_of(call, 3, whole->rank());
    if (samples_.contains(sample)) {
      shown_.push_back({sample, dim, whole});
      return;
    }
    // The same for every sample.
    Type type = contiguous(whole->dtype, whole->shape);
    type.shape[static_cast<std::size_t>(dim)] = 1;
    Value* one = add("aten::unsqueeze", {{"self", sample}, {"dim", Expr(dim)}}, type, whole->name);
    const List size(whole->shape.begin(), whole->shape.end());
    give(append("aten::expand", {{"self", one}, {"size", size}}, call), whole);
  }

  bool depends_on_samples(const Call& call) const {
    bool found = false;
    for (const Argument& argument : call.arguments) {
      argument.each_value([&](const Value* value) { found |= samples_.contains(value); });
    }
    return found;
  }

  // With its dimension in front.
  Value* whole_of(const Hidden& hidden) {
    if (hidden.dim == 0) return hidden.whole;
    std::vector<Expr> shape = hidden.whole->shape;
    std::rotate(shape.begin(), shape.begin() + hidden.dim, shape.begin() + hidden.dim + 1);
    return add("aten::movedim.int",
               {{"self", hidden.whole}, {"source", Expr(hidden.dim)}, {"destination", Expr(0)}},
               contiguous(hidden.whole->dtype, std::move(shape)), hidden.whole->name);
  }

  void show_again(const Shown& shown, Value* stacked) {
    give(append("aten::movedim.int",
                {{"self", stacked}, {"source", Expr(0)}, {"destination", Expr(shown.dim)}},
                *stacked->producer),
         shown.whole);
  }

  // Samples get their dimension in front; those of lower rank get more behind it.
  void all_at_once(const std::vector<Call*>& members) {
    std::unordered_map<const Value*, Value*> whole;
    std::unordered_map<const Value*, std::size_t> ranks;
    Expr count;
    for (const Hidden& hidden : hidden_) {
      whole[hidden.sample] = whole_of(hidden);
      ranks[hidden.sample] = hidden.sample->rank();
      count = hidden.whole->shape[static_cast<std::size_t>(hidden.dim)];
    }
    for (Call* call : members) {
      const std::size_t rank = rank_of_samples(*call);
      for (Argument& argument : call->arguments) {
        argument.each_value([&](Value*& value) {
          const auto found = whole.find(value);
          if (found != whole.end()) value = with_rank(found->second, ranks.at(value), rank);
        });
      }
      for (Value* output : call->outputs) {
        if (!output) continue;
        ranks[output] = output->rank();
        whole[output] = output;
        output->shape.insert(output->shape.begin(), count);
        output->strides.clear();
      }
      calls_->push_back(call);
    }
    for (const Shown& shown : shown_) {
      Value* stacked = whole.at(shown.sample);
      if (!stacked->producer) stacked = identity(stacked);
      show_again(shown, stacked);
    }
  }

  Value* identity(Value* value) {
    return add("aten::alias", {{"self", value}}, type_of(*value), value->name);
  }

  Value* with_rank(Value* value, std::size_t rank, std::size_t wanted) {
    for (; rank < wanted; ++rank) {
      Type type = contiguous(value->dtype, value->shape);
      type.shape.insert(type.shape.begin() + 1, Expr(1));
      value = add("aten::unsqueeze", {{"self", value}, {"dim", Expr(1)}}, type, value->name);
    }
    return value;
  }

  void map_over_samples(const std::vector<Call*>& members) {
    Graph* body = program_.add_graph();
    body->name = names_.fresh("vectorized");
    List xs, further;
    std::unordered_map<const Value*, Value*> inside;
    for (const Hidden& hidden : hidden_) {
      xs.emplace_back(whole_of(hidden));
      enter(*body, hidden.sample);
      inside[hidden.sample] = hidden.sample;
    }
    for (Call* call : members) {
      for (Argument& argument : call->arguments) {
        argument.each_value([&](Value*& value) {
          if (value->kind != program::ValueKind::kTensor) return;
          if (const auto found = inside.find(value); found != inside.end()) {
            value = found->second;
            return;
          }
          Value* own = program_.add_value();
          *own = *value;
          own->name = names_.fresh(value->name);
          names_.take(own->name);
          further.emplace_back(value);
          enter(*body, own);
          value = inside[value] = own;
        });
      }
      for (Value* output : call->outputs) inside[output] = output;
      body->calls.push_back(call);
    }
    for (const Shown& shown : shown_) body->outputs.emplace_back(shown.sample);
    const Call& near = members.empty() ? *shown_.front().whole->producer : *members.front();
    const program::Schema& schema = *program::find_schema("higher_order::map_impl");
    Call* map = program_.add_call();
    map->schema = &schema;
    map->arguments = {body, std::move(xs), std::move(further)};
    map->source = near.source;
    map->name = names_.fresh("map");
    names_.take(map->name);
    calls_->push_back(map);
    const Hidden& any = hidden_.front();
    for (const Shown& shown : shown_) {
      Value* stacked = program_.add_value();
      *stacked = *shown.sample;
      stacked->name = names_.fresh(shown.whole->name + "_stacked");
      names_.take(stacked->name);
      stacked->strides.clear();
      stacked->shape.insert(stacked->shape.begin(),
                            any.whole->shape[static_cast<std::size_t>(any.dim)]);
      give(map, stacked);
    }
    for (std::size_t i = 0; i < shown_.size(); ++i) show_again(shown_[i], map->outputs[i]);
  }

  static void enter(Graph& body, Value* input) {
    input->producer = nullptr;
    input->weight = nullptr;
    input->index = static_cast<std::uint32_t>(body.inputs.size());
    body.inputs.push_back(input);
  }

  Call* append(std::string_view op, std::vector<NamedArgument> arguments, const Call& near) {
    const program::Schema& schema = *program::find_schema(op);
    Call* call = program_.add_call();
    call->schema = &schema;
    call->arguments = program::bind(schema, {}, std::move(arguments));
    call->source = near.source;
    calls_->push_back(call);
    return call;
  }

  static void give(Call* call, Value* output) {
    output->producer = call;
    output->index = static_cast<std::uint32_t>(call->outputs.size());
    call->outputs.push_back(output);
    if (call->name.empty()) call->name = output->name;
  }

  Value* add(std::string_view op, std::vector<NamedArgument> arguments, const Type& type,
             const std::string& name) {
    Builder builder(program_, names_, *calls_);
    return builder.add(op, std::move(arguments), type, {}, name);
  }

  Program& program_;
  Graph& graph_;
  Names names_;
  std::vector<Call*>* calls_ = nullptr;  // where what is made goes
  std::vector<Hidden> hidden_;
  std::vector<Shown> shown_;
  std::unordered_set<const Value*> samples_;
};

bool holds_regions(const Graph& graph) {
  return std::any_of(graph.calls.begin(), graph.calls.end(),
                     [](const Call* call) { return call->schema->name == kEnter; });
}

}  // namespace

void expand_vectorized_regions(Program& program, Graph& graph) {
  for (const Call* call : graph.calls) {
    for (const Argument& argument : call->arguments) {
      if (Graph* const* body = argument.get<Graph*>()) expand_vectorized_regions(program, **body);
    }
  }
  if (holds_regions(graph)) Expansion(program, graph).run();
}

}  // namespace sardonyx::functionalize

#include "functionalize/writes/statistics.h"

#include "functionalize/views/refusal.h"

namespace sardonyx::functionalize {
namespace {

using program::List;

// running = (1 - momentum) * running + momentum * batch
struct Running {
  Builder& builder;
  const Call& call;
  double momentum;

  Value* mixed(Value* running, Value* batch, const Value& like) const {
    const Cause cause{call.source, call.name};
    const Type type = contiguous(like.dtype, like.shape);
    if (batch->dtype != like.dtype) {
      batch = builder.add("aten::to.dtype", {{"self", batch}, {"dtype", like.dtype}}, type, cause,
                          batch->name);
    }
    Value* kept = builder.add("aten::mul.Scalar", {{"self", running}, {"other", 1.0 - momentum}},
                              type, cause, like.name);
    return builder.add("aten::add.Tensor", {{"self", kept}, {"other", batch}, {"alpha", momentum}},
                       type, cause, like.name);
  }
};

}  // namespace

void rewrite_batch_norm(FunctionalGraph& graph, Call& call) {
  Aliases& aliases = graph.aliases();
  Builder& builder = graph.builder();
  const bool instance = call.schema->find("use_input_stats").has_value();
  const bool* training = call.argument(instance ? "use_input_stats" : "training").get<bool>();
  Value* mean = tensor_of(call.argument("running_mean"));
  Value* variance = tensor_of(call.argument("running_var"));
  Value* given = tensor_of(call.argument("input"));
  // Of no elements PyTorch takes no statistics; they may not even have an axis of channels.
  const bool empty = given && symbolic::product(given->shape).is(0);
  const bool updates = training && *training && (mean || variance) && !empty;
  Value* input = updates ? aliases.read(given) : nullptr;
  for (Argument& argument : call.arguments) graph.read_in(argument);
  graph.append(call);
  if (!updates) return;
  // momentum, or exponential_average_factor
  const double* factor = call.arguments[6].get<double>();
  const Running running{builder, call, factor ? *factor : 0.1};
  call.arguments[6] = 0.0;  // the call itself updates nothing any more
  const Cause cause{call.source, call.name};
  List dims, inner;
  for (std::size_t i = 0; i < input->rank(); ++i) {
    if (i != 1) dims.emplace_back(Expr(static_cast<std::int64_t>(i)));
    if (i > 1) inner.emplace_back(Expr(static_cast<std::int64_t>(i)));
  }
  const Type type = contiguous(input->dtype, {input->shape[1]});
  if (mean) {
    Value* batch = builder.add("aten::mean.dim", {{"self", input}, {"dim", dims}}, type, cause,
                               call.name + "_mean");
    aliases.write(aliases.of(mean), running.mixed(aliases.read(mean), batch, *mean), call);
  }
  if (variance) {
    // The running variance is the unbiased one, unlike that which normalizes.
    // Each instance has its own, of which the average is tracked.
    const Type own = contiguous(input->dtype, {input->shape[0], input->shape[1]});
    Value* batch =
        builder.add("aten::var.correction",
                    {{"self", input}, {"dim", instance ? inner : dims}, {"correction", Expr(1)}},
                    instance ? own : type, cause, call.name + "_var");
    if (instance) {
      batch = builder.add("aten::mean.dim", {{"self", batch}, {"dim", List{Expr(0)}}}, type, cause,
                          call.name + "_mean_var");
    }
    aliases.write(aliases.of(variance), running.mixed(aliases.read(variance), batch, *variance),
                  call);
  }
}

}  // namespace sardonyx::functionalize

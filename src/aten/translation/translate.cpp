#include "aten/translation/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "aten/translation/fall_through.h"
#include "aten/translation/translation.h"
#include "onnx/graph/names.h"
#include "program/facts/facts.h"
#include "program/ir/place.h"
#include "program/ir/regions.h"

namespace sardonyx::aten {
namespace {

const std::string& captured_name(const program::Call& call) {
  return call.captured.empty() ? call.name : call.captured;
}

// A query whose answer stands where it is used: the call is left over.
bool is_answered(const program::Call& call) {
  return call.outputs.empty() && program::answers_metadata(*call.schema);
}

// Several results, none of which the program reads.
bool nobody_reads(const program::Call& call) {
  return !call.outputs.empty() &&
         std::ranges::none_of(call.outputs, [](const program::Value* value) { return value; });
}

// PyTorch captured a dimension of a single sample that its kernels drop.
bool is_number_in_fact(const program::Call& call, Value value) {
  return value.has_rank() && value.rank() == 0 && program::facts_of(*call.schema).drops_single;
}

// What inference says must not contradict what PyTorch captured: that would be a wrong model.
void check_type(const program::Call& call, const program::Value& captured, Value value) {
  program::ValueType given;
  given.dtype = value.dtype();
  given.has_rank = value.has_rank();
  if (given.has_rank) given.shape = value.shape();
  Shape expected = captured.shape;
  if (value.is_complex()) expected.emplace_back(2);
  const DType dtype = base::real_of(captured.dtype);
  const auto contradiction = [&]() {
    base::fail(
        "SX1304",
        "the translation gives " + program::type_text(given) + " where the program has " +
            program::type_text(static_cast<const program::ValueType&>(captured)),
        "this is a defect of Sardonyx; please report it with the operator and its arguments");
  };
  if (value.dtype() != DType::kUndefined && value.dtype() != dtype) contradiction();
  if (!value.has_rank() || !captured.has_rank) return;
  if (value.shape().size() != expected.size()) contradiction();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Expr inferred = value.shape()[i];
    if (!inferred.known() || !expected[i].known()) continue;
    if (!inferred.is_constant() || !expected[i].is_constant() || inferred == expected[i]) continue;
    if (program::facts_of(*call.schema).sized_by_data) {
      base::fail("SX1306",
                 fmt::format("PyTorch took the size {} of what {} gives to be {}, since something "
                             "is computed with it, and it is {}",
                             i, call.schema->qualified(), expected[i].value(), inferred.value()),
                 "expand() the result where it has one element, before it is computed with");
    }
    contradiction();
  }
}

}  // namespace

Translation::Translation(const program::Program& program, const TranslateOptions& options)
    : program_(program),
      options_(options),
      model_(std::make_unique<onnx::Model>(program.pool)),
      emit_(*model_, options.emit) {}

std::unique_ptr<onnx::Model> Translation::run() {
  reserve_names();
  add_inputs();
  translate_calls(*program_.graph);
  if (diagnostics_.empty()) {
    try {
      add_outputs();
      add_bounds();
    } catch (const base::Error& error) {
      diagnostics_ = error.diagnostics();
    }
  }
  if (diagnostics_.empty()) return std::move(model_);
  if (options_.failures == nullptr) throw base::Error(std::move(diagnostics_));
  *options_.failures = std::move(diagnostics_);
  return std::move(model_);
}

// What bears the name of a value of the program is that value: the two are compared by it.
void Translation::reserve_names() {
  for (const program::Call* call : program_.graph->calls) {
    for (const program::Value* output : call->outputs) {
      if (output != nullptr) model_->graph->names->reserve(output->name);
    }
  }
}

void Translation::translate_calls(const program::Graph& graph) {
  for (const program::Call* call : graph.calls) {
    try {
      if (depends_on_failure(*call)) {
        failed_.insert(call->outputs.begin(), call->outputs.end());
        // All operators without a translation are reported at once, those behind others too.
        if (call->schema->space() != "sym" && !custom(*call) &&
            options_.fall_through == UnsupportedOps::kNo)
          translator(*call);
        continue;
      }
      translate_call(*call);
    } catch (const base::Error& error) {
      record_failure(*call, error);
    }
  }
}

void Translation::translate_call(const program::Call& call) {
  set_origin(call);
  // What is asserted inside a body cannot leave it.
  if (options_.assertions_as_outputs && bodies_open_ == 0) keep_assertion(call);
  if (is_answered(call) && !custom(call)) return;
  if (nobody_reads(call)) return;
  // Arithmetic on symbolic sizes is in the expressions of its results.
  if (call.schema->space() == "sym" && !custom(call)) return bind_outputs(call, {});
  bind_outputs(call, apply(call));
}

Outputs Translation::apply(const program::Call& call) {
  Call view(call, environment_, emit_, this);
  if (const CustomTranslator* own = custom(call)) return (*own)(view, emit_);
  if (options_.fall_through != UnsupportedOps::kNo && !program::any_complex(call) && !known(call)) {
    return keep(call, view);
  }
  return translator(call)(view, emit_);
}

Outputs Translation::keep(const program::Call& call, const Call& view) {
  Outputs outputs = fall_through(view, emit_, options_.fall_through);
  if (!options_.on_note) return outputs;
  base::Diagnostic note = program::diagnostic_at(
      call, "SX1311", call.schema->qualified() + " has no translation here and is kept as it is",
      "the runtime must know it under this name");
  note.severity = base::Severity::kNote;
  options_.on_note(note);
  return outputs;
}

bool Translation::known(const program::Call& call) const {
  return find_translator(call.schema->qualified(), program::any_complex(call)) != nullptr;
}

const CustomTranslator* Translation::custom(const program::Call& call) const {
  return options_.custom ? options_.custom(call) : nullptr;
}

Translator Translation::translator(const program::Call& call) const {
  const std::string name = call.schema->qualified();
  // Bodies of control flow are made of other calls; what they hand on may be of any type.
  const bool complex = program::any_complex(call) && !program::holds_bodies(call);
  if (const Translator found = find_translator(name, complex)) return found;
  std::string message = "no translation of " + name;
  if (complex) message += " for complex tensors";
  const std::string_view space = call.schema->space();
  const bool own = space != "aten" && space != "prims" && space != "higher_order";
  base::fail("SX1300", std::move(message),
             own ? "an operator of your own needs a translator of your own: pass one in "
                   "custom_translation_table, or from the command line with --plugin"
                 : "pass a translator in custom_translation_table, or write the module with other "
                   "operators");
}

void Translation::bind_outputs(const program::Call& call, const Outputs& outputs) {
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    const program::Value* captured = call.outputs[i];
    if (!captured) continue;
    if (i < outputs.size() && outputs[i]) {
      bind_output(call, *captured, outputs[i]);
    } else if (!captured->expr.known()) {
      // Symbolic scalars with an expression need no value: sizes are made where they are used.
      if (call.schema->space() == "sym")
        base::fail("SX1301",
                   "the sizes that " + call.schema->qualified() +
                       " computes have no expression: of two sizes, say",
                   "compute with one size and a number, or with tensors");
      base::fail("SX1304", "the translation of " + call.schema->qualified() + " gives no output " +
                               std::to_string(i));
    }
  }
}

void Translation::bind_output(const program::Call& call, const program::Value& captured,
                              Value value) {
  if (captured.kind == program::ValueKind::kTensor && !is_number_in_fact(call, value)) {
    check_type(call, captured, value);
    Shape shape = captured.shape;
    if (value.is_complex()) shape.emplace_back(2);
    // What the capture knows is at least as good as what inference found.
    if (!value->constant && captured.has_rank)
      emit_.set_type(value, base::real_of(captured.dtype), shape);
    for (std::size_t axis = 0; axis < captured.shape.size(); ++axis) {
      const Expr dim = captured.shape[axis];
      if (!dim.is_constant() && !emit_.can_size(dim)) {
        emit_.add_size_source(value, static_cast<std::int64_t>(axis), dim);
      }
    }
  } else if (captured.expr.known() && !captured.expr.is_constant()) {
    emit_.add_size_source(value, captured.expr);
  }
  const bool ours = value->producer && value->producer->origin &&
                    value->producer->origin->captured_node == captured_name(call);
  if (ours && value->name != captured.name) model_->rename(value.info(), captured.name);
  environment_[&captured] = shown(captured, value);
}

bool Translation::depends_on_failure(const program::Call& call) const {
  if (failed_.empty()) return false;
  bool found = false;
  for (const program::Argument& argument : call.arguments) {
    argument.each_value([&](const program::Value* value) { found |= failed_.contains(value); });
  }
  return found;
}

void Translation::record_failure(const program::Call& call, const base::Error& error) {
  failed_.insert(call.outputs.begin(), call.outputs.end());
  failed_.erase(nullptr);
  for (base::Diagnostic diagnostic : error.diagnostics()) {
    if (diagnostic.code == "SX1303" && !diagnostics_.empty()) continue;  // reported inside
    if (diagnostic.op.empty()) program::place(diagnostic, call);
    diagnostics_.push_back(std::move(diagnostic));
  }
}

void Translation::set_origin(const program::Call& call) {
  onnx::Origin origin;
  origin.captured_node = captured_name(call);
  if (const auto text = program_.node_texts.find(origin.captured_node);
      text != program_.node_texts.end()) {
    origin.captured_text = text->second;
  }
  origin.op = call.schema->qualified();
  if (call.source) {
    for (const program::ModuleFrame& frame : call.source->modules) {
      origin.scopes.push_back(frame.path);
      origin.classes.push_back(frame.type);
      origin.calls.push_back(frame.call);
    }
    origin.stack_trace = call.source->stack_trace;
  }
  emit_.set_origin(model_->add_origin(std::move(origin)), call.name);
}

namespace {

// What a body calls its own: sizes that it is given, and sizes of its inputs that depend on data.
std::vector<Expr> own_symbols(const program::Graph& body) {
  std::vector<Expr> symbols;
  for (const program::Value* input : body.inputs) {
    if (!input) continue;
    if (input->kind != program::ValueKind::kTensor) {
      if (input->expr.known() && input->expr.is_symbol()) symbols.push_back(input->expr);
      continue;
    }
    for (const Expr dim : input->shape) {
      if (dim.is_unbacked()) symbols.push_back(dim);
    }
  }
  return symbols;
}

struct OwnSymbols {
  Emit& onnx;
  OwnSymbols(Emit& emit, const program::Graph& body) : onnx(emit) {
    onnx.begin_symbols(own_symbols(body));
  }
  OwnSymbols(const OwnSymbols&) = delete;
  OwnSymbols& operator=(const OwnSymbols&) = delete;
  ~OwnSymbols() { onnx.end_symbols(); }
};

}  // namespace

void Translation::bind_body_input(const program::Value& captured, Value input) {
  environment_[&captured] = input;
  if (captured.kind != program::ValueKind::kTensor) {
    if (captured.expr.known() && !captured.expr.is_constant()) {
      emit_.add_size_source(input, captured.expr);
    }
    return;
  }
  for (std::size_t axis = 0; axis < captured.shape.size(); ++axis) {
    const Expr dim = captured.shape[axis];
    if (!dim.is_constant() && !emit_.can_size(dim)) {
      emit_.add_size_source(input, static_cast<std::int64_t>(axis), dim);
    }
  }
}

std::vector<Value> Translation::emit_body(const program::Graph& body,
                                          std::span<const Value> inputs) {
  const OwnSymbols own(emit_, body);
  for (std::size_t i = 0; i < body.inputs.size(); ++i) {
    const program::Value* captured = body.inputs[i];
    if (captured && i < inputs.size() && inputs[i]) bind_body_input(*captured, inputs[i]);
  }
  const std::size_t failures = diagnostics_.size();
  ++bodies_open_;
  translate_calls(body);
  --bodies_open_;
  if (diagnostics_.size() != failures) {
    base::fail("SX1303", "the body " + body.name + " could not be translated");
  }
  std::vector<Value> outputs;
  for (const program::Argument& output : body.outputs) outputs.push_back(output_value(output));
  return outputs;
}

std::unique_ptr<onnx::Model> translate(const program::Program& program,
                                       const TranslateOptions& options) {
  return Translation(program, options).run();
}

}  // namespace sardonyx::aten

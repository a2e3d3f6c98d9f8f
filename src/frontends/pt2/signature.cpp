#include "frontends/pt2/signature.h"

#include <array>
#include <string>
#include <utility>

#include "program/ir/captured_symbols.h"

namespace sardonyx::pt2 {
namespace {

using program::InputKind;
using program::OutputKind;

struct InputTag {
  std::string_view tag;
  InputKind kind;
  std::string_view target_key;  // empty: it has none
};

constexpr std::array<InputTag, 7> kInputTags = {{
    {"user_input", InputKind::kUser, ""},
    {"constant_input", InputKind::kUser, ""},
    {"parameter", InputKind::kParameter, "parameter_name"},
    {"buffer", InputKind::kBuffer, "buffer_name"},
    {"tensor_constant", InputKind::kConstant, "tensor_constant_name"},
    {"custom_obj", InputKind::kObject, "custom_obj_name"},
    {"token", InputKind::kToken, ""},
}};

struct OutputTag {
  std::string_view tag;
  OutputKind kind;
  std::string_view target_key;
};

// A parameter that the program writes to is no different from a buffer.
constexpr std::array<OutputTag, 6> kOutputTags = {{
    {"user_output", OutputKind::kUser, ""},
    {"loss_output", OutputKind::kLoss, ""},
    {"buffer_mutation", OutputKind::kBufferMutation, "buffer_name"},
    {"parameter_mutation", OutputKind::kBufferMutation, "parameter_name"},
    {"user_input_mutation", OutputKind::kInputMutation, "user_input_name"},
    {"token", OutputKind::kToken, ""},
}};

template <class Table>
const auto& known_tag(const Table& table, std::string_view tag, const char* what) {
  for (const auto& entry : table) {
    if (entry.tag == tag) return entry;
  }
  base::fail("SX1224", "the program has an " + std::string(what) + " of kind " + std::string(tag),
             "export the model in eval mode, without its backward pass");
}

// The value behind {"name": "x"}, {"as_tensor": {"name": "x"}} or {"as_sym_int": {"as_name": "x"}};
// null for a constant.
program::Value* value_of(Json argument, GraphReader& graphs) {
  if (const auto name = find_member(as_object(argument, "arg"), "name"))
    return graphs.main_value(as_text(*name, "name"));
  const Tagged tagged = as_tagged(argument, "arg");
  JsonObject object;
  if (tagged.value.get(object) != simdjson::SUCCESS) return nullptr;
  for (const char* key : {"name", "as_name"}) {
    if (const auto name = find_member(object, key)) return graphs.main_value(as_text(*name, key));
  }
  return nullptr;
}

void read_input(Json json, GraphReader& graphs, Weights& weights, program::Program& program) {
  const Tagged tagged = as_tagged(json, "an input of the signature");
  const InputTag& tag = known_tag(kInputTags, tagged.tag, "input");
  const JsonObject spec = as_object(tagged.value, tagged.tag);
  program::InputSpec& input = program.inputs.emplace_back();
  input.kind = tag.kind;
  if (tag.tag != "constant_input") input.value = value_of(member(spec, "arg"), graphs);
  if (tag.target_key.empty()) return;
  input.target = text_member(spec, tag.target_key);
  if (const auto persistent = find_member(spec, "persistent"))
    input.persistent = as_flag(*persistent, "persistent");
  if (tag.kind == InputKind::kObject || !input.value) return;
  input.value->weight = weights.add(input.target);
}

void read_output(Json json, GraphReader& graphs, program::Program& program) {
  const Tagged tagged = as_tagged(json, "an output of the signature");
  const OutputTag& tag = known_tag(kOutputTags, tagged.tag, "output");
  const JsonObject spec = as_object(tagged.value, tagged.tag);
  program::OutputSpec& output = program.outputs.emplace_back();
  output.kind = tag.kind;
  if (tag.kind == OutputKind::kUser) {
    output.value = graphs.main_argument(member(spec, "arg"));
  } else {
    output.value = value_of(member(spec, "arg"), graphs);
  }
  if (!tag.target_key.empty()) output.target = text_member(spec, tag.target_key);
}

}  // namespace

void read_signature(JsonObject signature, GraphReader& graphs, Weights& weights,
                    program::Program& program) {
  for (const Json input : array_member(signature, "input_specs"))
    read_input(input, graphs, weights, program);
  for (const Json output : array_member(signature, "output_specs"))
    read_output(output, graphs, program);
}

void read_ranges(JsonObject constraints, program::Program& program) {
  for (const auto field : constraints) {
    const JsonObject bounds = as_object(field.value, "range_constraints");
    symbolic::Range range;
    // Bounds beyond 64 bits are as good as none.
    if (const auto low = find_member(bounds, "min_val"); low && low->is_int64())
      range.low = as_integer(*low, "min_val");
    if (const auto high = find_member(bounds, "max_val"); high && high->is_int64())
      range.high = as_integer(*high, "max_val");
    program.pool->constrain(program.pool->symbol(field.key),
                            program::range_at_run_time(field.key, range));
  }
}

void read_call_spec(JsonArray entries, program::Program& program) {
  if (entries.size() == 0) return;
  const JsonObject root = as_object(entries.at(0), "module_call_graph");
  const auto signature = find_member(root, "signature");
  if (!signature) return;
  const JsonObject call = as_object(*signature, "signature");
  program.input_spec = text_member(call, "in_spec");
  program.output_spec = text_member(call, "out_spec");
  const auto names = find_member(call, "forward_arg_names");
  if (!names) return;
  for (const Json name : as_array(*names, "forward_arg_names"))
    program.parameter_names.emplace_back(as_text(name, "forward_arg_names"));
}

}  // namespace sardonyx::pt2

#include "api/plugin_host.h"

#include <cstddef>
#include <utility>

namespace sardonyx::plugin {
namespace {

using aten::DType;
using aten::Value;

constexpr std::size_t kMaxOutputs = 65536;  // of a node; more are a mistake, or a negative number

sardonyx_value* handle(Value value) { return reinterpret_cast<sardonyx_value*>(value.info()); }
Value value_of(sardonyx_value* value) { return {reinterpret_cast<onnx::ValueInfo*>(value)}; }
const onnx::ValueInfo* info(const sardonyx_value* value) {
  return reinterpret_cast<const onnx::ValueInfo*>(value);
}

// What `run` gives; `otherwise` when it throws or something has failed before. Exceptions must not
// reach C.
template <class T, class Run>
T guarded(sardonyx_call* call, T otherwise, const Run& run) {
  if (!call || call->failure) return otherwise;
  try {
    return run();
  } catch (...) {
    call->failure = std::current_exception();
    return otherwise;
  }
}

template <class Run>
void guarded(sardonyx_call* call, const Run& run) {
  guarded(call, 0, [&] {
    run();
    return 0;
  });
}

sardonyx_call* call_of(sardonyx_node* node) { return node ? node->call : nullptr; }

// What a plugin names. NULL may be what a function gave it that had failed.
std::string_view named(sardonyx_call* call, const char* name) {
  if (!name) call->captured.refuse("the translator gave NULL for a name or a text");
  return name;
}

template <class T>
std::span<const T> listed(sardonyx_call* call, const T* values, std::size_t count) {
  if (!values && count != 0) call->captured.refuse("the translator gave NULL for a list");
  return {values, count};
}

// --- registration

void translate(sardonyx_registry* registry, const char* op, sardonyx_translator translator,
               void* user) {
  if (!op || !translator) {
    registry->problem = "it registers NULL for an operator or its translator";
    return;
  }
  registry->translators[op] = [translator, user](const aten::Call& call, aten::Emit& onnx) {
    sardonyx_call state{call, onnx, aten::Outputs(call.output_count()), {}, {}, {}, {}, {}};
    translator(user, &host(), &state);
    if (state.failure) std::rethrow_exception(state.failure);
    return state.results;
  };
}

// --- arguments

const char* op(sardonyx_call* call) {
  return guarded<const char*>(
      call, nullptr, [&] { return call->texts.emplace_back(call->captured.op()).c_str(); });
}

std::int64_t opset(sardonyx_call* call) { return call ? call->onnx.named_opset() : 0; }

int has(sardonyx_call* call, const char* name) {
  return guarded(call, 0, [&] { return call->captured.has(named(call, name)) ? 1 : 0; });
}

sardonyx_value* tensor(sardonyx_call* call, const char* name) {
  return guarded<sardonyx_value*>(
      call, nullptr, [&] { return handle(call->captured.optional_tensor(named(call, name))); });
}

std::size_t tensor_count(sardonyx_call* call, const char* name) {
  return guarded<std::size_t>(
      call, 0, [&] { return call->captured.optional_tensors(named(call, name)).size(); });
}

sardonyx_value* tensor_at(sardonyx_call* call, const char* name, std::size_t index) {
  return guarded<sardonyx_value*>(call, nullptr, [&] {
    const std::vector<Value> values = call->captured.optional_tensors(named(call, name));
    if (index >= values.size()) {
      call->captured.refuse("argument '" + std::string(name) + "' has no tensor " +
                            std::to_string(index));
    }
    return handle(values[index]);
  });
}

std::int64_t integer(sardonyx_call* call, const char* name) {
  return guarded<std::int64_t>(call, 0, [&]() -> std::int64_t {
    if (call->captured.argument(named(call, name)).get<DType>()) {
      return static_cast<std::int64_t>(*call->captured.dtype(name));
    }
    return call->captured.integer(name);
  });
}

double number(sardonyx_call* call, const char* name) {
  return guarded<double>(call, 0, [&] { return call->captured.number(named(call, name)); });
}

const char* text(sardonyx_call* call, const char* name) {
  return guarded<const char*>(call, nullptr, [&] {
    return call->texts.emplace_back(call->captured.text(named(call, name))).c_str();
  });
}

std::size_t integers(sardonyx_call* call, const char* name, const std::int64_t** values) {
  return guarded<std::size_t>(call, 0, [&] {
    const auto& kept =
        call->integers.emplace_back(call->captured.integers_or_empty(named(call, name)));
    *values = kept.data();
    return kept.size();
  });
}

std::size_t numbers(sardonyx_call* call, const char* name, const double** values) {
  return guarded<std::size_t>(call, 0, [&] {
    const auto& kept = call->numbers.emplace_back(call->captured.numbers(named(call, name)));
    *values = kept.data();
    return kept.size();
  });
}

// --- values

std::int32_t dtype(const sardonyx_value* value) {
  return value ? static_cast<std::int32_t>(info(value)->dtype) : 0;
}

std::int32_t rank(const sardonyx_value* value) {
  return value && info(value)->has_rank ? static_cast<std::int32_t>(info(value)->shape.size()) : -1;
}

std::int64_t dim(const sardonyx_value* value, std::int32_t axis) {
  const std::int32_t count = rank(value);
  if (axis < 0) axis += count;
  if (axis < 0 || axis >= count) return -1;
  const symbolic::Expr size = info(value)->shape[static_cast<std::size_t>(axis)];
  return size.known() && size.is_constant() ? size.value() : -1;
}

// --- building

sardonyx_value* constant(sardonyx_call* call, std::int32_t number, std::int32_t dims_count,
                         const std::int64_t* dims, const void* data, std::size_t bytes) {
  return guarded<sardonyx_value*>(call, nullptr, [&] {
    const bool known =
        number > 0 && number <= static_cast<int>(base::kLastDType) && number != 8;  // no strings
    if (!known) call->captured.refuse("a constant has the data type " + std::to_string(number));
    if (dims_count < 0) call->captured.refuse("a constant has a negative rank");
    const auto shape = listed(call, dims, static_cast<std::size_t>(dims_count));
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
      if (size < 0 || __builtin_mul_overflow(count, size, &count))
        call->captured.refuse("a constant has a dimension of " + std::to_string(size));
    }
    if (base::byte_size(static_cast<DType>(number), count) != static_cast<std::int64_t>(bytes)) {
      call->captured.refuse("a constant of " + std::to_string(count) + " elements has " +
                            std::to_string(bytes) + " bytes");
    }
    const auto content = listed(call, static_cast<const std::byte*>(data), bytes);
    return handle(call->onnx.constant(
        onnx::Tensor::of_bytes(static_cast<DType>(number), {shape.begin(), shape.end()}, content)));
  });
}

sardonyx_node* node(sardonyx_call* call, const char* domain, const char* op_type) {
  return guarded<sardonyx_node*>(call, nullptr, [&] {
    return &call->nodes.emplace_back(
        sardonyx_node{call, domain ? domain : "", std::string(named(call, op_type)), {}, {}, {}});
  });
}

void input(sardonyx_node* node, sardonyx_value* value) {
  guarded(call_of(node), [&] { node->inputs.push_back(value_of(value)); });
}

// `make` is called where nothing has failed, and gives the attribute's value.
template <class Make>
void set(sardonyx_node* node, const char* attribute, const Make& make) {
  guarded(call_of(node), [&] {
    const std::string name(named(node->call, attribute));
    node->attributes.push_back({name, make(), {}});
  });
}

template <class T>
void set_list(sardonyx_node* node, const char* attribute, std::size_t count, const T* values) {
  set(node, attribute, [&] {
    const std::span<const T> given = listed(node->call, values, count);
    return std::vector<T>(given.begin(), given.end());
  });
}

void set_int(sardonyx_node* node, const char* attribute, std::int64_t value) {
  set(node, attribute, [&] { return value; });
}

void set_float(sardonyx_node* node, const char* attribute, float value) {
  set(node, attribute, [&] { return value; });
}

void set_string(sardonyx_node* node, const char* attribute, const char* value) {
  set(node, attribute, [&] { return std::string(named(node->call, value)); });
}

void set_ints(sardonyx_node* node, const char* attribute, std::size_t count,
              const std::int64_t* values) {
  set_list(node, attribute, count, values);
}

void set_floats(sardonyx_node* node, const char* attribute, std::size_t count,
                const float* values) {
  set_list(node, attribute, count, values);
}

void emit(sardonyx_node* node, std::size_t outputs) {
  guarded(call_of(node), [&] {
    if (outputs > kMaxOutputs)
      node->call->captured.refuse("a node has " + std::to_string(outputs) + " outputs");
    node->outputs =
        node->call->onnx.node(node->domain, node->op_type, node->inputs, node->attributes, outputs);
  });
}

sardonyx_value* output(sardonyx_node* node, std::size_t index) {
  return guarded<sardonyx_value*>(call_of(node), nullptr, [&] {
    if (index >= node->outputs.size()) {
      node->call->captured.refuse("the node " + node->op_type + " has no output " +
                                  std::to_string(index) + ": was it emitted?");
    }
    return handle(node->outputs[index]);
  });
}

void domain_version(sardonyx_call* call, const char* domain, std::int64_t version) {
  guarded(call, [&] { call->onnx.use_domain(named(call, domain), version); });
}

void result(sardonyx_call* call, std::size_t index, sardonyx_value* value) {
  guarded(call, [&] {
    if (index >= call->results.size()) {
      call->captured.refuse("the operator has no output " + std::to_string(index));
    }
    call->results[index] = value_of(value);
  });
}

void refuse(sardonyx_call* call, const char* message, const char* help) {
  guarded(call, [&] { call->captured.refuse(message ? message : "", help ? help : ""); });
}

constexpr sardonyx_host kHost = {
    SARDONYX_PLUGIN_VERSION,
    sizeof(sardonyx_host),
    translate,
    op,
    opset,
    has,
    tensor,
    tensor_count,
    tensor_at,
    integer,
    number,
    text,
    integers,
    numbers,
    dtype,
    rank,
    dim,
    constant,
    node,
    input,
    set_int,
    set_float,
    set_string,
    set_ints,
    set_floats,
    emit,
    output,
    domain_version,
    result,
    refuse,
};

}  // namespace

const sardonyx_host& host() { return kHost; }

}  // namespace sardonyx::plugin

// ONNX operators that a program holds as they are: any operator by name (sardonyx.ops.symbolic and
// torch.onnx.ops.symbolic), and those that PyTorch has operators of its own for.
#include <utility>

#include "aten/families.h"
#include "onnx/operators/operator.h"

namespace sardonyx::aten {
namespace {

using onnx::Attribute;
using onnx::Values;

// A part of a list that holds the values of all attributes of one kind.
template <class T>
std::vector<T> part(const Call& call, const std::vector<T>& all, std::int64_t start,
                    std::int64_t count) {
  const auto size = static_cast<std::int64_t>(all.size());
  if (start < 0 || count < 0 || start > size || count > size - start) {
    call.refuse("an attribute's place is outside of the attributes' values");
  }
  return {all.begin() + start, all.begin() + start + count};
}

// The attributes as the captured call holds them: names, kinds, and one list of values a kind.
class Attributes {
 public:
  Attributes(const Call& call, std::string_view strings)
      : call_(call),
        ints_(call.integers("attr_ints")),
        reals_(call.numbers("attr_floats")),
        texts_(call.texts(strings)) {}

  void add(const std::string& name, const std::string& kind, std::int64_t start,
           std::int64_t count) {
    const bool is_list = kind.size() == 2 && kind[1] == 's';
    if (!is_list && (kind.size() != 1 || count != 1)) unknown(name, kind);
    switch (kind[0]) {
      case 'i':
        return put(name, part(call_, ints_, start, count), is_list);
      case 'f': {
        const std::vector<double> values = part(call_, reals_, start, count);
        return put(name, std::vector<float>(values.begin(), values.end()), is_list);
      }
      case 's':
        return put(name, part(call_, texts_, start, count), is_list);
      default:
        unknown(name, kind);
    }
  }

  std::vector<Attribute> take() { return std::move(attributes_); }

 private:
  [[noreturn]] void unknown(const std::string& name, const std::string& kind) {
    call_.refuse("attribute '" + name + "' has the unknown kind '" + kind + "'");
  }
  template <class T>
  void put(const std::string& name, std::vector<T> values, bool is_list) {
    if (is_list) {
      attributes_.push_back({name, std::move(values), {}});
    } else {
      attributes_.push_back({name, std::move(values.front()), {}});
    }
  }

  const Call& call_;
  std::vector<std::int64_t> ints_;
  std::vector<double> reals_;
  std::vector<std::string> texts_;
  std::vector<Attribute> attributes_;
};

struct Request {
  std::vector<Attribute> attributes;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::vector<std::int64_t> dtypes;
  std::vector<std::vector<Expr>> shapes;
};

DType declared(const Call& call, std::int64_t number) {
  const auto dtype = static_cast<DType>(number);
  if (number <= 0 || number > static_cast<std::int64_t>(base::kLastDType) ||
      base::is_complex(dtype)) {
    call.refuse("an output of " + call.text("op_type") + " is declared with the data type " +
                std::to_string(number) + ", which a model cannot hand on");
  }
  return dtype;
}

// ONNX's own operators are those of the target opset: another version is right only where the
// operator is the same in both.
void check_version(const Call& call, const Emit& onnx, const std::string& op_type,
                   std::optional<std::int64_t> version) {
  const onnx::Operator* op = onnx::find_operator(op_type);
  if (!op) call.refuse("ONNX has no operator " + op_type);
  const std::int64_t opset = onnx.named_opset();
  if (!version || *version == opset || op->at(*version) == op->at(opset)) return;
  call.refuse(op_type + " of opset " + std::to_string(*version) + " in a model of opset " +
                  std::to_string(opset),
              "export with opset_version=" + std::to_string(*version));
}

void declare_types(const Call& call, const Request& request, const Values& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const DType dtype = declared(call, request.dtypes[i]);
    if (values[i].dtype() != DType::kUndefined && values[i].dtype() != dtype) {
      call.refuse("output " + std::to_string(i) + " of " + call.text("op_type") +
                  " is declared as " + std::string(base::dtype_name(dtype)) + ", and it is " +
                  std::string(base::dtype_name(values[i].dtype())));
    }
    if (!values[i]->constant) Emit::set_type(values[i], dtype, request.shapes[i]);
  }
}

Outputs emit_request(const Call& call, Emit& onnx, Request request) {
  std::string domain = call.text("domain");
  if (domain == "ai.onnx") domain.clear();
  const std::string op_type = call.text("op_type");
  const auto version = call.optional_integer("version");
  if (domain.empty()) {
    check_version(call, onnx, op_type, version);
  } else {
    onnx.use_domain(domain, version);
  }
  const Values values = onnx.node(domain, op_type, call.optional_tensors("inputs"),
                                  std::move(request.attributes), request.dtypes.size());
  declare_types(call, request, values);
  onnx::Node* node = values.empty() ? nullptr : values.front()->producer;
  // What was folded or shared is no node of its own.
  if (node && node->op_type == op_type && node->metadata.empty()) {
    node->metadata = std::move(request.metadata);
  }
  return values;
}

Outputs one_output(const Call& call, Emit& onnx, Request request) {
  request.dtypes = {call.integer("onnx_dtype")};
  request.shapes = {call.sizes("shape")};
  return emit_request(call, onnx, std::move(request));
}

void add_metadata(const Call& call, Request& request, const std::vector<std::string>& keys,
                  const std::vector<std::string>& values) {
  if (keys.size() != values.size()) call.refuse("the metadata has keys without values");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    request.metadata.emplace_back(keys[i], values[i]);
  }
}

// --- as torch.onnx.ops.symbolic captures them: places are pairs of start and end

Request torch_request(const Call& call) {
  Request request;
  Attributes attributes(call, "attr_strs");
  const std::vector<std::string> names = call.texts("attr_keys"), kinds = call.texts("attr_types");
  const auto* places = call.argument("attr_pos").get<program::List>();
  if (!places || places->size() != names.size() || kinds.size() != names.size()) {
    call.refuse("the attributes' names, kinds and places do not belong together");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto* place = (*places)[i].get<program::List>();
    const auto bound = [&](std::size_t which) {
      const Expr* number = place && place->size() == 2 ? (*place)[which].get<Expr>() : nullptr;
      if (!number || !number->is_constant()) call.refuse("an attribute's place is no range");
      return number->value();
    };
    attributes.add(names[i], kinds[i], bound(0), bound(1) - bound(0));
  }
  request.attributes = attributes.take();
  add_metadata(call, request, call.texts("metadata_props_keys"),
               call.texts("metadata_props_values"));
  return request;
}

Outputs torch_symbolic(const Call& call, Emit& onnx) {
  return one_output(call, onnx, torch_request(call));
}

Outputs torch_symbolic_multi_out(const Call& call, Emit& onnx) {
  Request request = torch_request(call);
  request.dtypes = call.integers("onnx_dtypes");
  const auto* shapes = call.argument("shapes").get<program::List>();
  if (!shapes || shapes->size() != request.dtypes.size()) {
    call.refuse("the operator has not as many shapes as data types");
  }
  for (const program::Argument& shape : *shapes) {
    const auto* dims = shape.get<program::List>();
    if (!dims) call.refuse("a shape is no list");
    std::vector<Expr>& sizes = request.shapes.emplace_back();
    for (const program::Argument& dim : *dims) {
      const Expr* size = dim.get<Expr>();
      if (!size) call.refuse("a dimension of a shape is no number");
      sizes.push_back(*size);
    }
  }
  return emit_request(call, onnx, std::move(request));
}

// --- as sardonyx.ops.symbolic captures them: flat lists, which every format can hold

Request own_request(const Call& call) {
  Request request;
  Attributes attributes(call, "attr_strings");
  const std::vector<std::string> names = call.texts("attr_names"), kinds = call.texts("attr_kinds");
  const std::vector<std::int64_t> counts = call.integers("attr_counts");
  if (kinds.size() != names.size() || counts.size() != names.size()) {
    call.refuse("the attributes' names, kinds and counts do not belong together");
  }
  std::int64_t ints = 0, reals = 0, texts = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::int64_t& start = kinds[i].starts_with('i')   ? ints
                          : kinds[i].starts_with('f') ? reals
                                                      : texts;
    attributes.add(names[i], kinds[i], start, counts[i]);
    start += counts[i];
  }
  request.attributes = attributes.take();
  add_metadata(call, request, call.texts("metadata_keys"), call.texts("metadata_values"));
  return request;
}

Outputs symbolic(const Call& call, Emit& onnx) { return one_output(call, onnx, own_request(call)); }

Outputs symbolic_multi_out(const Call& call, Emit& onnx) {
  Request request = own_request(call);
  request.dtypes = call.integers("onnx_dtypes");
  const std::vector<Expr> sizes = call.sizes("sizes");
  std::int64_t next = 0;
  for (const std::int64_t rank : call.integers("ranks")) {
    request.shapes.push_back(part(call, sizes, next, rank));
    next += rank;
  }
  if (request.shapes.size() != request.dtypes.size()) {
    call.refuse("the operator has not as many shapes as data types");
  }
  return emit_request(call, onnx, std::move(request));
}

// --- operators of opsets 23 and 27

Outputs rotary_embedding(const Call& call, Emit& onnx) {
  return {onnx.rotary_embedding(call.tensor("x"), call.tensor("cos_cache"),
                                call.tensor("sin_cache"), call.optional_tensor("position_ids"),
                                {.interleaved = call.flag("interleaved") ? 1 : 0,
                                 .num_heads = call.integer("num_heads"),
                                 .rotary_embedding_dim = call.integer("rotary_embedding_dim")})};
}

Outputs attention(const Call& call, Emit& onnx) {
  const Value query = call.tensor("Q");
  onnx::AttentionAttributes attributes;
  attributes.is_causal = call.flag("is_causal") ? 1 : 0;
  if (query.rank() == 3) {  // four-dimensional inputs have the heads in their shapes
    attributes.kv_num_heads = call.integer("kv_num_heads");
    attributes.q_num_heads = call.integer("q_num_heads");
  }
  attributes.qk_matmul_output_mode = call.integer("qk_matmul_output_mode");
  if (const auto scale = call.optional_number("scale"))
    attributes.scale = static_cast<float>(*scale);
  attributes.softcap = static_cast<float>(call.number("softcap"));
  if (const auto precision = call.optional_integer("softmax_precision"))
    attributes.softmax_precision = static_cast<DType>(*precision);
  std::size_t outputs = 1;
  for (std::size_t i = 1; i < 4; ++i) {
    if (call.uses_output(i)) outputs = i + 1;
  }
  return onnx.attention_n(outputs, query, call.tensor("K"), call.tensor("V"),
                          call.optional_tensor("attn_mask"), call.optional_tensor("past_key"),
                          call.optional_tensor("past_value"), {}, attributes);
}

Outputs linear_attention(const Call& call, Emit& onnx) {
  const std::string rule = call.text("update_rule");
  onnx::LinearAttentionAttributes attributes{.kv_num_heads = call.integer("kv_num_heads"),
                                             .q_num_heads = call.integer("q_num_heads"),
                                             .update_rule = rule};
  if (const auto scale = call.optional_number("scale"))
    attributes.scale = static_cast<float>(*scale);
  const auto [output, state] =
      onnx.linear_attention(call.tensor("query"), call.tensor("key"), call.tensor("value"),
                            call.optional_tensor("past_state"), call.optional_tensor("decay"),
                            call.optional_tensor("beta"), attributes);
  return {output, state};
}

// Programs hold PyTorch's operators or ours of the same signature.
#define SARDONYX_ROTARY_EMBEDDING                                                  \
  "RotaryEmbedding.opset23(Tensor x, Tensor cos_cache, Tensor sin_cache, Tensor? " \
  "position_ids=None, *, bool interleaved=False, SymInt num_heads=0, SymInt "      \
  "rotary_embedding_dim=0) -> Tensor"
#define SARDONYX_ATTENTION                                                                      \
  "Attention.opset23(Tensor Q, Tensor K, Tensor V, Tensor? attn_mask=None, Tensor? "            \
  "past_key=None, Tensor? past_value=None, *, bool is_causal=False, SymInt kv_num_heads=0, "    \
  "SymInt q_num_heads=0, SymInt qk_matmul_output_mode=0, float? scale=None, float softcap=0., " \
  "SymInt? softmax_precision=None) -> (Tensor, Tensor, Tensor, Tensor)"

constexpr Row kRows[] = {
    {"onnx::" SARDONYX_ATTENTION, attention},
    {"onnx::" SARDONYX_ROTARY_EMBEDDING, rotary_embedding},
    {"onnx_symbolic::_symbolic(Tensor?[] inputs, str op_type, int onnx_dtype, *, SymInt[] shape, "
     "str[] attr_keys, str[] attr_types, int[][] attr_pos, int[] attr_ints, float[] attr_floats, "
     "str[] attr_strs, str[] metadata_props_keys, str[] metadata_props_values, str domain=\"\", "
     "int? version=None) -> Tensor",
     torch_symbolic},
    {"onnx_symbolic::_symbolic_multi_out(Tensor?[] inputs, str op_type, int[] onnx_dtypes, *, "
     "SymInt[][] shapes, str[] attr_keys, str[] attr_types, int[][] attr_pos, int[] attr_ints, "
     "float[] attr_floats, str[] attr_strs, str[] metadata_props_keys, str[] "
     "metadata_props_values, str domain=\"\", int? version=None) -> Tensor[]",
     torch_symbolic_multi_out},
    {"sardonyx::" SARDONYX_ATTENTION, attention},
    {"sardonyx::LinearAttention.opset27(Tensor query, Tensor key, Tensor value, Tensor? "
     "past_state=None, Tensor? decay=None, Tensor? beta=None, *, SymInt q_num_heads, SymInt "
     "kv_num_heads, str update_rule=\"gated_delta\", float? scale=None) -> (Tensor, Tensor)",
     linear_attention},
    {"sardonyx::" SARDONYX_ROTARY_EMBEDDING, rotary_embedding},
    {"sardonyx::symbolic(Tensor?[] inputs, str domain, str op_type, int onnx_dtype, SymInt[] "
     "shape, str[] attr_names, str[] attr_kinds, int[] attr_counts, int[] attr_ints, float[] "
     "attr_floats, str[] attr_strings, str[] metadata_keys, str[] metadata_values, int? version) "
     "-> Tensor",
     symbolic},
    {"sardonyx::symbolic_multi_out(Tensor?[] inputs, str domain, str op_type, int[] onnx_dtypes, "
     "int[] ranks, SymInt[] sizes, str[] attr_names, str[] attr_kinds, int[] attr_counts, int[] "
     "attr_ints, float[] attr_floats, str[] attr_strings, str[] metadata_keys, str[] "
     "metadata_values, int? version) -> Tensor[]",
     symbolic_multi_out},
};

#undef SARDONYX_ROTARY_EMBEDDING
#undef SARDONYX_ATTENTION

}  // namespace

std::span<const Row> onnx_node_rows() { return kRows; }

}  // namespace sardonyx::aten

// A change to a graph: built outside of it, typed, and applied as a whole or not at all.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/gen/op.h"
#include "onnx/graph/ir.h"
#include "onnx/infer/foreign.h"
#include "rewriting/rule_context.h"

namespace sardonyx::rewriting {

//   Patch patch(context, node);
//   ValueInfo* t = patch.node(Op::kMatMul, {x, weight}, {}, name);
//   patch.replace(y, patch.node(Op::kAdd, {t, bias}, {}, name));
//   return patch.apply();
//
// New nodes stand in front of `position`, which gives them its origin and metadata. What inference
// does not accept, and what has another type than that which it replaces, makes the patch fail:
// apply() then declines with the reason and nothing has changed. A failed patch takes further calls
// and gives null.
class Patch {
 public:
  Patch(RuleContext& context, onnx::Node* position) : context_(context), position_(position) {}
  ~Patch();
  Patch(const Patch&) = delete;
  Patch& operator=(const Patch&) = delete;

  // The first output of a new node, which is called `name`, as is the node.
  onnx::ValueInfo* node(onnx::Op op, std::vector<onnx::ValueInfo*> inputs,
                        std::vector<onnx::Attribute> attributes, std::string_view name);
  // All outputs; empty where the patch has failed.
  std::vector<onnx::ValueInfo*> nodes(onnx::Op op, std::vector<onnx::ValueInfo*> inputs,
                                      std::vector<onnx::Attribute> attributes,
                                      std::string_view name, std::size_t outputs);
  // The same for an operator of a runtime. Functions stay as they are written, in the operators
  // that they name.
  std::vector<onnx::ValueInfo*> nodes(const onnx::ForeignOperator& op,
                                      std::vector<onnx::ValueInfo*> inputs,
                                      std::vector<onnx::Attribute> attributes,
                                      std::string_view name, std::size_t outputs);
  onnx::ValueInfo* node(const onnx::ForeignOperator& op, std::vector<onnx::ValueInfo*> inputs,
                        std::vector<onnx::Attribute> attributes, std::string_view name);
  // An output of a new node that nothing reads and that need not be made.
  void omit(onnx::ValueInfo* output);
  onnx::ValueInfo* cast(onnx::ValueInfo* x, onnx::DType dtype);
  onnx::ValueInfo* ints(std::vector<std::int64_t> values);  // a constant of one axis
  onnx::ValueInfo* constant(onnx::Tensor tensor);

  // The node gets another input (or one more), or another attribute.
  void set_input(onnx::Node* node, std::size_t index, onnx::ValueInfo* value);
  void set_attribute(onnx::Node* node, std::string name, onnx::Attribute::Data data);
  // What read `from` reads `to`, and nodes that nothing needs any more go. A graph output keeps its
  // name, which can only go to another node's output.
  void replace(onnx::ValueInfo* from, onnx::ValueInfo* to);

  // The constant gets other data; its readers are to be replaced or edited in the same patch.
  void set_data(onnx::ValueInfo* constant, onnx::Tensor tensor);
  // A new weight, which stands for those whose values fold_in() says are worked into it.
  onnx::ValueInfo* weight(std::string name, onnx::Tensor tensor);
  void fold_in(const onnx::ValueInfo* weight) { folded_.push_back(weight); }

  void fail(std::string reason);
  bool failed() const { return failed_; }
  bool apply();

 private:
  struct Edit {
    onnx::Node* node;
    std::size_t input;
    onnx::ValueInfo* value;
    std::string attribute;
    onnx::Attribute::Data data;
  };
  struct Replacement {
    onnx::ValueInfo *from, *to;
  };

  struct Data {
    onnx::ValueInfo* constant;
    std::shared_ptr<const onnx::Tensor> tensor;
    onnx::ValueInfo typed;  // as it will be
  };

  onnx::Node* made(std::string_view op_type, std::string_view domain,
                   std::vector<onnx::ValueInfo*> inputs, std::vector<onnx::Attribute> attributes,
                   std::string_view name, std::size_t outputs);
  const onnx::ValueInfo& as_it_will_be(const onnx::ValueInfo* value) const;
  bool is_new(const onnx::ValueInfo* value) const;
  void check_input(const onnx::ValueInfo* value, const onnx::Node* reader);
  void check_edits();
  void check(const Replacement& replacement);
  void commit();
  void commit(const Edit& edit);

  RuleContext& context_;
  onnx::Node* position_;
  std::vector<onnx::Node*> made_;
  std::vector<const onnx::ForeignOperator*> foreign_;  // among them
  std::vector<Edit> edits_;
  std::vector<Replacement> replacements_;
  std::vector<Data> data_;
  std::vector<onnx::ValueInfo*> weights_;
  std::vector<const onnx::ValueInfo*> folded_;
  std::string reason_;
  bool failed_ = false;
};

}  // namespace sardonyx::rewriting

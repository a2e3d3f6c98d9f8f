// The state of one translation: what has been emitted and what has failed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "aten/body.h"
#include "aten/translation/translate.h"

namespace sardonyx::aten {

class Translation : public BodyTranslator {
 public:
  Translation(const program::Program& program, const TranslateOptions& options);

  // The whole program; throws everything that failed as one Error.
  std::unique_ptr<onnx::Model> run();

  std::vector<Value> emit_body(const program::Graph& body, std::span<const Value> inputs) override;

 private:
  void add_inputs();  // model_inputs.cpp
  void add_user_input(const program::InputSpec& spec, const std::string& name);
  void add_weight(const program::InputSpec& spec);
  void add_outputs();  // model_outputs.cpp
  // model_assertions.cpp
  void keep_assertion(const program::Call& call);
  void keep_bounds();
  void add_assertions(std::vector<onnx::ValueInfo*>& outputs, std::vector<std::string>& names);
  void add_bounds();
  Value output_value(const program::Argument& argument);

  void bind_body_input(const program::Value& captured, Value input);
  void reserve_names();
  void translate_calls(const program::Graph& graph);
  void translate_call(const program::Call& call);
  // The user's translator of a call; null where there is none.
  const CustomTranslator* custom(const program::Call& call) const;
  // The library's; fails with SX1300 where there is none.
  Translator translator(const program::Call& call) const;
  bool known(const program::Call& call) const;  // the library has one
  Outputs apply(const program::Call& call);
  Outputs keep(const program::Call& call, const Call& view);
  void bind_outputs(const program::Call& call, const Outputs& outputs);
  void bind_output(const program::Call& call, const program::Value& captured, Value value);
  // shown_values.cpp: what readers of a captured value are to read.
  Value shown(const program::Value& captured, Value value);
  void add_shown(std::vector<onnx::ValueInfo*>& outputs, std::vector<std::string>& names) const;
  void record_failure(const program::Call& call, const base::Error& error);
  bool depends_on_failure(const program::Call& call) const;
  void set_origin(const program::Call& call);

  const program::Program& program_;
  const TranslateOptions& options_;
  std::unique_ptr<onnx::Model> model_;
  Emit emit_;
  Environment environment_;
  std::unordered_map<const program::Storage*, std::vector<const program::Value*>>
      weights_by_storage_;
  std::unordered_set<const program::Value*> failed_;
  std::vector<base::Diagnostic> diagnostics_;
  struct Assertion {
    Value truth;  // 0-d
    std::string message;
  };
  std::vector<Assertion> assertions_;
  std::vector<std::pair<onnx::ValueInfo*, std::string>> shown_;  // with their names as outputs
  int bodies_open_ = 0;
};

}  // namespace sardonyx::aten

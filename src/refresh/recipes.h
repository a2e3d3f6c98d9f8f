// The recipes of a model (record.h), read without trust, and followed with other weights.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnx/graph/tensor.h"

namespace sardonyx::refresh {

using Tensors = std::map<std::string, onnx::Tensor>;  // by the program's names

class Recipes {
 public:
  // Throws SX1820 for what is no record of this version.
  explicit Recipes(const std::string& text);
  ~Recipes();
  Recipes(const Recipes&) = delete;
  Recipes& operator=(const Recipes&) = delete;

  const std::string& structure() const { return structure_; }
  const std::map<std::string, std::string>& weights() const { return weights_; }
  const std::map<std::string, std::string>& tied() const { return tied_; }
  const std::map<std::string, std::vector<std::string>>& fixed() const { return fixed_; }
  // The initializers that have a recipe, and are not the weight of their own name.
  std::vector<std::string> made() const;

  // The initializer's tensor, made of these weights, which have the types of weights() and are the
  // same for all initializers. Nothing is
  // computed before it is written but small tensors. Throws SX1822 where the recipe does not do for
  // these weights, SX1820 where it is none.
  onnx::Tensor build(const std::string& initializer, const Tensors& weights) const;

 private:
  struct Text;
  class Builder;

  std::unique_ptr<Text> text_;
  std::string structure_;
  std::map<std::string, std::string> weights_, tied_;
  std::map<std::string, std::vector<std::string>> fixed_;
  // Parts of one quantized weight are made together.
  mutable std::map<std::string, std::shared_ptr<const void>> quantized_;
  mutable std::map<std::int64_t, onnx::Tensor> parts_;  // results of formulas, by number
};

}  // namespace sardonyx::refresh

// Parameters, buffers and constants, when they are first read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontends/torchscript/archive/archive.h"
#include "frontends/torchscript/torchscript.h"
#include "frontends/torchscript/values/abstract_value.h"
#include "program/ir/program.h"

namespace sardonyx::torchscript {

class Weights {
 public:
  Weights(Archive& archive, program::Program& program, const ReadOptions& options)
      : archive_(archive), program_(program), options_(options) {}

  // As an input of the program, the same for each read.
  AbstractValue read(const StoredTensor& stored, program::InputKind kind);
  // Makes what a list, tuple, object or packed weight holds of the archive's tensors values of the
  // program.
  void read_held(const AbstractValue& container);
  // The elements of a tensor of int16 that lies in the archive; none of any other.
  std::vector<std::int64_t> stored_integers(const StoredTensor& stored) const;
  // A 0-d constant of int64; nothing for others.
  std::optional<symbolic::Expr> constant_integer(const StoredTensor& stored) const;

 private:
  const program::Weight* stored_weight(const StoredTensor& stored);

  Archive& archive_;
  program::Program& program_;
  const ReadOptions& options_;
  std::unordered_map<std::string, program::Value*> weights_;
  std::unordered_map<std::string, program::Storage*> storages_;
};

}  // namespace sardonyx::torchscript

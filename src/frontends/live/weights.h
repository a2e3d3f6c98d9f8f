// Parameters, buffers and lifted constants of a live program, without copying them.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <unordered_map>

#include "program/ir/program.h"

namespace sardonyx::live {

class Weights {
 public:
  explicit Weights(program::Program& program) : program_(program) {}

  // Borrows the bytes of `tensor` (a torch.Tensor) as look_at() sees them. Tensors that share a
  // storage (tied weights, slices) share one Storage.
  const program::Weight* add(std::string_view name, nanobind::handle tensor);

 private:
  program::Program& program_;
  std::unordered_map<std::size_t, program::Storage*> known_;  // by address of the StorageImpl
};

}  // namespace sardonyx::live

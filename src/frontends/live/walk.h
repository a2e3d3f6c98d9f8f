// The live walk: from a torch.export.ExportedProgram in this process to a Program, without a file.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "program/ir/program.h"

namespace sardonyx::live {

// By the symbols' names.
using LeastSizes = std::map<std::string, std::int64_t, std::less<>>;

// The Program that `exported_program` (a torch.export.ExportedProgram) holds; equal to what the
// .pt2 reader gives for the file torch.export.save() makes of it. Weights borrow the memory of the
// live tensors, which stay alive as long as the Program does.
//
// `least_sizes`: what the user declared symbols to be at least, which the ranges of such programs
// do not say where it is 2 or less.
//
// Needs the GIL. Throws base::Error (SX122x) for what the program holds and Sardonyx cannot take,
// nanobind::python_error when an object is not what PyTorch's is.
std::unique_ptr<program::Program> walk(nanobind::handle exported_program,
                                       const LeastSizes& least_sizes = {});

}  // namespace sardonyx::live

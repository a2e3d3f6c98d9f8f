// The live walk: from a torch.export.ExportedProgram in this process to a Program, without a file.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "program/ir/program.h"

namespace sardonyx::live {

// The Program that `exported_program` (a torch.export.ExportedProgram) holds; equal to what the
// .pt2 reader gives for the file torch.export.save() makes of it. Weights borrow the memory of the
// live tensors, which stay alive as long as the Program does.
//
// Needs the GIL. Throws base::Error (SX122x) for what the program holds and Sardonyx cannot take,
// nanobind::python_error when an object is not what PyTorch's is.
std::unique_ptr<program::Program> walk(nanobind::handle exported_program);

}  // namespace sardonyx::live

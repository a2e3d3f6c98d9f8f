// The reader of .pt2 files, as torch.export.save() writes them: PyTorch 2.6 and newer.
#pragma once

#include <filesystem>
#include <memory>

#include "program/ir/program.h"

namespace sardonyx::pt2 {

// The Program that the file holds; equal to what the live walk gives for the program that was
// saved. Weights borrow the mapped file, which stays mapped as long as one of them lives.
//
// Throws base::Error: SX1101 when the file cannot be mapped, SX1102 to SX1110 when it is damaged or
// of a kind that this build does not read, SX12xx for what the program holds and Sardonyx cannot
// take. No bytes, however malformed, do worse.
std::unique_ptr<program::Program> read_pt2(const std::filesystem::path& path);

}  // namespace sardonyx::pt2

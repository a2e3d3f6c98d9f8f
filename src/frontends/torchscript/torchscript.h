// Reads what torch.jit.save() wrote.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "frontends/archive/zip.h"
#include "program/program.h"

namespace sardonyx::torchscript {

struct ReadOptions {
  // "x:float32[batch,3,224,224]", "n:int", "n=3": what archives of scripted modules do not say.
  std::vector<std::string> inputs;
  // "x:0,2": dimensions of a traced module's example that vary.
  std::vector<std::string> dynamic;
};

// Throws SX112x for what is no such archive, and everything that the program holds and Sardonyx
// cannot take together.
std::unique_ptr<program::Program> read_torchscript(archive::Bytes bytes,
                                                   const ReadOptions& options);

// Whether these are the bytes of such an archive.
bool is_torchscript(const archive::ZipReader& zip);

}  // namespace sardonyx::torchscript

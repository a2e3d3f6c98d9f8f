#include "frontends/live/walk.h"

#include "frontends/live/walker.h"

namespace sardonyx::live {

std::unique_ptr<program::Program> walk(nanobind::handle exported_program,
                                       const LeastSizes& least_sizes) {
  auto program = std::make_unique<program::Program>();
  Walker(*program, least_sizes).walk(exported_program);
  return program;
}

}  // namespace sardonyx::live

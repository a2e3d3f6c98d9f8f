#include "kernels/targets.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>

namespace sardonyx::kernels {

void for_each_target(const std::function<void(const char* name)>& run) {
  const std::int64_t all = hwy::SupportedTargets() & HWY_TARGETS;
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    run(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace sardonyx::kernels

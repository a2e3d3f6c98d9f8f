#include "kernels/targets.h"

#include <hwy/highway.h>
#include <hwy/targets.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// The sets of instructions that the processor has and the operating system saves.
std::int64_t processor_targets() {
  std::int64_t targets = HWY_SCALAR | HWY_EMU128 | HWY_STATIC_TARGET;
#if HWY_ARCH_X86
  const auto add = [&targets](std::int64_t target, bool supported) {
    if (supported) targets |= target;
    return supported;
  };
  __builtin_cpu_init();
  if (add(HWY_SSE4, __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
                        __builtin_cpu_supports("aes")) &&
      add(HWY_AVX2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")))
    add(HWY_AVX3, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd"));
#endif
  return targets;
}

std::atomic<std::int64_t> set_for_tests = 0;  // 0: none

}  // namespace

// Highway's headers declare these for its library, which is not linked
// (SardonyxDependencies.cmake).
namespace hwy {

std::int64_t SupportedTargets() {
  static const std::int64_t targets = processor_targets();
  const std::int64_t for_tests = set_for_tests;
  return for_tests != 0 ? for_tests : targets;
}

void SetSupportedTargetsForTest(std::int64_t targets) { set_for_tests = targets; }

ChosenTarget& GetChosenTarget() {
  static ChosenTarget target;
  return target;
}

void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: %s\n", file, line, format);
  std::abort();
}

}  // namespace hwy

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

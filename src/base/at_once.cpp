#include "base/at_once.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace sardonyx::base {

std::size_t processors() {
  std::size_t found = std::thread::hardware_concurrency();
#ifdef __linux__
  // Those of the machine may be more than `taskset` or a container's set leaves.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    found = static_cast<std::size_t>(CPU_COUNT(&set));
#endif
  return std::clamp(found, std::size_t{1}, std::size_t{32});
}

void at_once(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::exception_ptr> thrown(count);
  const auto part = [&](std::size_t number) {
    try {
      work(number);
    } catch (...) {
      thrown[number] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(count);
  std::size_t next = 1;
  try {
    for (; next < count; ++next) threads.emplace_back(part, next);
  } catch (const std::system_error&) {  // the limit of threads
  }
  if (count > 0) part(0);
  for (; next < count; ++next) part(next);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : thrown)
    if (each) std::rethrow_exception(each);
}

}  // namespace sardonyx::base

#include "base/parallel_for.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace sardonyx::base {

namespace {

std::atomic<std::size_t> most_threads = 0;  // 0: no limit

// Pieces that are made by several threads and taken in order.
class Ordered {
 public:
  Ordered(std::size_t count, const PieceWork& make, const PieceWork& take)
      : count_(count), make_(make), take_(take) {}

  void work(std::size_t thread) {
    for (;;) {
      const std::size_t piece = next_++;
      if (piece >= count_) return;
      try {
        make_(piece, thread);
        if (!wait_for(piece)) return;
        take_(piece, thread);
      } catch (...) {
        fail(piece);
        return;
      }
      const std::scoped_lock lock(mutex_);
      turn_ = piece + 1;
      changed_.notify_all();
    }
  }

  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  // Until it is the piece's turn; false where another has failed before.
  bool wait_for(std::size_t piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == piece || failed_ < piece; });
    return turn_ == piece;
  }

  // Pieces before it still run: the first one that fails is reported, whichever thread is faster.
  void fail(std::size_t piece) {
    next_ = count_;
    const std::scoped_lock lock(mutex_);
    if (piece < failed_) {
      failed_ = piece;
      thrown_ = std::current_exception();
    }
    changed_.notify_all();
  }

  std::size_t count_;
  const PieceWork& make_;
  const PieceWork& take_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t turn_ = 0;
  std::size_t failed_ = std::numeric_limits<std::size_t>::max();
  std::exception_ptr thrown_;
};

}  // namespace

void set_threads(std::size_t count) { most_threads = count; }

std::size_t processors() {
  std::size_t found = std::thread::hardware_concurrency();
#ifdef __linux__
  // Those of the machine may be more than `taskset` or a container's set leaves.
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    found = static_cast<std::size_t>(CPU_COUNT(&set));
#endif
  const std::size_t most = most_threads;
  if (most > 0) found = std::min(found, most);
  return std::clamp(found, std::size_t{1}, std::size_t{32});
}

void run_on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
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

void in_order(std::size_t count, std::size_t threads, const PieceWork& make,
              const PieceWork& take) {
  Ordered pieces(count, make, take);
  run_on_threads(std::max(std::size_t{1}, std::min(threads, count)),
                 [&](std::size_t thread) { pieces.work(thread); });
  pieces.rethrow();
}

}  // namespace sardonyx::base

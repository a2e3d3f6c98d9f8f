// Throws damaged files at a reader for some minutes: sardonyx_fuzz <target> <corpus> <minutes>.
//
// A sanitizer ends the program at a fault. What was thrown last stands in `fuzz-<target>.last` of
// the current folder; sardonyx_fuzz <target> <file> throws that file alone.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "targets.h"

namespace sardonyx::fuzz {
namespace {

constexpr std::size_t kLargest = 1 << 16;  // bytes of what is thrown
constexpr unsigned kSlowest = 20;          // seconds; what takes longer hangs

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The file whose content outlives the program, whatever ends it.
class Last {
 public:
  explicit Last(const std::string& path) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, sizeof(Content)) != 0) std::abort();
    void* memory = mmap(nullptr, sizeof(Content), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) std::abort();
    content_ = static_cast<Content*>(memory);
    close(file);
  }
  void keep(const std::string& bytes) {
    content_->size = bytes.size();
    std::memcpy(content_->bytes, bytes.data(), bytes.size());
  }

 private:
  struct Content {
    std::uint64_t size;
    char bytes[kLargest];
  };
  Content* content_;
};

class Mutator {
 public:
  Mutator(std::vector<std::string> corpus, const Target& target, std::uint64_t seed)
      : corpus_(std::move(corpus)), target_(target), chance_(seed) {}

  std::string next() {
    std::string bytes = corpus_[below(corpus_.size())];
    const std::size_t steps = std::size_t{1} << below(6);
    for (std::size_t i = 0; i < steps; ++i) step(bytes);
    if (bytes.size() > kLargest) bytes.resize(kLargest);
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : chance_() % limit; }

  void step(std::string& bytes) {
    if (bytes.empty()) bytes = "\0";
    const std::size_t at = below(bytes.size());
    const std::size_t length = std::min(bytes.size() - at, 1 + below(std::size_t{1} << below(9)));
    switch (below(9)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        insert(bytes, at, target_.tokens[below(target_.tokens.size())]);
        break;
      case 5: {  // a part of another file
        const std::string& other = corpus_[below(corpus_.size())];
        const std::size_t from = below(other.size());
        insert(bytes, at, std::string_view(other).substr(from, length));
        break;
      }
      case 6:
        number(bytes, at);
        break;
      case 7:  // many times over, for what counts and nests
        for (std::size_t i = below(200); i > 0 && bytes.size() < kLargest; --i)
          bytes.insert(at, bytes.substr(at, std::min<std::size_t>(length, 16)));
        break;
      default:
        digit(bytes, at);
    }
  }

  void insert(std::string& bytes, std::size_t at, std::string_view part) {
    if (below(2) == 0) {
      bytes.insert(at, part);
    } else {
      bytes.replace(at, std::min(part.size(), bytes.size() - at), part);
    }
  }

  // Sizes and offsets at which arithmetic overflows.
  void number(std::string& bytes, std::size_t at) {
    constexpr std::uint64_t kNumbers[] = {0,
                                          1,
                                          0x7F,
                                          0xFF,
                                          0x7FFF,
                                          0xFFFF,
                                          0x7FFFFFFF,
                                          0x80000000,
                                          0xFFFFFFFF,
                                          0x7FFFFFFFFFFFFFFF,
                                          0x8000000000000000,
                                          0xFFFFFFFFFFFFFFFF};
    const std::uint64_t value = kNumbers[below(std::size(kNumbers))] + below(3) - 1;
    const std::size_t width = std::min<std::size_t>(bytes.size() - at, std::size_t{1} << below(4));
    std::memcpy(bytes.data() + at, &value, width);
  }

  void digit(std::string& bytes, std::size_t at) {
    const std::size_t found = bytes.find_first_of("0123456789", at);
    if (found != std::string::npos) bytes[found] = static_cast<char>('0' + below(10));
  }

  std::vector<std::string> corpus_;
  const Target& target_;
  std::mt19937_64 chance_;
};

// Whether the reader took it.
bool thrown(const Target& target, const std::string& bytes) {
  alarm(kSlowest);
  bool taken = true;
  try {
    target.run(std::as_bytes(std::span(bytes)));
  } catch (const base::Error&) {
    taken = false;
  }
  alarm(0);
  return taken;
}

std::vector<std::string> corpus_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry);
  std::ranges::sort(paths);
  std::vector<std::string> corpus;
  for (const std::filesystem::path& path : paths) corpus.push_back(content(path));
  return corpus;
}

int fuzz(const Target& target, const std::filesystem::path& corpus, double minutes) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(minutes * 60);
  const auto seed = static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  std::vector<std::string> seeds = corpus_in(corpus);
  for (const std::string& bytes : seeds) thrown(target, bytes);
  Mutator mutator(std::move(seeds), target, seed);
  Last last("fuzz-" + std::string(target.name) + ".last");
  std::uint64_t count = 0, taken = 0;
  for (; Clock::now() < end; ++count) {
    const std::string bytes = mutator.next();
    last.keep(bytes);
    taken += thrown(target, bytes) ? 1 : 0;
  }
  std::printf("%s: %llu files in %.1f minutes (seed %llu), %llu of them read, no finding\n",
              std::string(target.name).c_str(), static_cast<unsigned long long>(count), minutes,
              static_cast<unsigned long long>(seed), static_cast<unsigned long long>(taken));
  return 0;
}

// As Last leaves it, or any other file.
std::string one_file(const std::filesystem::path& path) {
  std::string bytes = content(path);
  std::uint64_t size = 0;
  if (path.extension() == ".last" && bytes.size() > sizeof(size)) {
    std::memcpy(&size, bytes.data(), sizeof(size));
    bytes = bytes.substr(sizeof(size), size);
  }
  return bytes;
}

int run(const std::vector<std::string>& words) {
  for (const Target& target : targets()) {
    if (words.size() < 3 || words[1] != target.name) continue;
    if (words.size() > 3) return fuzz(target, words[2], std::stod(words[3]));
    std::puts(thrown(target, one_file(words[2])) ? "read" : "refused");
    return 0;
  }
  std::fputs("sardonyx_fuzz <target> <corpus> <minutes>, or <target> <file>; targets:", stderr);
  for (const Target& target : targets())
    std::fprintf(stderr, " %s", std::string(target.name).c_str());
  std::fputs("\n", stderr);
  return 2;
}

}  // namespace
}  // namespace sardonyx::fuzz

int main(int count, char** words) { return sardonyx::fuzz::run({words, words + count}); }

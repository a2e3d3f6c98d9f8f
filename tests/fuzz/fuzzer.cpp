// libFuzzer's door to the readers: sardonyx_fuzz <reader> <libFuzzer's options and corpora>.
//
// A sanitizer, an exception that is no diagnostic, or 20 seconds without an answer is a finding.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostic.h"
#include "mutators.h"
#include "readers.h"

// What libFuzzer asks for.
extern "C" {
int LLVMFuzzerInitialize(int* count, char*** words);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit,
                                    unsigned seed);
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);
}

namespace sardonyx::fuzz {
namespace {

const Reader* chosen = nullptr;

[[noreturn]] void refuse() {
  std::fputs("sardonyx_fuzz <reader> <options and corpora of libFuzzer>; readers:", stderr);
  for (const Reader& reader : readers())
    std::fprintf(stderr, " %s", std::string(reader.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

std::string mutated(std::string bytes, std::size_t room) {
  const std::size_t size = bytes.size();
  bytes.resize(size + room);
  auto* data = reinterpret_cast<std::uint8_t*>(bytes.data());
  bytes.resize(LLVMFuzzerMutate(data, size, bytes.size()));
  return bytes;
}

}  // namespace sardonyx::fuzz

using namespace sardonyx;

// Takes the reader's name out of the words, which libFuzzer would take for a corpus.
int LLVMFuzzerInitialize(int* count, char*** words) {
  if (*count < 2) fuzz::refuse();
  for (const fuzz::Reader& reader : fuzz::readers())
    if (reader.name == (*words)[1]) fuzz::chosen = &reader;
  if (fuzz::chosen == nullptr) fuzz::refuse();
  std::copy(*words + 2, *words + *count, *words + 1);
  --*count;
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    fuzz::chosen->run(std::as_bytes(std::span(data, size)));
  } catch (const base::Error&) {
    return 0;  // a diagnostic is an answer
  }
  return 0;
}

// Half of what is thrown is whole in its format, so that it gets past the first check of the file.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t limit,
                                    unsigned seed) {
  if (fuzz::chosen->mutate != nullptr && seed % 2 == 0) {
    const std::string_view before(reinterpret_cast<const char*>(data), size);
    const std::string after = fuzz::chosen->mutate(before, seed / 2);
    if (!after.empty() && after.size() <= limit) {
      std::memcpy(data, after.data(), after.size());
      return after.size();
    }
  }
  return LLVMFuzzerMutate(data, size, limit);
}

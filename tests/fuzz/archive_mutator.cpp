#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/diagnostic.h"
#include "frontends/archive/archive_for_test.h"
#include "frontends/archive/zip.h"
#include "mutators.h"

namespace sardonyx::fuzz {
namespace {

constexpr std::size_t kRoom = 256;  // bytes that an entry may grow by

// Without the entries that cannot be read.
archive::ArchiveForTest unpacked(std::string_view bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  const archive::ZipReader reader({std::as_bytes(std::span(*owner)), owner});
  archive::ArchiveForTest made;
  for (const archive::ZipEntry& entry : reader.entries()) {
    try {
      made.add(std::string(entry.name), std::string(reader.read(entry).text()));
    } catch (const base::Error&) {
      continue;
    }
  }
  return made;
}

}  // namespace

std::string mutate_archive(std::string_view bytes, unsigned seed) {
  archive::ArchiveForTest made;
  try {
    made = unpacked(bytes);
  } catch (const base::Error&) {
    return {};
  }
  if (made.entries.empty()) return {};
  std::minstd_rand chance(seed);
  const std::size_t at = chance() % made.entries.size();
  archive::ArchiveForTest::Entry& entry = made.entries[at];
  switch (chance() % 16) {
    case 0:
      made.entries.erase(made.entries.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1:
      made.entries.push_back(entry);
      break;
    case 2:
      entry.name = mutated(entry.name, kRoom);
      break;
    case 3:
      std::swap(entry.bytes, made.entries[chance() % made.entries.size()].bytes);
      break;
    default:
      entry.bytes = mutated(entry.bytes, kRoom);
  }
  for (archive::ArchiveForTest::Entry& each : made.entries) each.size = each.bytes.size();
  return made.str();
}

}  // namespace sardonyx::fuzz

// What becomes of a destination when writing to it fails, and when it is no ordinary file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "base/parallel_for.h"
#include "base/temporary_folder.h"
#include "onnx/graph/ir.h"
#include "onnx/graph/recipe.h"
#include "proto/reader/example_models.h"
#include "proto/reader/read.h"
#include "proto/writer/write.h"

namespace sardonyx::proto {
namespace {

namespace fs = std::filesystem;
using ExternalData = WriteOptions::ExternalData;

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The message of the SX1601 that writing ends in.
std::string refusal(const fs::path& path, const WriteOptions& options = {},
                    std::int64_t elements = 1000) {
  try {
    write(*adding_model(elements), path, options);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "SX1601") << error.what();
    EXPECT_NE(std::string(error.what()).find(path.filename().string()), std::string::npos)
        << error.what();
    return error.diagnostics().at(0).message;
  }
  return "no error";
}

bool has(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

// Files beyond this size cannot be written while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_ = {};
  void (*handler_)(int);
};

TEST(DestinationTest, ADirectoryIsRefused) {
  const base::TemporaryFolder folder;
  fs::create_directory(folder / "m.onnx");
  EXPECT_TRUE(has(refusal(folder / "m.onnx"), "Is a directory"));
  EXPECT_TRUE(has(refusal(folder / "m.onnx" / "x" / ".."), "No such file"));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"m.onnx"});
}

TEST(DestinationTest, AMissingFolderIsRefused) {
  const base::TemporaryFolder folder;
  EXPECT_TRUE(has(refusal(folder / "no" / "m.onnx"), "No such file"));
  put(folder / "file", "");
  EXPECT_TRUE(has(refusal(folder / "file" / "m.onnx"), "Not a directory"));
  EXPECT_TRUE(has(refusal(fs::path()), "No such file"));
}

TEST(DestinationTest, AFullDeviceIsReported) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full on this system";
  EXPECT_TRUE(has(refusal("/dev/full"), "No space left"));
  EXPECT_TRUE(fs::is_character_file("/dev/full"));  // and not a file in its place
}

TEST(DestinationTest, ADiskThatIsTooSmallLeavesTheOldFile) {
  const base::TemporaryFolder folder;
  put(folder / "m.onnx", "old");
  put(folder / "m.onnx.data", "old data");
  {
    const FileSizeLimit limit(2000);
    EXPECT_TRUE(has(refusal(folder / "m.onnx"), "File too large"));
    WriteOptions outside;
    outside.external_data = ExternalData::kAlways;
    EXPECT_TRUE(has(refusal(folder / "m.onnx", outside), "File too large"));
  }
  EXPECT_EQ(contents(folder / "m.onnx"), "old");
  EXPECT_EQ(contents(folder / "m.onnx.data"), "old data");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "m.onnx.data"}));
}

TEST(DestinationTest, GivingUpMidwayLeavesTheOldFiles) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  write(*adding_model(1000), folder / "m.onnx", options);
  const std::string model = contents(folder / "m.onnx");
  const std::string data = contents(folder / "m.onnx.data");
  for (std::int64_t calls = 1;; ++calls) {
    std::int64_t left = calls;
    options.progress = [&](std::int64_t, std::int64_t) {
      if (--left == 0) throw std::runtime_error("enough");
    };
    try {
      write(*adding_model(1 << 20), folder / "m.onnx", options);
      EXPECT_GT(calls, 4);
      break;
    } catch (const std::runtime_error&) {
      EXPECT_EQ(contents(folder / "m.onnx"), model);
      EXPECT_EQ(contents(folder / "m.onnx.data"), data);
      EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "m.onnx.data"}));
    }
  }
  EXPECT_EQ(read(folder / "m.onnx")->initializers.at(0)->constant->element_count(), 1 << 20);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "m.onnx.data"}));
}

TEST(DestinationTest, WhenTheModelCannotBePlacedItsDataGoesBack) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  for (const bool with_old_data : {false, true}) {
    if (with_old_data) put(folder / "m.onnx.data", "old data");
    // A folder takes the destination's name when it has been looked at already.
    options.progress = [&](std::int64_t done, std::int64_t total) {
      if (done == total) fs::create_directory(folder / "m.onnx");
    };
    EXPECT_TRUE(has(refusal(folder / "m.onnx", options), "Is a directory"));
    fs::remove(folder / "m.onnx");
    EXPECT_EQ(fs::exists(folder / "m.onnx.data"), with_old_data);
    if (with_old_data) {
      EXPECT_EQ(contents(folder / "m.onnx.data"), "old data");
    }
    EXPECT_EQ(folder.names().size(), with_old_data ? 1U : 0U);
  }
}

TEST(DestinationTest, LinksAreFollowedAndModesKept) {
  const base::TemporaryFolder folder;
  fs::create_directory(folder / "real");
  put(folder / "real" / "m.onnx", "old");
  ::chmod((folder / "real" / "m.onnx").c_str(), 0640);
  fs::create_symlink("real/m.onnx", folder / "link.onnx");
  write(*adding_model(10), folder / "link.onnx");
  EXPECT_TRUE(fs::is_symlink(folder / "link.onnx"));
  EXPECT_EQ(contents(folder / "real" / "m.onnx"), serialize(*adding_model(10)));
  EXPECT_EQ(fs::status(folder / "real" / "m.onnx").permissions(), fs::perms(0640));

  fs::create_symlink("dangling.onnx", folder / "new.onnx");
  write(*adding_model(10), folder / "new.onnx");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder / "dangling.onnx")));
  fs::create_symlink("loop", folder / "loop");
  EXPECT_TRUE(has(refusal(folder / "loop"), "symbolic links"));
}

TEST(DestinationTest, ANewFileHasTheUsualMode) {
  const base::TemporaryFolder folder;
  const mode_t mask = ::umask(0027);
  write(*adding_model(10), folder / "m.onnx");
  ::umask(mask);
  EXPECT_EQ(fs::status(folder / "m.onnx").permissions(), fs::perms(0640));
}

TEST(DestinationTest, APipeIsWrittenToAsItIs) {
  const base::TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = contents(pipe); });
  write(*adding_model(100000), pipe);
  reader.join();
  EXPECT_EQ(received, serialize(*adding_model(100000)));
  EXPECT_TRUE(fs::is_fifo(pipe));

  // There is no folder for a file of external data.
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  try {
    write(*adding_model(1000), "/dev/null", options);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "SX1602");
  }
}

TEST(DestinationTest, AModelCanReplaceTheFilesItsWeightsAreReadFrom) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  write(*adding_model(1 << 20), folder / "m.onnx", options);
  const std::string data = contents(folder / "m.onnx.data");
  const auto model = read(folder / "m.onnx");
  write(*model, folder / "m.onnx", options);
  EXPECT_EQ(contents(folder / "m.onnx.data"), data);
}

// The mapping holds the file that was there, whatever has its name by now.
TEST(DestinationTest, WeightsAreThoseOfTheFileThatWasRead) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  write(*adding_model(1 << 20), folder / "m.onnx", options);
  const std::string data = contents(folder / "m.onnx.data");
  const auto model = read(folder / "m.onnx");
  put(folder / "other", std::string(data.size(), 'x'));
  fs::rename(folder / "other", folder / "m.onnx.data");
  write(*model, folder / "copy.onnx", options);
  EXPECT_TRUE(contents(folder / "copy.onnx.data") == data);
}

TEST(DestinationTest, WeightsThatVanishMeanwhileAreNoCrash) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  write(*adding_model(1 << 20), folder / "m.onnx", options);
  const auto model = read(folder / "m.onnx");
  fs::resize_file(folder / "m.onnx.data", 1 << 20);
  try {
    write(*model, folder / "copy.onnx", options);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_TRUE(has(error.what(), "cut short")) << error.what();
  }
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"m.onnx", "m.onnx.data"}));
}

// On whichever thread reads what is no longer there.
TEST(DestinationTest, ComputedWeightsThatVanishMeanwhileAreNoCrash) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  write(*adding_model(1 << 21), folder / "m.onnx", options);
  const auto file = std::make_shared<const base::MappedFile>(folder / "m.onnx.data");
  onnx::Tensor tensor;
  tensor.dtype = base::DType::kFloat32;
  tensor.dims = {1 << 10, 1 << 11};
  tensor.data = file->bytes().data();
  tensor.owner = file;
  put(folder / "copy.onnx", "before");
  fs::resize_file(folder / "m.onnx.data", 1 << 22);
  for (const onnx::Tensor& each :
       {onnx::cast_with_offset(tensor, base::DType::kFloat16, 0), onnx::permuted(tensor, {1, 0})}) {
    try {
      write(*adding_model(each), folder / "copy.onnx", options);
      FAIL();
    } catch (const base::Error& error) {
      EXPECT_TRUE(has(error.what(), "cut short")) << error.what();
      EXPECT_TRUE(has(error.what(), "m.onnx.data")) << error.what();
    }
  }
  EXPECT_EQ(contents(folder / "copy.onnx"), "before");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"copy.onnx", "m.onnx", "m.onnx.data"}));
}

// The callback of progress may end the writing: on the caller's thread, whoever writes.
TEST(DestinationTest, GivingUpAmongThreadsLeavesNothing) {
  const base::TemporaryFolder folder;
  WriteOptions options;
  options.external_data = ExternalData::kAlways;
  const std::thread::id caller = std::this_thread::get_id();
  options.progress = [&](std::int64_t done, std::int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    if (done > 4 << 20) throw std::runtime_error("interrupted");
  };
  base::set_threads(4);
  const onnx::Tensor tensor =
      onnx::cast_with_offset(counting(std::int64_t{1} << 22), base::DType::kFloat16, 0);
  EXPECT_THROW(write(*adding_model(tensor), folder / "m.onnx", options), std::runtime_error);
  base::set_threads(0);
  EXPECT_TRUE(folder.names().empty());
}

TEST(DestinationTest, ALongNameIsNoTrouble) {
  const base::TemporaryFolder folder;
  const std::string name(255, 'n');
  write(*adding_model(10), folder / name);
  EXPECT_EQ(folder.names(), std::vector<std::string>{name});
  EXPECT_TRUE(has(refusal(folder / (name + "n")), "name too long"));
}

}  // namespace
}  // namespace sardonyx::proto

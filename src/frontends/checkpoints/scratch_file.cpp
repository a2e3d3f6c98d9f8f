#include "frontends/checkpoints/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "base/mapped_file.h"
#include "kernels/strided_copy.h"

namespace sardonyx::checkpoints {
namespace {

// Of what is in memory at a time.
constexpr std::int64_t kPartBytes = 4 << 20;

class NewFile {
 public:
  explicit NewFile(const std::string& path) : path_(path) {
    do {
      fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    } while (fd_ < 0 && errno == EINTR);
    if (fd_ < 0) refuse();
  }
  ~NewFile() { ::close(fd_); }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes, std::int64_t at) {
    while (!bytes.empty()) {
      const ssize_t done = ::pwrite(fd_, bytes.data(), bytes.size(), at);
      if (done < 0 && errno == EINTR) continue;
      if (done <= 0) refuse();
      bytes = bytes.subspan(static_cast<std::size_t>(done));
      at += done;
    }
  }

 private:
  [[noreturn]] void refuse() const {
    base::fail("SX1601", "cannot write '" + path_ + "': " + std::generic_category().message(errno));
  }

  const std::string& path_;
  int fd_ = -1;
};

// Elements of a piece, which lie at strides in its file, to their places in the whole tensor.
class PieceWriter {
 public:
  PieceWriter(const DistributedTensor& tensor, const Piece& piece, const StridedPlace& place,
              const std::byte* from, NewFile& file)
      : place_(place), from_(from), file_(file), width_(base::bit_width(tensor.dtype) / 8) {
    // A run of elements that are neighbors in the whole tensor: the last axes that the piece has
    // all of, and the one before them.
    run_axis_ = piece.sizes.size();
    while (run_axis_ > 0 &&
           (run_axis_ == piece.sizes.size() || piece.sizes[run_axis_] == tensor.dims[run_axis_]))
      --run_axis_;
    target_strides_.resize(tensor.dims.size());
    std::int64_t stride = 1;
    for (std::size_t i = tensor.dims.size(); i-- > 0; stride *= tensor.dims[i]) {
      target_strides_[i] = stride;
      target_ += piece.offsets[i] * stride;
    }
  }

  void write() {
    if (element_count(place_.dims) == 0) return;
    write_axis(0, 0, target_);
  }

 private:
  void write_axis(std::size_t axis, std::int64_t source, std::int64_t target) {
    if (axis == run_axis_) return write_run(source, target);
    for (std::int64_t i = 0; i < place_.dims[axis]; ++i)
      write_axis(axis + 1, source + i * place_.strides[axis], target + i * target_strides_[axis]);
  }

  // In parts along the first axis of the run.
  void write_run(std::int64_t source, std::int64_t target) {
    const std::span<const std::int64_t> dims = std::span(place_.dims).subspan(run_axis_);
    const std::span<const std::int64_t> strides = std::span(place_.strides).subspan(run_axis_);
    if (dims.empty()) {
      file_.write({from_ + source * width_, static_cast<std::size_t>(width_)}, target * width_);
      return;
    }
    const std::int64_t inner = *element_count(dims.subspan(1));
    const std::int64_t each = std::clamp<std::int64_t>(kPartBytes / (inner * width_), 1, dims[0]);
    for (std::int64_t first = 0; first < dims[0]; first += each) {
      std::vector<std::int64_t> part(dims.begin(), dims.end());
      part[0] = std::min(each, dims[0] - first);
      write_part(part, strides, source + first * strides[0], target + first * inner);
    }
  }

  void write_part(std::span<const std::int64_t> dims, std::span<const std::int64_t> strides,
                  std::int64_t source, std::int64_t target) {
    const auto bytes = static_cast<std::size_t>(*element_count(dims) * width_);
    const std::vector<kernels::Axis> axes = kernels::merged_axes(dims, strides);
    if (axes.empty() || (axes.size() == 1 && axes[0].stride == 1)) {
      file_.write({from_ + source * width_, bytes}, target * width_);
      return;
    }
    buffer_.resize(bytes);
    copy_axes(axes, from_ + source * width_, buffer_.data());
    file_.write(buffer_, target * width_);
  }

  // Returns the end of what it wrote.
  std::byte* copy_axes(std::span<const kernels::Axis> axes, const std::byte* from, std::byte* to) {
    const auto width = static_cast<std::size_t>(width_);
    if (axes.size() <= 2) {
      const kernels::Axis rows = axes.size() == 2 ? axes[0] : kernels::Axis{1, 0};
      kernels::copy_rectangle(from, rows, axes.back(), width, to, axes.back().size);
      return to + rows.size * axes.back().size * width_;
    }
    for (std::int64_t i = 0; i < axes[0].size; ++i)
      to = copy_axes(axes.subspan(1), from + i * axes[0].stride * width_, to);
    return to;
  }

  const StridedPlace& place_;
  const std::byte* from_;
  NewFile& file_;
  std::int64_t width_;
  std::size_t run_axis_ = 0;
  std::vector<std::int64_t> target_strides_;
  std::int64_t target_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace

std::int64_t write_joined(const std::string& folder, const DistributedTensor& tensor,
                          const std::string& path) {
  const std::vector<StridedPlace> places = locate_pieces(folder, tensor);
  const base::CutShortGuard guard;
  std::map<std::string, base::MappedFile> files;
  NewFile file(path);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string source = (std::filesystem::path(folder) / tensor.pieces[i].file).string();
    const auto [held, is_new] = files.try_emplace(source);
    if (is_new) held->second = base::MappedFile(source);
    check_inside(source, held->second.bytes().size(), {{places[i].extent}});
    const std::byte* const from = held->second.bytes().data() + places[i].extent.offset;
    PieceWriter(tensor, tensor.pieces[i], places[i], from, file).write();
  }
  base::check_not_cut_short();
  return base::byte_size(tensor.dtype, *element_count(tensor.dims));
}

}  // namespace sardonyx::checkpoints

#include "lab/export/gzip_file.h"

#include <zlib.h>

#include <array>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

constexpr int kLevel = 6;
constexpr int kGzipWindow = 16 + MAX_WBITS;
constexpr int kMemoryLevel = 8;

}  // namespace

struct GzipFile::Stream {
  z_stream zlib = {};
  std::array<char, size_t{64} << 10> out;
  ~Stream() { deflateEnd(&zlib); }
};

GzipFile::GzipFile(std::unique_ptr<File> file)
    : file_(std::move(file)), stream_(std::make_unique<Stream>()) {}
GzipFile::~GzipFile() = default;

absl::StatusOr<std::unique_ptr<GzipFile>> GzipFile::Create(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(auto file, PosixFileSystem()->Open(path, OpenMode::kCreate));
  std::unique_ptr<GzipFile> gzip(new GzipFile(std::move(file)));
  if (deflateInit2(&gzip->stream_->zlib, kLevel, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    return ResourceExhausted("not enough memory to compress {}", path);
  return gzip;
}

absl::Status GzipFile::Deflate(std::string_view bytes, int flush) {
  z_stream& zlib = stream_->zlib;
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  do {
    zlib.next_out = reinterpret_cast<Bytef*>(stream_->out.data());
    zlib.avail_out = static_cast<uInt>(stream_->out.size());
    if (deflate(&zlib, flush) == Z_STREAM_ERROR)
      return MakeStatus(absl::StatusCode::kInternal, "zlib: the state of the stream is damaged");
    const std::string_view produced(stream_->out.data(), stream_->out.size() - zlib.avail_out);
    STELE_RETURN_IF_ERROR(file_->Write(offset_, produced));
    md5_.Add(produced);
    offset_ += produced.size();
  } while (zlib.avail_out == 0);
  return absl::OkStatus();
}

absl::Status GzipFile::Add(std::string_view bytes) { return Deflate(bytes, Z_NO_FLUSH); }

absl::StatusOr<std::string> GzipFile::Finish() {
  STELE_RETURN_IF_ERROR(Deflate({}, Z_FINISH));
  STELE_RETURN_IF_ERROR(file_->Sync());
  return md5_.Base64();
}

}  // namespace stele::internal::lab

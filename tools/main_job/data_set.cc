#include "data_set.h"

#include <zstd.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "base/status.h"

namespace stele::main_job {
namespace {

// The indexes of the fields used in a line.
constexpr size_t kDay = 0;
constexpr size_t kRegion = 3;
constexpr size_t kProvinceCode = 4;
constexpr size_t kProvince = 5;
constexpr size_t kLatitude = 7;
constexpr size_t kLongitude = 8;
constexpr size_t kTotalCases = 9;
constexpr size_t kFieldCount = 14;

absl::StatusOr<std::string> Unpack(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (file == nullptr) return internal::ErrnoStatus("open", path, errno);
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        &ZSTD_freeDStream);
  std::string packed(ZSTD_DStreamInSize(), '\0');
  std::string unpacked(ZSTD_DStreamOutSize(), '\0');
  std::string text;
  size_t got = 0;
  size_t left = 0;
  while ((got = std::fread(packed.data(), 1, packed.size(), file.get())) > 0) {
    ZSTD_inBuffer in = {packed.data(), got, 0};
    while (in.pos < in.size) {
      ZSTD_outBuffer out = {unpacked.data(), unpacked.size(), 0};
      left = ZSTD_decompressStream(stream.get(), &out, &in);
      if (ZSTD_isError(left) != 0)
        return internal::InvalidArgument("{}: {}", path, ZSTD_getErrorName(left));
      text.append(unpacked, 0, out.pos);
    }
  }
  if (std::ferror(file.get()) != 0) return internal::ErrnoStatus("read", path, errno);
  if (left != 0) return internal::InvalidArgument("{}: the file is truncated", path);
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<DataSet>> DataSet::Open(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(std::string text, Unpack(path));
  std::unique_ptr<DataSet> data(new DataSet(std::move(text)));
  STELE_RETURN_IF_ERROR(data->Begin(path));
  return data;
}

absl::Status DataSet::Begin(const std::string& path) {
  if (text_.empty()) return internal::InvalidArgument("{}: the file is empty", path);
  file_.reset(fmemopen(text_.data(), text_.size(), "rb"));
  if (file_ == nullptr) return internal::ErrnoStatus("fmemopen", path, errno);
  reader_ = std::make_unique<cli::CsvReader>(file_.get(), path);
  STELE_ASSIGN_OR_RETURN(const bool any, reader_->Next(fields_));
  if (!any || fields_.size() != kFieldCount)
    return reader_->Wrong("not the header line of the provinces' data");
  return absl::OkStatus();
}

absl::StatusOr<bool> DataSet::Next(Reading& reading) {
  STELE_ASSIGN_OR_RETURN(const bool any, reader_->Next(fields_));
  if (!any) return false;
  std::tm time = {};
  const char* const end = strptime(fields_[kDay].c_str(), "%Y-%m-%dT%H:%M:%S", &time);
  if (end == nullptr || *end != '\0') return reader_->Wrong("the first field is not a date");
  reading.day = Timestamp::FromMillis(int64_t{timegm(&time)} * 1000);
  reading.row_key = fields_[kRegion] + "#" + fields_[kProvinceCode];
  reading.province = fields_[kProvince];
  reading.latitude = fields_[kLatitude];
  reading.longitude = fields_[kLongitude];
  reading.total_cases = fields_[kTotalCases];
  return true;
}

}  // namespace stele::main_job

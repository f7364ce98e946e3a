#include "lab/trace_info/trace_output.h"

#include <zstd.h>

#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "io/file_system.h"
#include "lab/trace/trace_input.h"
#include "lab/trace/trace_lines.h"
#include "lab/trace_info/trace_text.h"
#include "trace/trace_writer.h"

namespace stele::internal::lab {
namespace {

using stele::lab::TraceForm;

constexpr size_t kPartBytes = size_t{64} << 10;
constexpr int kLinesZstdLevel = 3;

// Passes parts to a function until one fails. From then on every part gets that error.
class PartSink {
 public:
  explicit PartSink(const WritePart& write) : write_(write) {}

  absl::Status Write(std::string_view part) { return status_.ok() ? End(write_(part)) : status_; }
  // Ends the parts with an error, and returns it.
  absl::Status End(const absl::Status& status) {
    status_ = status;
    return status_;
  }
  const absl::Status& status() const { return status_; }

 private:
  const WritePart write_;
  absl::Status status_;
};

class JsonLinesOutput final : public TraceOutput {
 public:
  JsonLinesOutput(uint64_t sample, const WritePart& write)
      : write_(write), part_(TraceHeadLine(sample)) {}

  absl::Status Add(const TraceRecord& record) override {
    const size_t before = part_.size();
    AppendTraceLine(record, &part_);
    const size_t bytes = part_.size() - before - 1;  // without the newline
    if (bytes > kTraceLineBytesMax) {
      part_.resize(before);
      return internal::InvalidArgument("a line of {} bytes; a line of a trace has at most {}",
                                       bytes, kTraceLineBytesMax);
    }
    return part_.size() < kPartBytes ? absl::OkStatus() : Flush();
  }
  absl::Status Finish(const TraceCounts* /*counts*/) override { return Flush(); }

 private:
  absl::Status Flush() {
    const std::string part = std::exchange(part_, {});
    return write_(part);
  }

  const WritePart write_;
  std::string part_;
};

// Compresses what another output writes.
class ZstdOutput final : public TraceOutput {
 public:
  ZstdOutput(uint64_t sample, PartSink* sink)
      : sink_(sink),
        lines_(sample, [this](std::string_view part) { return Compress(part, ZSTD_e_continue); }) {}
  ~ZstdOutput() override { ZSTD_freeCCtx(context_); }
  ZstdOutput(const ZstdOutput&) = delete;
  ZstdOutput& operator=(const ZstdOutput&) = delete;

  absl::Status Add(const TraceRecord& record) override { return lines_.Add(record); }
  absl::Status Finish(const TraceCounts* counts) override {
    STELE_RETURN_IF_ERROR(lines_.Finish(counts));
    return Compress("", ZSTD_e_end);
  }

 private:
  absl::Status Compress(std::string_view part, ZSTD_EndDirective end) {
    if (context_ == nullptr)
      return sink_->End(internal::ResourceExhausted("not enough memory to compress with zstd"));
    ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, kLinesZstdLevel);
    ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    ZSTD_inBuffer in{part.data(), part.size(), 0};
    std::string bytes(kPartBytes, '\0');
    size_t left = 1;
    while (in.pos < in.size || (end == ZSTD_e_end && left > 0)) {
      ZSTD_outBuffer out{bytes.data(), bytes.size(), 0};
      left = ZSTD_compressStream2(context_, &out, &in, end);
      if (ZSTD_isError(left) != 0)
        return sink_->End(
            internal::ResourceExhausted("compressing with zstd: {}", ZSTD_getErrorName(left)));
      if (out.pos > 0) STELE_RETURN_IF_ERROR(sink_->Write(std::string_view(bytes.data(), out.pos)));
    }
    return absl::OkStatus();
  }

  PartSink* const sink_;
  ZSTD_CCtx* const context_ = ZSTD_createCCtx();
  JsonLinesOutput lines_;
};

// A file that TraceWriter writes from its begin to its end.
class PartFile final : public File {
 public:
  explicit PartFile(PartSink* sink) : sink_(sink) {}

  absl::StatusOr<size_t> Read(uint64_t /*offset*/, size_t /*bytes*/, char* /*out*/) const override {
    return 0;
  }
  absl::Status Write(uint64_t /*offset*/, std::string_view bytes) override {
    return sink_->Write(bytes);
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Truncate(uint64_t /*bytes*/) override { return absl::OkStatus(); }
  absl::Status Allocate(uint64_t /*bytes*/) override { return absl::OkStatus(); }
  absl::StatusOr<uint64_t> Size() const override { return 0; }
  const std::string& path() const override { return path_; }

 private:
  PartSink* const sink_;
  const std::string path_;
};

class BinaryOutput final : public TraceOutput {
 public:
  explicit BinaryOutput(std::unique_ptr<TraceWriter> writer) : writer_(std::move(writer)) {}

  absl::Status Add(const TraceRecord& record) override { return writer_->Add(record); }
  absl::Status Finish(const TraceCounts* counts) override {
    return counts == nullptr ? writer_->Flush() : writer_->Finish(*counts);
  }

 private:
  const std::unique_ptr<TraceWriter> writer_;
};

absl::StatusOr<std::unique_ptr<TraceOutput>> StartForm(TraceForm form, uint64_t sample,
                                                       PartSink* sink) {
  if (form == TraceForm::kJsonLines) {
    return std::make_unique<JsonLinesOutput>(
        sample, [sink](std::string_view part) { return sink->Write(part); });
  }
  if (form == TraceForm::kJsonLinesZstd) return std::make_unique<ZstdOutput>(sample, sink);
  STELE_ASSIGN_OR_RETURN(auto writer, TraceWriter::Open(std::make_unique<PartFile>(sink),
                                                        static_cast<uint32_t>(sample)));
  return std::make_unique<BinaryOutput>(std::move(writer));
}

// Checks records, and adds nothing to the output after an error of its sink.
class CheckedOutput final : public TraceOutput {
 public:
  CheckedOutput(std::unique_ptr<PartSink> sink, std::unique_ptr<TraceOutput> output)
      : sink_(std::move(sink)), output_(std::move(output)) {}

  absl::Status Add(const TraceRecord& record) override {
    STELE_RETURN_IF_ERROR(sink_->status());
    STELE_RETURN_IF_ERROR(CheckTraceRecord(record));
    return output_->Add(record);
  }
  absl::Status Finish(const TraceCounts* counts) override {
    STELE_RETURN_IF_ERROR(sink_->status());
    return output_->Finish(counts);
  }

 private:
  const std::unique_ptr<PartSink> sink_;  // of output_
  const std::unique_ptr<TraceOutput> output_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TraceOutput>> StartOutput(TraceForm form, uint64_t sample,
                                                         const WritePart& write) {
  auto sink = std::make_unique<PartSink>(write);
  STELE_ASSIGN_OR_RETURN(auto output, StartForm(form, sample, sink.get()));
  return std::make_unique<CheckedOutput>(std::move(sink), std::move(output));
}

TraceCounts CountsOfLines(uint64_t records, uint64_t sample) {
  const bool is_large = records > UINT64_MAX / sample;
  return {.operations = is_large ? UINT64_MAX : records * sample, .recorded = records};
}

}  // namespace stele::internal::lab

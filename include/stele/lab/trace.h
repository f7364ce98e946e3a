// stele/lab/trace.h: inspects traces of operations and converts their forms. Requires the library
// stele::lab.
//
// stele/stele.h does not include this header. `stele trace` has the same functions. A trace is in
// JSON lines or in the binary form, and may be compressed with gzip or zstd. Readers recognize the
// form by the first bytes.
// Errors:    InvalidArgument for a wrong record, unless `skips_bad`, for a damaged header, and for
//            more than 10,000 tables; Unimplemented for a newer version of the format; errors of
//            the file system. Damaged blocks of the binary form are always skipped and counted.
// Threads:   one thread per call; a TraceInfo is thread-compatible.
// Memory:    at most 80 MiB, unless a record has more.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stele {
inline namespace v0 {
namespace lab {

struct TraceInfo {
  // Reads the whole trace.
  [[nodiscard]] static absl::StatusOr<TraceInfo> Read(const std::string& path,
                                                      bool skips_bad = false);

  struct Operations {
    std::string table = {}, op = {};
    uint64_t records = 0, rows = 0, bytes = 0, errors = 0;  // rows: returned; bytes: see the trace
  };
  struct Row {
    std::string table = {}, row = {};
    uint64_t records = 0;
    bool is_exact = true;  // false: it has at least `records` operations
  };
  struct Tag {
    std::string tag = {};
    uint64_t records = 0;
  };

  std::string path = {};
  uint64_t file_bytes = 0;
  uint64_t sample = 1;  // the trace has 1 in `sample` operations
  uint64_t records = 0;
  int64_t from_micros = 0, to_micros = 0;   // when operations began, since the epoch
  uint64_t skipped = 0;                     // wrong records, or damaged blocks
  std::vector<Operations> operations = {};  // by table and op
  std::vector<Row> rows = {};               // at most 10, those with the most gets and writes first
  std::vector<Tag> tags = {};               // at most 1,000, sorted by name; not the empty tag

  // For the binary form. If the recording did not end normally, is_complete is false and the
  // members after it are 0 or false.
  bool is_binary = false, is_complete = false;
  uint64_t seen = 0;              // operations during the recording
  uint64_t dropped = 0;           // chosen by the sample, but not written to the file
  bool stopped_at_limit = false;  // the file reached TraceOptions.max_bytes

  std::string ToText() const;  // for a terminal: characters that are not visible are escaped
  std::string ToJson() const;  // one object in one line
};

enum class TraceForm : uint8_t { kJsonLines, kJsonLinesZstd, kBinary };

// Passes the trace in another form to `write`, part by part, and returns the number of skipped
// records and blocks. An error of `write` ends it. A record of more than 4 MiB has no binary form.
// Sets `is_complete`, unless it is null: false if the recording of a binary trace did not end
// normally, or still runs. Then the trace has all complete blocks, which may be none.
[[nodiscard]] absl::StatusOr<uint64_t> ConvertTrace(
    const std::string& path, TraceForm form,
    const std::function<absl::Status(std::string_view)>& write, bool skips_bad = false,
    bool* is_complete = nullptr);

}  // namespace lab
}  // namespace v0
}  // namespace stele

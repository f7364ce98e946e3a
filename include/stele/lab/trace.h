// stele/lab/trace.h: reads, writes and inspects traces of operations. Requires the library
// stele::lab. docs/lab/trace.md describes the forms and the members.
//
// A trace is in JSON lines or in the binary form, and may be compressed with gzip or zstd. Readers
// recognize the form by the first bytes.
// Errors:    InvalidArgument for a wrong record, unless `skips_bad`, for a damaged header, and for
//            more than 10,000 tables; Unimplemented for a newer version of the format; errors of
//            the file system. Damaged blocks of the binary form are always skipped and counted.
// Threads:   one thread per call; the types are thread-compatible.
// Memory:    at most 80 MiB, unless a record has more.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "stele/requires_cxx20.h"  // IWYU pragma: keep

namespace stele::inline v0::lab {

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

  std::string path = {};
  uint64_t file_bytes = 0;
  uint64_t sample = 1;  // the trace has 1 in `sample` operations
  uint64_t records = 0;
  int64_t from_micros = 0, to_micros = 0;   // when operations began, since the epoch
  uint64_t skipped_lines = 0;               // wrong lines, or damaged blocks
  std::vector<Operations> operations = {};  // by table and op
  std::vector<Row> rows = {};               // at most 10, those with the most gets and writes first
  std::map<std::string, uint64_t> tags = {};  // records by tag, at most 1,000; not the empty tag

  // Only the binary form has these. Without is_complete, the members after it are 0 or false.
  bool is_binary = false, is_complete = false;
  uint64_t seen = 0;              // operations during the recording
  uint64_t dropped = 0;           // chosen by the sample, but not written to the file
  bool stopped_at_limit = false;  // the file reached TraceOptions.max_bytes

  std::string ToText() const;  // for a terminal: characters that are not visible are escaped
  std::string ToJson() const;  // one object in one line
};

enum class TraceOp : uint8_t { kGet, kMget, kScan, kSet, kDel, kRmw, kCas, kDrop };

// One operation of a trace. A number that is not set is unknown. A record never has the value of a
// cell.
struct TraceRecord {
  struct Range {
    std::optional<std::string> start = {}, end = {};  // not set: no bound
    bool operator==(const Range&) const = default;
  };

  int64_t micros = 0;  // when the call began, since the epoch
  TraceOp op = TraceOp::kGet;
  std::string table = {};
  std::string row = {};                             // get, set, del, rmw, cas
  std::vector<std::string> keys = {};               // mget
  std::optional<std::string> start = {}, end = {};  // of a scan or drop; not set: no bound
  std::optional<std::vector<Range>> ranges = {};    // of a scan, instead of start and end
  std::optional<std::string> last = {};             // the row that a scan examined last
  bool is_reverse = false;
  std::optional<uint64_t> limit = {};                     // rows
  std::string filter = {};                                // its text; "": none
  std::optional<std::vector<std::string>> families = {};  // that the filter passes; not set: all
  std::optional<uint64_t> rows_seen = {}, rows_returned = {};
  std::optional<uint64_t> cells_seen = {}, cells_returned = {};
  std::optional<uint64_t> bytes = {};        // of keys, qualifiers and values: returned or written
  std::optional<uint64_t> bytes_read = {};   // from files
  std::optional<uint64_t> cells = {};        // of a write
  std::vector<std::string> columns = {};     // of a write, each as family:qualifier
  std::vector<std::string> increments = {};  // columns that an rmw incremented
  std::optional<uint64_t> batch = {};        // the same for all entries of a WriteBatch
  std::optional<uint64_t> call = {};         // the same for all entries of a BulkApply
  std::optional<uint64_t> latency_micros = {};
  std::string status = {};  // the name of the error code, such as NOT_FOUND; "": success
  std::string tag = {};

  bool operator==(const TraceRecord&) const = default;
};

// Reads the operations of a trace in the order of the file, in one pass.
class TraceReader {
 public:
  // `skips_bad`: leaves out wrong records, and counts them. Otherwise they are errors.
  [[nodiscard]] static absl::StatusOr<TraceReader> Open(const std::string& path,
                                                        bool skips_bad = false);
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;
  ~TraceReader();

  // Sets *record to the next operation, or returns false at the end. An error or the end is final.
  [[nodiscard]] absl::StatusOr<bool> Next(TraceRecord* record);
  // The trace has 1 in sample() operations. Known after the first Next(); 1 before.
  uint64_t sample() const;
  uint64_t skipped_lines() const;  // wrong lines, or damaged blocks, so far
  // After the end: false if the recording of a binary trace did not end normally, or still runs.
  bool is_complete() const;

 private:
  class State;
  explicit TraceReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

enum class TraceForm : uint8_t { kJsonLines, kJsonLinesZstd, kBinary };

class TraceWriter {
 public:
  // Passes the bytes of the trace to `write`, part by part. If `write` fails, the present call and
  // every later one return its error. `write` is then not called again, and the trace is not
  // complete. `sample`: the trace has 1 in `sample` operations; at least 1.
  [[nodiscard]] static absl::StatusOr<TraceWriter> Start(
      TraceForm form, std::function<absl::Status(std::string_view)> write, uint32_t sample = 1);
  TraceWriter(TraceWriter&&) noexcept;
  TraceWriter& operator=(TraceWriter&&) noexcept;
  ~TraceWriter();  // does not finish the trace

  // Adds an operation. Returns InvalidArgument for one that no reader accepts. Then nothing is
  // written, and other operations may follow. Readers do not accept a time before 1970, an unknown
  // `op`, a row key above 65,535 bytes, an empty `row` of a successful operation on one row, a
  // table or status that is not UTF-8, and more than 4 MiB (binary form) or 64 MiB (JSON lines).
  absl::Status Add(const TraceRecord& record);
  // Ends the trace. Nothing may be added after it. Without it the last operations may be missing.
  absl::Status Finish();

 private:
  class State;
  explicit TraceWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stele::inline v0::lab

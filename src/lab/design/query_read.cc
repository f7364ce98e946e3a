// design/query_read.cc: runs the requests of a query, and merges their rows.
#include <algorithm>
#include <utility>

#include "base/status.h"
#include "stele/lab/design.h"
#include "stele/row_reader.h"
#include "stele/table.h"

namespace stele {
inline namespace v0 {
namespace lab {
namespace {

using RowVisitor = std::function<void(const RowView&)>;

// Merges the scans of a query's buckets. Each reader is at its next row.
class BucketMerge {
 public:
  BucketMerge(const Table& table, const std::vector<ReadRequest>& requests,
              const ReadOptions& options)
      : requests_(requests) {
    readers_.reserve(requests.size());
    for (const ReadRequest& request : requests)
      readers_.push_back(table.ReadRows(request.rows, request.filter, options));
  }

  // Visits rows up to the limit.
  absl::Status Run(const RowVisitor& visit) {
    for (size_t i = 0; i < readers_.size(); ++i) STELE_RETURN_IF_ERROR(Advance(i));
    const int64_t limit = requests_.empty() ? 0 : requests_[0].limit;
    for (int64_t rows = 0; !heads_.empty() && (limit == 0 || rows < limit); ++rows) {
      std::pop_heap(heads_.begin(), heads_.end(), IsAfter(*this));
      const size_t reader = heads_.back().reader;
      heads_.pop_back();
      STELE_RETURN_IF_ERROR(VisitRow(&readers_[reader], visit));
      if (limit == 0 || rows + 1 < limit) STELE_RETURN_IF_ERROR(Advance(reader));
    }
    return absl::OkStatus();
  }

  ReadStats stats() const {
    ReadStats sum;
    for (const RowReader& reader : readers_) {
      const ReadStats stats = reader.stats();
      sum.rows_seen += stats.rows_seen;
      sum.rows_returned += stats.rows_returned;
      sum.cells_seen += stats.cells_seen;
      sum.cells_returned += stats.cells_returned;
      sum.blocks += stats.blocks;
      sum.bytes_read += stats.bytes_read;
      sum.bytes_decoded += stats.bytes_decoded;
      sum.is_work_known = sum.is_work_known && stats.is_work_known;
    }
    return sum;
  }

 private:
  struct Head {
    std::string key;  // without the bucket
    size_t reader;
  };
  // Orders the heap: the row to visit next is at its front.
  struct IsAfter {
    explicit IsAfter(const BucketMerge& merge)
        : reverse(!merge.requests_.empty() && merge.requests_[0].reverse) {}
    bool operator()(const Head& a, const Head& b) const {
      const int order = a.key.compare(b.key);
      if (order != 0) return reverse ? order < 0 : order > 0;
      return a.reader > b.reader;
    }
    const bool reverse;
  };

  // Moves a reader to its next row.
  absl::Status Advance(size_t reader) {
    if (!readers_[reader].Next()) return readers_[reader].status();
    const ReadRequest& request = requests_[reader];
    std::string key(readers_[reader].row().row_key());
    if (!request.bucket.empty() && request.bucket_offset < key.size() &&
        key.compare(request.bucket_offset, request.bucket.size(), request.bucket) == 0)
      key.erase(request.bucket_offset, request.bucket.size());
    heads_.push_back({.key = std::move(key), .reader = reader});
    std::push_heap(heads_.begin(), heads_.end(), IsAfter(*this));
    return absl::OkStatus();
  }

  // Visits the row at which the reader is, to its last piece.
  static absl::Status VisitRow(RowReader* reader, const RowVisitor& visit) {
    visit(reader->row());
    while (!reader->row().is_last_piece()) {
      if (!reader->Next()) return reader->status();
      visit(reader->row());
    }
    return absl::OkStatus();
  }

  const std::vector<ReadRequest>& requests_;
  std::vector<RowReader> readers_;
  std::vector<Head> heads_;
};

ReadOptions OptionsOf(const ReadRequest& request, const ReadOptions& options) {
  ReadOptions own = options;
  own.limit = request.limit;
  own.reverse = request.reverse;
  return own;
}

}  // namespace

absl::StatusOr<ReadStats> ReadAll(const Table& table, const std::vector<ReadRequest>& requests,
                                  const ReadOptions& options, const RowVisitor& visit) {
  if (requests.empty()) return ReadStats();
  const ReadOptions own = OptionsOf(requests[0], options);
  if (requests.size() == 1) {
    RowReader reader = table.ReadRows(requests[0].rows, requests[0].filter, own);
    while (reader.Next()) visit(reader.row());
    if (!reader.status().ok()) return reader.status();
    return reader.stats();
  }
  BucketMerge merge(table, requests, own);
  STELE_RETURN_IF_ERROR(merge.Run(visit));
  return merge.stats();
}

}  // namespace lab
}  // namespace v0
}  // namespace stele

#include "jobs/dead_sample.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cell/bounded_cursor.h"
#include "cell/cell_cursor.h"
#include "manifest/stack_edits.h"
#include "merge/merge_cursor.h"
#include "merge/retention_cursor.h"
#include "read/source_chain.h"
#include "views/gc_fence_horizon.h"
#include "views/index_boundaries.h"

namespace stele::internal {
namespace {

constexpr size_t kStripesMin = 8;
constexpr size_t kStripesMax = 24;
constexpr size_t kPartsPerStripe = 8;
// A stripe is cut after this much of one file. A large value counts, but is not read.
constexpr size_t kCellsMax = 1024;
constexpr uint64_t kBytesMax = uint64_t{256} << 10;
// A cursor that returned this many empty batches counts as having no cells before the cut.
constexpr int kEmptyBatchesMax = 64;

// The end of a stripe: before a row, or before a cell in it.
struct Cut {
  std::optional<std::string> row_key;  // nullopt: the stripe is not cut
  bool is_in_row = false;
  Cell cell;  // if is_in_row; its bytes are in `qualifier`
  std::string qualifier;

  bool Admits(std::string_view row) const {
    return !row_key.has_value() || row < *row_key || (is_in_row && row == *row_key);
  }
  bool Admits(std::string_view row, const Cell& other) const {
    return !row_key.has_value() || row < *row_key ||
           (is_in_row && row == *row_key && CompareCells(other, cell) < 0);
  }
  void Set(std::string_view row, const Cell& before) {
    row_key = std::string(row);
    is_in_row = true;
    qualifier = std::string(before.qualifier);
    cell = before;
    cell.qualifier = qualifier;
  }
};

uint64_t BytesOf(const Cell& cell) {
  return cell.qualifier.size() + sizeof cell.timestamp + cell.value.size();
}

// Adds up the cells of a source in a stripe.
class StripeSum {
 public:
  // With `limited`, lowers the cut if the source has too much data before it.
  StripeSum(Cut* cut, bool limited) : cut_(*cut), limited_(limited) {}

  uint64_t Read(CellCursor* cursor, const std::string& start) {
    for (bool has_row = cursor->SeekRow(start); has_row && cut_.Admits(cursor->row_key());
         has_row = cursor->NextRow()) {
      if (!ReadRow(cursor)) break;
    }
    return bytes_;
  }

 private:
  // Returns false at the cut.
  bool ReadRow(CellCursor* cursor) {
    std::vector<Cell> batch;
    int empty_batches = 0;
    bool is_counted = false;
    while (cursor->ReadCells(&batch)) {
      empty_batches = batch.empty() ? empty_batches + 1 : 0;
      if (empty_batches > kEmptyBatchesMax) return false;
      for (const Cell& cell : batch) {
        if (!cut_.Admits(cursor->row_key(), cell)) return false;
        if (limited_ && cells_ > 0 && (cells_ >= kCellsMax || bytes_ >= kBytesMax)) {
          cut_.Set(cursor->row_key(), cell);
          return false;
        }
        ++cells_;
        bytes_ += BytesOf(cell);
        if (!std::exchange(is_counted, true)) bytes_ += cursor->row_key().size();
      }
      batch.clear();
      cursor->Unpin();
    }
    return true;
  }

  Cut& cut_;
  const bool limited_;
  uint64_t bytes_ = 0;
  size_t cells_ = 0;
};

class TabletSample {
 public:
  TabletSample(const TableView& table, const ViewTablet& tablet, size_t input_begin, int64_t now)
      : table_(table), tablet_(tablet), input_begin_(input_begin) {
    std::vector<SstableReference> inputs;
    policy_.newest_commit_time = INT64_MIN;
    for (size_t i = input_begin; i < tablet.stack.size(); ++i) {
      inputs.push_back(tablet.stack[i].reference);
      policy_.newest_commit_time = std::max(
          policy_.newest_commit_time, OrdinalTime(inputs.back().file->newest_commit_time, now));
    }
    // As for a major compaction (jobs/compaction_job.cc), except that no large value is read.
    policy_.rules = table.definition().retentions;
    policy_.now = now;
    policy_.partial = true;
    policy_.unknown_ordinals = FamiliesOfUnknownOrdinals(
        table.definition(), OldestCommitAbove(table, tablet.range, inputs));
    policy_.drop_tombstones = true;
  }

  // Sets `share` to the dead share of the stripe, unless it is empty. Returns false on failure.
  bool Measure(const KeyRange& stripe, std::optional<double>* share) {
    Cut cut;
    if (!stripe.unbounded_end) cut.row_key = stripe.end;
    uint64_t bytes = 0;
    for (const bool limited : {true, false}) {
      bytes = 0;
      for (const std::unique_ptr<CellCursor>& cursor : CursorsOver(stripe)) {
        bytes += StripeSum(&cut, limited).Read(cursor.get(), stripe.start);
        if (!cursor->status().ok()) return false;
      }
    }
    if (bytes == 0) return true;
    // Without this end, a merge of deleted rows would continue to the next live row.
    KeyRange until_cut = stripe;
    if (cut.row_key.has_value()) {
      until_cut.end = *cut.row_key;
      if (cut.is_in_row) until_cut.end.push_back('\0');
      until_cut.unbounded_end = false;
    }
    const std::unique_ptr<CellCursor> merged =
        NewRetentionCursor(NewMergeCursor(CursorsOver(until_cut), Direction::kForward), policy_);
    const uint64_t live_bytes = StripeSum(&cut, false).Read(merged.get(), stripe.start);
    if (!merged->status().ok()) return false;
    *share = 1.0 - static_cast<double>(std::min(live_bytes, bytes)) / static_cast<double>(bytes);
    return true;
  }

 private:
  // The sources of the stripe's rows, newest first.
  std::vector<std::unique_ptr<CellCursor>> CursorsOver(const KeyRange& stripe) const {
    std::vector<std::unique_ptr<CellCursor>> cursors;
    for (size_t i = input_begin_; i < tablet_.stack.size(); ++i) {
      const SstableReference& reference = tablet_.stack[i].reference;
      const KeyRange rows = Intersect(
          Intersect(Intersect(reference.range, tablet_.range), RowsOf(*reference.file)), stripe);
      if (rows.IsEmpty()) continue;
      const SstableReader& reader = *tablet_.stack[i].file->reader();
      CursorOptions options;
      options.families = table_.definition().families.MapFrom(reader.family_ids());
      options.fill_cache = false;
      options.defers_values = true;
      cursors.push_back(NewBoundedCursor(
          reader.NewCursor(options), Direction::kForward, rows.start,
          rows.unbounded_end ? std::nullopt : std::optional<std::string>(rows.end)));
    }
    return cursors;
  }

  const TableView& table_;
  const ViewTablet& tablet_;
  const size_t input_begin_;
  RetentionPolicy policy_;
};

// Returns parts of the files at equal distances of stored bytes. A part is a range of rows up to
// the next part of its file. nullopt if a file cannot be opened.
std::optional<std::vector<KeyRange>> ChooseStripes(const ViewTablet& tablet, size_t input_begin) {
  StoredParts stored_parts;
  std::vector<std::pair<KeyRange, uint64_t>> parts;
  uint64_t total = 0;
  for (size_t i = input_begin; i < tablet.stack.size(); ++i) {
    const ViewReference& reference = tablet.stack[i];
    if (reference.file->reader() == nullptr) return std::nullopt;
    std::vector<StoredPart> of_file = stored_parts.Of(reference, tablet.range);
    for (size_t k = 0; k < of_file.size(); ++k) {
      const bool is_last = k + 1 == of_file.size();
      total += of_file[k].bytes;
      parts.emplace_back(
          KeyRange{of_file[k].row_key, is_last ? "" : of_file[k + 1].row_key, is_last},
          of_file[k].bytes);
    }
  }
  std::vector<KeyRange> stripes;
  if (total == 0) return stripes;
  const size_t wanted = std::clamp(parts.size() / kPartsPerStripe, kStripesMin, kStripesMax);
  uint64_t before = 0;
  size_t next = 0;
  for (const auto& [rows, bytes] : parts) {
    before += bytes;
    const auto place_of = [&](size_t stripe) {
      return (static_cast<double>(stripe) + 0.5) / static_cast<double>(wanted) *
             static_cast<double>(total);
    };
    // A part that is larger than the distance is selected several times.
    while (next < wanted && place_of(next) < static_cast<double>(before)) {
      stripes.push_back(rows);
      ++next;
    }
  }
  return stripes;
}

bool AreSame(const SstableReference& a, const SstableReference& b) {
  return a.file->number == b.file->number && a.range == b.range;
}

}  // namespace

std::optional<double> MeasureDeadShare(const TableView& table, const ViewTablet& tablet,
                                       size_t input_begin, int64_t now,
                                       const std::atomic<bool>& stop) {
  const std::optional<std::vector<KeyRange>> stripes = ChooseStripes(tablet, input_begin);
  if (!stripes.has_value() || stripes->empty()) return std::nullopt;
  TabletSample sample(table, tablet, input_begin, now);
  double sum = 0;
  size_t measured = 0;
  std::optional<double> share;
  for (size_t i = 0; i < stripes->size(); ++i) {
    if (stop.load(std::memory_order_acquire)) return std::nullopt;
    if (i == 0 || !((*stripes)[i] == (*stripes)[i - 1])) {
      share.reset();
      if (!sample.Measure((*stripes)[i], &share)) return std::nullopt;
    }
    if (!share.has_value()) continue;
    sum += *share;
    ++measured;
  }
  if (measured == 0) return std::nullopt;
  return sum / static_cast<double>(measured);
}

bool DeadSamples::IsUsable(const Entry& entry, const std::vector<SstableReference>& stack,
                           const DeadSampleRequest& request, int64_t now) {
  constexpr int64_t kRetryMicros = 60'000'000;
  const bool is_recent = entry.taken_at <= now && now - entry.taken_at < kRetryMicros;
  if (!entry.share.has_value() && !is_recent) return false;
  const bool is_same =
      std::equal(entry.stack.begin(), entry.stack.end(), stack.begin(), stack.end(), AreSame);
  // Cells also expire while the stack stays the same.
  if (is_same) return request.dead_bytes_max <= entry.dead_bytes_max + request.bytes / 16;
  // The fewer live bytes there are, the more a few deletes change the share.
  const double left_bytes = (1 - entry.share.value_or(0)) * static_cast<double>(entry.bytes);
  return !request.exact && AreSame(entry.stack.back(), stack.back()) &&
         request.bytes <= entry.bytes + entry.bytes / 8 &&
         request.dead_bytes_max <= entry.dead_bytes_max + static_cast<uint64_t>(left_bytes / 8);
}

std::optional<double> DeadSamples::Of(const ReadView& view, const DeadSampleRequest& request,
                                      int64_t now, const std::atomic<bool>& stop) {
  // The limit of the cache. Only entries of tablets with many tombstones or replaced cells are used
  // again.
  constexpr size_t kEntriesMax = 4096;
  const TableView* table = view.Find(request.table_id);
  if (table == nullptr) return std::nullopt;
  const TabletName name{request.table_id, request.tablet.start};
  const size_t index = TabletIndexOf(*table, name.start_row);
  const std::vector<SstableReference>& all = table->state->tablets[index].stack;
  if (request.input_begin >= all.size()) return std::nullopt;
  const std::vector<SstableReference> stack(
      all.begin() + static_cast<std::ptrdiff_t>(request.input_begin), all.end());
  {
    MutexLock lock(mutex_);
    const auto it = entries_.find(name);
    if (it != entries_.end() && IsUsable(it->second, stack, request, now)) return it->second.share;
  }
  Entry entry{
      .stack = stack,
      .bytes = request.bytes,
      .dead_bytes_max = request.dead_bytes_max,
      .taken_at = now,
      .share = MeasureDeadShare(*table, table->tablets[index], request.input_begin, now, stop)};
  taken_.fetch_add(1, std::memory_order_relaxed);
  const std::optional<double> share = entry.share;
  MutexLock lock(mutex_);
  if (entries_.size() >= kEntriesMax) entries_.clear();
  entries_.insert_or_assign(name, std::move(entry));
  return share;
}

}  // namespace stele::internal

// compaction/compaction_pick.h: the input of the picker (PickerInput) and its result
// (CompactionPick).
//
// Used by:   jobs/job_scheduler.cc makes a PickerInput, compaction/picker.cc makes the
//            CompactionPick from it, and jobs/job_runner.cc runs the pick.
// Threads:   plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/version.h"

namespace stele::internal {

enum class CompactionKind {
  kMerge,  // merge the inputs into one file
  kMajor,  // a kMerge of the whole stack of each tablet; tombstones are dropped
  // Rewrite a part of the oldest cluster in the bottommost codec. No other reference of the cluster
  // has rows of this part.
  kRecompress,
  // Rewrite small adjacent files of one cluster as one. No other reference of the cluster has rows
  // between theirs.
  kSmallFiles,
  // Give adjacent references without common rows one commit interval, without reading them.
  kMetadataMerge,
  kDropFiles,     // remove references without reading them
  kSplitTablet,   // by metadata only
  kMergeTablets,  // by metadata only
};

// docs/decisions/0015-compaction-policy.md explains the values. Tests use smaller ones.
struct CompactionSizes {
  // A compaction with a smaller input is extended over adjacent tablets.
  uint64_t subcompaction_bytes = uint64_t{8} << 20;
  uint64_t neighbours_bytes = uint64_t{256} << 20;  // the limit for the input of an extended one
  uint64_t small_file_bytes = uint64_t{1} << 20;    // smaller adjacent files are combined
  // The compaction debt of each small file above `debt_free_files` (picker.h). The cost of such a
  // file is its install, its sync and its open handle, not its bytes. SizesFor derives it from the
  // budget.
  uint64_t file_debt_bytes = uint64_t{1} << 10;
  size_t debt_free_files = 64;  // this many small files of a tablet are no debt
  // Adjacent cold references are recompressed when they have at least this many bytes together.
  uint64_t recompress_bytes = uint64_t{32} << 20;
  // A cold tablet with fewer bytes in the other codec is not rewritten.
  uint64_t cold_bytes = uint64_t{64} << 10;
  int64_t cold_micros = 600'000'000;  // data committed longer ago is cold
};

// The part of a pick that is in one tablet.
struct PlannedSubcompaction {
  KeyRange tablet;
  size_t input_begin = 0;  // positions in the tablet's stack, newest first: [begin, end)
  size_t input_end = 0;
};

struct CompactionPick {
  CompactionKind kind = CompactionKind::kMerge;
  uint32_t table_id = 0;
  // Adjacent tablets, ascending. More than one if they merge, or if a compaction extends over them.
  std::vector<PlannedSubcompaction> subcompactions;
  std::string split_row;      // for a split: the first row of the second half
  std::string reason;         // one line for events and dumps
  uint64_t output_bytes = 0;  // a lower estimate of the bytes that the job writes
  bool reclaims = false;      // the job frees dead bytes; output_bytes does not include them
  // True for the kinds that steady writes and reads make due again and again: a metadata merge, a
  // merge by size and a merge for reads.
  bool is_recurring = false;
  bool recurring_last = false;  // PickerInput::recurring_last; false for a drop of files
  // The time at which the job applies GC rules. It is read from the database clock after the view
  // was taken, while the schema of the pick was in force. So no rule is applied at a time before
  // the rule or the cells existed.
  int64_t now = 0;
};

// A row that divides the bytes of a tablet in half.
struct SplitPoint {
  std::string split_row;  // not the first possible row of the tablet
  uint64_t bytes_before = 0;
  uint64_t bytes_after = 0;
};

// Requests an estimate of the share of a stack's bytes that a major compaction would free.
struct DeadSampleRequest {
  uint32_t table_id = 0;
  const KeyRange& tablet;
  size_t input_begin = 0;       // the stack from this position to its end
  uint64_t bytes = 0;           // of the stack
  uint64_t dead_bytes_max = 0;  // a rough upper bound, which may exceed `bytes`
  // True: the sample must be of exactly this stack. False: an older sample may be used if its stack
  // differed little.
  bool exact = false;
};

using FilesByTablet = std::map<TabletName, std::set<uint64_t>>;  // files by number

struct PickerInput {
  const Version* version = nullptr;
  std::set<TabletName> busy;            // tablets with a running job, which are not picked
  std::set<uint32_t> busy_tables = {};  // no tablet of these tables is picked
  int64_t now = 0;
  uint64_t tablet_bytes_max = 0;  // a larger tablet is split; 0: no splits and merges
  // Returns nullopt if one row is too large or the point is unknown. Null: no splits. Called only
  // for tablets of `version` that are due.
  std::function<std::optional<SplitPoint>(const TabletName& tablet)> find_split_point = nullptr;
  // Returns 0 to 1, or nullopt if it is unknown. Null: always unknown. Called only for tablets of
  // `version` whose summaries allow many dead bytes.
  std::function<std::optional<double>(const DeadSampleRequest&)> measure_dead = nullptr;
  // The rows read (requested or returned) in a tablet since its stack last changed, not counting
  // splits and merges of tablets. Tablets without reads are absent.
  std::map<TabletName, uint64_t> reads = {};
  // For each tablet, the files whose rows in it cannot be read. No job that reads uses them, and
  // none merges across them. Such a tablet is compacted without its neighbours.
  FilesByTablet unreadable = {};
  // Jobs that would write more are not picked, since the disk has no room for them. The second
  // limit is for jobs that reclaim dead bytes.
  uint64_t output_bytes_max = UINT64_MAX;
  uint64_t reclaiming_output_bytes_max = UINT64_MAX;
  // Receives the output size of the smallest job that was not picked for that reason; 0: none. May
  // be null.
  uint64_t* withheld_bytes = nullptr;
  // Metadata merges come last. Set after many of them in a row: files that keep coming would make
  // another one due each time, and nothing would combine the files.
  bool metadata_merges_last = false;
  // Every recurring kind comes last. Set after many of them in a row, so that a busy table does not
  // keep others from reclaiming space.
  bool recurring_last = false;
  CompactionSizes sizes = {};
};

}  // namespace stele::internal

// db/gapped_edits.h: makes a Version from the edits of a manifest of which some are missing.
//
// An edit replaces whole tablets, so a later edit of the same rows also has what a missing edit
// changed. Tablets that no later edit replaces stay as they were before the gap.
//
// Used by:   db/readable_manifest.cc, only to read around damage.
// Calls:     db/version_snapshot.h.
// Lost:      a table that a missing edit created, unless a later edit or an SSTable has its
//            definition; the rows of a file that only missing edits referenced, until
//            db/file_edits.h adds it. Tables and rows that a missing edit dropped may be in the
//            result; their files may be deleted.
// Errors:    InvalidArgument if the edits contradict each other, or take too long to apply.
// Threads:   confined.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/edit.h"

namespace stele::internal {

// The newest definition of each table in the footers of its SSTables.
using Definitions = std::map<uint32_t, std::shared_ptr<const TableDefinition>>;
// Returns the summary in the footer of the SSTable.
using ReadFileSummary = std::function<absl::StatusOr<SstableSummary>(uint64_t file_number)>;

class GappedEdits {
 public:
  // `before` is the Version up to the gap. `definitions` are used for tables that a missing edit
  // created.
  GappedEdits(const Version& before, Definitions definitions);

  // Adds an edit after the gap, in order.
  void Add(Edit edit);
  // Returns the Version after all edits. If only a missing edit described a file, `read_summary`
  // describes it. If that fails, the result has no references to the file.
  absl::StatusOr<std::shared_ptr<const Version>> Finish(const ReadFileSummary& read_summary);

  // After Finish: descriptions of what the result lacks. Each is a sentence without its period.
  const std::vector<std::string>& losses() const { return losses_; }
  // The tables that the edits dropped.
  const std::set<uint32_t>& dropped_tables() const { return dropped_tables_; }

 private:
  struct Table {
    std::shared_ptr<const TableDefinition> definition;  // null: the token table
    uint64_t flushed_through = 0;
    std::map<std::string, TabletEdit> tablets;  // by their first row; they cover all rows
  };

  void AddTable(TableEdit edit);
  bool IsDescribed(uint64_t number, const ReadFileSummary& read_summary);
  Edit Snapshot() const;  // without files
  // Adds the files, and removes the references to those that are not described.
  void DescribeFiles(const ReadFileSummary& read_summary, Edit* snapshot);

  const Definitions definitions_;
  Edit scalars_;  // without files and tables
  std::map<uint64_t, SstableFile> files_;
  std::map<uint32_t, Table> tables_;
  std::set<uint32_t> unknown_tables_;
  std::set<uint32_t> dropped_tables_;
  std::vector<std::string> losses_;
  uint64_t references_copied_ = 0;
};

}  // namespace stele::internal

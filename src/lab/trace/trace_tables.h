// trace/trace_tables.h: collects the tables of traces, and facts about their keys from the
// operations.
//
// Errors:    InvalidArgument for more than 10,000 tables.
// Threads:   confined to one thread.
// Memory:    at most 17 MiB for all tables. Keys that do not fit are left out evenly. New prefixes
//            of scans are ignored once the known ones need 4 MiB.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lab/facts/segments.h"
#include "lab/trace/known_keys.h"
#include "lab/trace/prefix_scans.h"
#include "lab/trace/trace_record.h"

namespace stele::internal::lab {

struct TraceTable {
  DelimiterChoice row_delimiter;
  DelimiterChoice start_delimiter;  // of the starts of scans
  KnownKeys keys;
  PrefixScans prefix_scans;

  // The delimiter of the row keys; if there is none, that of the starts of scans.
  std::string Delimiter() const;
};

class TraceTables {
 public:
  absl::Status Add(const TraceRecord& record);
  // Call it after the last operation.
  void Finish();

  std::map<std::string, TraceTable>& tables() { return tables_; }
  // Returns null for a table without operations. A server's trace has the table PROJECT/INSTANCE/T
  // for the table T of a remote database: it is returned for T, unless there are several.
  TraceTable* Find(const std::string& name);
  // Returns the name in the traces of the table that Find() returns for `name`, or "" if Find()
  // returns null.
  std::string NameOf(const std::string& name) const;
  // The names in the traces that end with /NAME.
  std::vector<std::string> FullNamesOf(const std::string& name) const;

 private:
  void AddKey(std::string_view key, bool is_row, TraceTable* table);
  void AddKeys(const TraceRecord& record, TraceTable* table);

  std::map<std::string, TraceTable> tables_;
  size_t key_bytes_ = 0;
  size_t prefix_bytes_ = 0;
};

}  // namespace stele::internal::lab

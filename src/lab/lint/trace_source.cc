#include "lab/lint/trace_source.h"

#include <algorithm>

#include "base/status.h"
#include "lab/trace/trace_reader.h"

namespace stele::internal::lab {
namespace {

std::string NamesText(const std::set<std::string, std::less<>>& names) {
  constexpr size_t kNamesMax = 10;
  std::string text;
  size_t count = 0;
  for (const std::string& name : names) {
    if (count++ == kNamesMax) return text + ", ...";
    text += (text.empty() ? "" : ", ") + internal::Printable(name);
  }
  return text;
}

}  // namespace

absl::StatusOr<uint64_t> TraceSource::ForEach(
    const std::function<absl::Status(const std::string&, const TraceRecord&)>& add) const {
  uint64_t skipped_lines = 0;
  for (const std::string& path : paths_) {
    STELE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path, skips_bad_));
    TraceRecord record;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader->Next(&record));
      if (!any) break;
      STELE_RETURN_IF_ERROR(add(path, record));
    }
    skipped_lines += reader->skipped_lines();
  }
  return skipped_lines;
}

absl::Status TraceSource::ReadTables() {
  STELE_ASSIGN_OR_RETURN(skipped_lines_,
                         ForEach([&](const std::string& path, const TraceRecord& record) {
                           std::set<std::string, std::less<>>& names = names_[path];
                           if (!names.contains(record.table)) names.insert(record.table);
                           return tables_.Add(record);
                         }));
  tables_.Finish();
  return absl::OkStatus();
}

absl::Status TraceSource::CheckTables(const std::vector<std::string>& checked) const {
  std::set<std::string> found;
  for (const std::string& table : checked) {
    const std::string name = tables_.NameOf(table);
    if (!name.empty()) found.insert(name);
    const std::vector<std::string> names = tables_.FullNamesOf(table);
    if (!name.empty() || names.empty()) continue;
    return internal::FailedPrecondition(
        "the table {} may be {} or {} of the traces: give a trace of one server's instance",
        internal::Printable(table), internal::Printable(names[0]), internal::Printable(names[1]));
  }
  for (const auto& [path, names] : names_) {
    const auto is_found = [&](const std::string& name) { return found.contains(name); };
    if (std::any_of(names.begin(), names.end(), is_found)) continue;
    return internal::NotFound("{}: no operation is on a table that is checked; its tables are: {}",
                              internal::Printable(path), NamesText(names));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OperationFacts>> TraceSource::ReadOperations(
    const std::string& table, const OperationLimits& limits, const std::string& delimiter,
    uint64_t table_rows, const KnownKeys& keys) const {
  const std::string name = tables_.NameOf(table);
  auto operations = std::make_unique<OperationFacts>(limits, delimiter, table_rows, keys);
  STELE_RETURN_IF_ERROR(ForEach([&](const std::string&, const TraceRecord& record) {
                          if (record.table == name) operations->Add(record);
                          return absl::OkStatus();
                        }).status());
  if (operations->needs_recount()) {
    operations->StartRecount();
    STELE_RETURN_IF_ERROR(ForEach([&](const std::string&, const TraceRecord& record) {
                            if (record.table == name) operations->Recount(record);
                            return absl::OkStatus();
                          }).status());
  }
  operations->Finish();
  return operations;
}

}  // namespace stele::internal::lab

#include "lab/lint/trace_source.h"

#include "base/status.h"
#include "lab/trace/trace_reader.h"

namespace stele::internal::lab {

absl::StatusOr<uint64_t> TraceSource::ForEach(
    const std::function<absl::Status(const TraceRecord&)>& add) const {
  uint64_t skipped = 0;
  for (const std::string& path : paths_) {
    STELE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(path, skips_bad_));
    TraceRecord record;
    while (true) {
      STELE_ASSIGN_OR_RETURN(const bool any, reader->Next(&record));
      if (!any) break;
      STELE_RETURN_IF_ERROR(add(record));
    }
    skipped += reader->skipped();
  }
  return skipped;
}

absl::Status TraceSource::ReadTables() {
  STELE_ASSIGN_OR_RETURN(skipped_,
                         ForEach([&](const TraceRecord& record) { return tables_.Add(record); }));
  tables_.Finish();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OperationFacts>> TraceSource::ReadOperations(
    const std::string& table, const OperationLimits& limits, const std::string& delimiter,
    uint64_t table_rows, const KnownKeys& keys) const {
  auto operations = std::make_unique<OperationFacts>(limits, delimiter, table_rows, keys);
  STELE_RETURN_IF_ERROR(ForEach([&](const TraceRecord& record) {
                          if (record.table == table) operations->Add(record);
                          return absl::OkStatus();
                        }).status());
  if (operations->needs_recount()) {
    operations->StartRecount();
    STELE_RETURN_IF_ERROR(ForEach([&](const TraceRecord& record) {
                            if (record.table == table) operations->Recount(record);
                            return absl::OkStatus();
                          }).status());
  }
  operations->Finish();
  return operations;
}

}  // namespace stele::internal::lab

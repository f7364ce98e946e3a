#include "api/backend.h"

#include "base/status.h"

namespace stele::internal {

RowSource::~RowSource() = default;
SnapshotBackend::~SnapshotBackend() = default;
BulkLoadBackend::~BulkLoadBackend() = default;
TableBackend::~TableBackend() = default;
DatabaseBackend::~DatabaseBackend() = default;

absl::Status TableBackend::ApplyOwned(RowMutation* mutation, const WriteOptions& options) {
  return Apply(*mutation, options);
}

absl::StatusOr<MutationBranch> TableBackend::CheckAndMutateRowOwned(std::string_view row_key,
                                                                    const Filter& predicate,
                                                                    RowMutation* if_matched,
                                                                    RowMutation* if_not_matched,
                                                                    const WriteOptions& options) {
  return CheckAndMutateRow(row_key, predicate, *if_matched, *if_not_matched, options);
}

absl::StatusOr<bool> TableBackend::VisitRow(std::string_view row_key, const RowVisitor& visit,
                                            const Filter& filter, const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(const std::optional<Row> row, ReadRow(row_key, filter, options));
  if (row.has_value()) visit(row->view());
  return row.has_value();
}

absl::StatusOr<std::optional<stele::Cell>> TableBackend::ReadCell(std::string_view row_key,
                                                                  std::string_view family,
                                                                  std::string_view qualifier,
                                                                  const ReadOptions& options) {
  const Filter newest =
      Filter::Chain(Filter::Column(std::string(family), std::string(qualifier)), Filter::Latest(1));
  STELE_ASSIGN_OR_RETURN(const std::optional<Row> row, ReadRow(row_key, newest, options));
  if (!row.has_value()) return std::nullopt;
  const CellView& cell = row->cells().front();
  return stele::Cell(cell.timestamp(), std::string(cell.value()));
}

}  // namespace stele::internal

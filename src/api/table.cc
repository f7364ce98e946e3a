#include "stele/table.h"

#include <utility>

#include "api/backend.h"
#include "api/recorded_call.h"
#include "base/status.h"
#include "model/access.h"
#include "model/validate.h"

namespace stele {
inline namespace v0 {
namespace {

absl::Status CheckHandle(const std::shared_ptr<internal::TableBackend>& backend) {
  return backend != nullptr ? backend->CheckProcess()
                            : internal::FailedPrecondition("table: an empty handle");
}

absl::Status CheckWrite(const std::shared_ptr<internal::TableBackend>& backend,
                        const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend));
  return internal::ValidateWriteOptions(options);
}

absl::Status CheckRead(const std::shared_ptr<internal::TableBackend>& backend,
                       const ReadOptions& options) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend));
  return internal::ValidateReadOptions(options);
}

absl::Status CheckRead(const std::shared_ptr<internal::TableBackend>& backend,
                       const ReadOptions& options, std::string_view row_key) {
  STELE_RETURN_IF_ERROR(CheckRead(backend, options));
  return internal::ValidateRowKey(row_key);
}

absl::Status CheckBranch(std::string_view row_key, const RowMutation& mutation,
                         std::string_view name) {
  if (mutation.row_key().empty() || mutation.row_key() == row_key) return absl::OkStatus();
  return internal::InvalidArgument(
      "{} has row key \"{}\", the call has \"{}\"; leave the mutation's row key empty or use the "
      "same",
      name, internal::Printable(mutation.row_key()), internal::Printable(row_key));
}

absl::Status CheckBranches(std::string_view row_key, const RowMutation& if_matched,
                           const RowMutation& if_not_matched) {
  STELE_RETURN_IF_ERROR(internal::ValidateRowKey(row_key));
  STELE_RETURN_IF_ERROR(CheckBranch(row_key, if_matched, "if_matched"));
  STELE_RETURN_IF_ERROR(CheckBranch(row_key, if_not_matched, "if_not_matched"));
  if (if_matched.count() > 0 || if_not_matched.count() > 0) return absl::OkStatus();
  return internal::InvalidArgument(
      "row \"{}\": No mutations provided: if_matched and if_not_matched are both empty",
      internal::Printable(row_key));
}

absl::StatusOr<std::optional<Row>> RecordReadRow(internal::TableBackend& backend,
                                                 uint64_t recording, std::string_view row_key,
                                                 const Filter& filter, const ReadOptions& options) {
  internal::RecordedPointRead call(backend, recording, row_key, options.tag);
  call.SetFilter(filter);
  auto row = backend.ReadRow(row_key, filter, options);
  call.StartCounting();
  if (row.ok() && row->has_value()) call.CountRow((*row)->view());
  call.Finish(row.status());
  return row;
}

// The record has the time of the read without that of `visit`, and comes before those of its calls.
absl::StatusOr<bool> RecordVisitRow(internal::TableBackend& backend, uint64_t recording,
                                    std::string_view row_key, const RowVisitor& visit,
                                    const Filter& filter, const ReadOptions& options) {
  internal::RecordedPointRead call(backend, recording, row_key, options.tag);
  call.SetFilter(filter);
  call.StartCounting();
  bool is_visited = false;
  auto found = backend.VisitRow(
      row_key,
      [&](const RowView& row) {
        is_visited = true;
        call.CountRow(row);
        call.Finish(absl::OkStatus());
        visit(row);
      },
      filter, options);
  if (!is_visited) call.Finish(found.status());
  return found;
}

absl::Status CheckRange(const std::shared_ptr<internal::TableBackend>& backend,
                        const RowRange& range) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend));
  return internal::ValidateRowRange(range);
}

}  // namespace

const std::string& Table::name() const {
  static const std::string* const none = new std::string();
  return backend_ == nullptr ? *none : backend_->name();
}

namespace {
// Initialized before main, since after a fork during the initialization the child would wait
// forever.
[[maybe_unused]] const std::string& kEarlyTableName = Table().name();
}  // namespace

absl::StatusOr<Schema> Table::schema() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->schema();
}

absl::Status Table::Apply(const RowMutation& mutation, const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(backend_, options));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->Apply(mutation, options);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kSet, options.tag);
  call.SetRow(mutation.row_key());
  call.SetMutation(mutation);
  return call.Finished(backend_->Apply(mutation, options));
}

absl::Status Table::Apply(RowMutation&& mutation, const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(backend_, options));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->ApplyOwned(&mutation, options);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kSet, options.tag);
  call.SetRow(mutation.row_key());
  call.SetMutation(mutation);
  return call.Finished(backend_->ApplyOwned(&mutation, options));
}

std::vector<FailedMutation> Table::BulkApply(std::span<const RowMutation> mutations,
                                             const WriteOptions& options) {
  if (absl::Status status = CheckWrite(backend_, options); !status.ok()) {
    std::vector<FailedMutation> all;
    all.reserve(mutations.size());
    for (size_t i = 0; i < mutations.size(); ++i) all.push_back({.index = i, .status = status});
    return all;
  }
  const uint64_t recording =
      mutations.empty() ? 0 : internal::ChooseCall(*backend_, mutations.size());
  return recording == 0 ? backend_->BulkApply(mutations, options)
                        : internal::RecordBulkApply(*backend_, recording, mutations, options);
}

absl::StatusOr<MutationBranch> Table::CheckAndMutateRow(std::string_view row_key,
                                                        const Filter& predicate,
                                                        const RowMutation& if_matched,
                                                        const RowMutation& if_not_matched,
                                                        const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(backend_, options));
  STELE_RETURN_IF_ERROR(CheckBranches(row_key, if_matched, if_not_matched));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0)
    return backend_->CheckAndMutateRow(row_key, predicate, if_matched, if_not_matched, options);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kCas, options.tag);
  call.SetConditional(row_key, predicate, if_matched, if_not_matched);
  return call.Finished(
      backend_->CheckAndMutateRow(row_key, predicate, if_matched, if_not_matched, options));
}

absl::StatusOr<MutationBranch> Table::CheckAndMutateRow(std::string_view row_key,
                                                        const Filter& predicate,
                                                        RowMutation&& if_matched,
                                                        RowMutation&& if_not_matched,
                                                        const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(backend_, options));
  STELE_RETURN_IF_ERROR(CheckBranches(row_key, if_matched, if_not_matched));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0)
    return backend_->CheckAndMutateRowOwned(row_key, predicate, &if_matched, &if_not_matched,
                                            options);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kCas, options.tag);
  call.SetConditional(row_key, predicate, if_matched, if_not_matched);
  return call.Finished(
      backend_->CheckAndMutateRowOwned(row_key, predicate, &if_matched, &if_not_matched, options));
}

absl::StatusOr<Row> Table::ReadModifyWriteRow(std::string_view row_key,
                                              std::span<const ReadModifyWriteRule> rules,
                                              const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(backend_, options));
  STELE_RETURN_IF_ERROR(internal::ValidateRowKey(row_key));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->ReadModifyWriteRow(row_key, rules, options);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kRmw, options.tag);
  call.SetRow(row_key);
  call.SetRules(rules);
  return call.Finished(backend_->ReadModifyWriteRow(row_key, rules, options));
}

absl::StatusOr<std::optional<Row>> Table::ReadRow(std::string_view row_key, const Filter& filter,
                                                  const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(CheckRead(backend_, options, row_key));
  const uint64_t recording = internal::ChooseCall(*backend_);
  return recording == 0 ? backend_->ReadRow(row_key, filter, options)
                        : RecordReadRow(*backend_, recording, row_key, filter, options);
}

absl::StatusOr<bool> Table::VisitRow(std::string_view row_key, const RowVisitor& visit,
                                     const Filter& filter, const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(CheckRead(backend_, options, row_key));
  if (!visit) return internal::InvalidArgument("VisitRow: the function is empty");
  const uint64_t recording = internal::ChooseCall(*backend_);
  return recording == 0 ? backend_->VisitRow(row_key, visit, filter, options)
                        : RecordVisitRow(*backend_, recording, row_key, visit, filter, options);
}

absl::StatusOr<std::optional<Cell>> Table::ReadCell(std::string_view row_key,
                                                    std::string_view family,
                                                    std::string_view qualifier,
                                                    const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(CheckRead(backend_, options, row_key));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->ReadCell(row_key, family, qualifier, options);
  internal::RecordedPointRead call(*backend_, recording, row_key, options.tag);
  call.SetFamily(family);
  auto cell = backend_->ReadCell(row_key, family, qualifier, options);
  call.StartCounting();
  if (cell.ok() && cell->has_value()) {
    const CellView view(family, qualifier, (*cell)->timestamp(), (*cell)->value());
    call.CountRow(internal::Access::Make<RowView>(row_key, std::span(&view, 1)));
  }
  call.Finish(cell.status());
  return cell;
}

absl::StatusOr<std::vector<std::optional<Row>>> Table::ReadMany(
    std::span<const std::string_view> row_keys, const Filter& filter,
    const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(CheckRead(backend_, options));
  for (const std::string_view row_key : row_keys)
    STELE_RETURN_IF_ERROR(internal::ValidateRowKey(row_key));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->ReadMany(row_keys, filter, options);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kMget, options.tag);
  call.SetKeys(row_keys);
  call.SetFilter(filter);
  auto rows = backend_->ReadMany(row_keys, filter, options);
  call.StartCounting();
  if (rows.ok()) {
    for (const std::optional<Row>& row : *rows)
      if (row.has_value()) call.CountRow(row->view());
  }
  return call.Finished(std::move(rows));
}

absl::StatusOr<std::vector<std::optional<Row>>> Table::ReadMany(
    std::span<const std::string> row_keys, const Filter& filter, const ReadOptions& options) const {
  const std::vector<std::string_view> views(row_keys.begin(), row_keys.end());
  return ReadMany(views, filter, options);
}

RowReader Table::ReadRows(const RowSet& rows, const Filter& filter,
                          const ReadOptions& options) const {
  if (absl::Status status = CheckRead(backend_, options); !status.ok())
    return internal::Access::Make<RowReader>(std::move(status));
  const uint64_t recording = internal::IsOwnRead(options.tag) ? 0 : internal::ChooseCall(*backend_);
  absl::StatusOr<std::unique_ptr<internal::RowSource>> source =
      recording == 0 ? backend_->ReadRows(rows, filter, options)
                     : internal::RecordReadRows(*backend_, recording, rows, filter, options);
  if (!source.ok()) return internal::Access::Make<RowReader>(std::move(source).status());
  return internal::Access::Make<RowReader>(*std::move(source));
}

absl::StatusOr<bool> Table::Exists(std::string_view row_key, const Filter& filter,
                                   const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(CheckRead(backend_, options, row_key));
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->Exists(row_key, filter, options);
  internal::RecordedPointRead call(*backend_, recording, row_key, options.tag);
  call.SetFilter(filter);
  return call.Finished(backend_->Exists(row_key, filter, options));
}

absl::Status Table::ModifyColumnFamilies(std::span<const FamilyChange> changes) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  for (const FamilyChange& change : changes)
    STELE_RETURN_IF_ERROR(internal::ValidateFamilyChange(change));
  return backend_->ModifyColumnFamilies(changes);
}

absl::Status Table::SetProperty(std::string key, std::string value) {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  STELE_RETURN_IF_ERROR(internal::ValidateProperty(key, value));
  return backend_->SetProperty(std::move(key), std::move(value));
}

absl::Status Table::DropRowRange(const RowRange& range) {
  STELE_RETURN_IF_ERROR(CheckRange(backend_, range));
  if (range.is_prefix() && range.start().empty()) {
    return internal::InvalidArgument(
        "DropRowRange: an empty prefix; to drop all rows use RowRange::All()");
  }
  const uint64_t recording = internal::ChooseCall(*backend_);
  if (recording == 0) return backend_->DropRowRange(range);
  internal::RecordedCall call(*backend_, recording, internal::TraceOp::kDrop, "");
  call.SetRange(range);
  return call.Finished(backend_->DropRowRange(range));
}

absl::StatusOr<std::vector<RowKeySample>> Table::SampleRowKeys(const RowRange& range) const {
  STELE_RETURN_IF_ERROR(CheckRange(backend_, range));
  return backend_->SampleRowKeys(range);
}

BulkLoad Table::NewBulkLoad() {
  if (absl::Status status = CheckHandle(backend_); !status.ok())
    return internal::Access::Make<BulkLoad>(std::move(status));
  absl::StatusOr<std::unique_ptr<internal::BulkLoadBackend>> load = backend_->NewBulkLoad();
  if (!load.ok()) return internal::Access::Make<BulkLoad>(std::move(load).status());
  return internal::Access::Make<BulkLoad>(*std::move(load));
}

absl::Status Table::Flush() {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Flush();
}

absl::Status Table::Compact(const RowRange& range, const CompactOptions& options) {
  STELE_RETURN_IF_ERROR(CheckRange(backend_, range));
  return backend_->Compact(range, options);
}

absl::StatusOr<TableStats> Table::Stats() const {
  STELE_RETURN_IF_ERROR(CheckHandle(backend_));
  return backend_->Stats();
}

WriteBatch& WriteBatch::Add(const Table& table, RowMutation mutation) {
  entries_.push_back({.table = internal::Access::Backend(table), .mutation = std::move(mutation)});
  return *this;
}

}  // namespace v0
}  // namespace stele

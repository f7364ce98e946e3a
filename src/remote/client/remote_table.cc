#include "remote/client/remote_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/status.h"
#include "model/access.h"
#include "model/validate.h"
#include "remote/client/bulk_writer.h"
#include "remote/client/cell_order.h"
#include "remote/client/row_source.h"
#include "remote/wire/filter_translation.h"
#include "remote/wire/mutation_translation.h"
#include "remote/wire/schema_translation.h"

namespace stele::internal {

namespace wire = ::google::bigtable::v2;
namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr uint64_t kResultBytesMax = uint64_t{256} << 20;

absl::Status TooLarge(std::string_view what) {
  return ResourceExhausted(
      "{}: the result is above {} MiB; use ReadRows, which returns large rows in parts", what,
      kResultBytesMax >> 20);
}

uint64_t ResultBytes(const RowView& row) {
  uint64_t bytes = row.row_key().size();
  for (const CellView& cell : row.cells())
    bytes += kCellObjectBytes + cell.qualifier().size() + cell.value().size();
  return bytes;
}

// Converts the row that ReadModifyWriteRow returns.
Row ToRow(const wire::Row& row) {
  std::vector<CellView> cells;
  for (const wire::Family& family : row.families()) {
    for (const wire::Column& column : family.columns()) {
      for (const wire::Cell& cell : column.cells()) {
        cells.emplace_back(family.name(), column.qualifier(),
                           Timestamp::FromMicros(cell.timestamp_micros()), cell.value());
      }
    }
  }
  PutInOrder(&cells);
  return Row(Access::Make<RowView>(row.key(), cells));
}

}  // namespace

absl::Status AwaitOperation(const RemoteConnection& connection,
                            google::longrunning::Operation operation) {
  RemoteCall call(&connection, "GetOperation");
  while (!operation.done()) {
    google::longrunning::GetOperationRequest request;
    request.set_name(operation.name());
    Attempt attempt(call, "name=" + request.name(), call.RepeatableAttempt(kAdminAttempt));
    const grpc::Status asked =
        connection.operations().GetOperation(attempt.context(), request, &operation);
    if (!asked.ok()) {
      STELE_RETURN_IF_ERROR(call.PauseAfter(asked, /*repeatable=*/true));
    } else if (!operation.done()) {
      STELE_RETURN_IF_ERROR(call.PauseBeforePoll());
    }
  }
  if (!operation.has_error()) return absl::OkStatus();
  return MakeStatus(static_cast<absl::StatusCode>(operation.error().code()),
                    operation.error().message());
}

RemoteTable::RemoteTable(std::shared_ptr<const RemoteConnection> connection, std::string_view name,
                         TimestampGranularity granularity)
    : connection_(std::move(connection)),
      name_(name),
      wire_name_(connection_->location().TableName(name)),
      routing_("table_name=" + wire_name_),
      name_routing_("name=" + wire_name_),
      granularity_(granularity) {}

absl::StatusOr<Schema> RemoteTable::schema() {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  admin_wire::GetTableRequest request;
  request.set_name(wire_name_);
  request.set_view(admin_wire::Table::SCHEMA_VIEW);
  admin_wire::Table response;
  RemoteCall call(connection_.get(), "GetTable");
  STELE_RETURN_IF_ERROR(CallUntilDone(
      &call, name_routing_, kAdminAttempt, /*repeatable=*/true, [&](grpc::ClientContext* context) {
        return connection_->admin().GetTable(context, request, &response);
      }));
  return ToSchema(response);
}

absl::Status RemoteTable::CheckWrite(const WriteOptions& options, bool takes_token) const {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  if (takes_token || options.idempotency_token.empty()) return absl::OkStatus();
  return Unimplemented(
      "table \"{}\": an idempotency token cannot be sent with this call; Apply and BulkApply send "
      "it",
      name_);
}

absl::Status RemoteTable::Apply(const RowMutation& mutation, const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(options, /*takes_token=*/true));
  STELE_RETURN_IF_ERROR(CheckForm(mutation.row_key(), mutation, form()));
  wire::MutateRowRequest request;
  request.set_table_name(wire_name_);
  request.set_app_profile_id(connection_->location().app_profile);
  request.set_row_key(mutation.row_key());
  AddToWire(mutation, CutToGranularity(connection_->NowMicros(), granularity_),
            request.mutable_mutations());
  SetToken(options.idempotency_token, request.mutable_idempotency());
  const bool is_idempotent = IsIdempotent(mutation);
  const bool repeatable = is_idempotent || !options.idempotency_token.empty();
  RemoteCall call(connection_.get(), "MutateRow", options.deadline, options.stop);
  if (!is_idempotent) call.RepeatUntil(connection_->waiter().Now() + kTokenRepeat);
  return CallUntilDone(&call, routing_, kWriteAttempt, repeatable,
                       [&](grpc::ClientContext* context) {
                         wire::MutateRowResponse response;
                         return connection_->data().MutateRow(context, request, &response);
                       });
}

std::vector<FailedMutation> RemoteTable::BulkApply(std::span<const RowMutation> mutations,
                                                   const WriteOptions& options) {
  if (absl::Status status = CheckWrite(options, /*takes_token=*/true); !status.ok()) {
    std::vector<FailedMutation> all;
    all.reserve(mutations.size());
    for (size_t i = 0; i < mutations.size(); ++i) all.push_back({.index = i, .status = status});
    return all;
  }
  const MutationSchema schema = form();
  return BulkWriter(connection_.get(), &wire_name_, &schema).Apply(mutations, options);
}

absl::StatusOr<MutationBranch> RemoteTable::CheckAndMutateRow(std::string_view row_key,
                                                              const Filter& predicate,
                                                              const RowMutation& if_matched,
                                                              const RowMutation& if_not_matched,
                                                              const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(options, /*takes_token=*/false));
  STELE_RETURN_IF_ERROR(ValidateFilter(predicate, granularity_));
  for (const RowMutation* const mutation : {&if_matched, &if_not_matched}) {
    if (mutation->count() > 0) STELE_RETURN_IF_ERROR(CheckForm(row_key, *mutation, form()));
  }
  const int64_t now = CutToGranularity(connection_->NowMicros(), granularity_);
  wire::CheckAndMutateRowRequest request;
  request.set_table_name(wire_name_);
  request.set_app_profile_id(connection_->location().app_profile);
  request.set_row_key(std::string(row_key));
  *request.mutable_predicate_filter() = ToWireFilter(predicate);
  AddToWire(if_matched, now, request.mutable_true_mutations());
  AddToWire(if_not_matched, now, request.mutable_false_mutations());
  wire::CheckAndMutateRowResponse response;
  RemoteCall call(connection_.get(), "CheckAndMutateRow", options.deadline, options.stop);
  STELE_RETURN_IF_ERROR(CallUntilDone(
      &call, routing_, kWriteAttempt, /*repeatable=*/false, [&](grpc::ClientContext* context) {
        return connection_->data().CheckAndMutateRow(context, request, &response);
      }));
  return response.predicate_matched() ? MutationBranch::kPredicateMatched
                                      : MutationBranch::kPredicateNotMatched;
}

absl::StatusOr<Row> RemoteTable::ReadModifyWriteRow(std::string_view row_key,
                                                    std::span<const ReadModifyWriteRule> rules,
                                                    const WriteOptions& options) {
  STELE_RETURN_IF_ERROR(CheckWrite(options, /*takes_token=*/false));
  if (rules.empty()) return InvalidArgument("row \"{}\": No rules provided", Printable(row_key));
  wire::ReadModifyWriteRowRequest request;
  request.set_table_name(wire_name_);
  request.set_app_profile_id(connection_->location().app_profile);
  request.set_row_key(std::string(row_key));
  for (const ReadModifyWriteRule& rule : rules) AddToWire(rule, request.mutable_rules());
  wire::ReadModifyWriteRowResponse response;
  RemoteCall call(connection_.get(), "ReadModifyWriteRow", options.deadline, options.stop);
  STELE_RETURN_IF_ERROR(CallUntilDone(
      &call, routing_, kWriteAttempt, /*repeatable=*/false, [&](grpc::ClientContext* context) {
        return connection_->data().ReadModifyWriteRow(context, request, &response);
      }));
  return ToRow(response.row());
}

absl::StatusOr<std::unique_ptr<RowSource>> RemoteTable::Read(std::vector<KeyRange> ranges,
                                                             const Filter& filter,
                                                             const ReadOptions& options) const {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  if (!options.snapshot.is_empty()) {
    return Unimplemented(
        "table \"{}\": a server with Bigtable's API does not support reads from snapshots", name_);
  }
  STELE_RETURN_IF_ERROR(ValidateFilter(filter, granularity_));
  RemoteRowSource::Request request{
      .table_name = wire_name_, .ranges = std::move(ranges), .filter = ToWireFilter(filter)};
  return std::make_unique<RemoteRowSource>(connection_, std::move(request), options);
}

absl::StatusOr<std::unique_ptr<RowSource>> RemoteTable::ReadRows(const RowSet& rows,
                                                                 const Filter& filter,
                                                                 const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(std::vector<KeyRange> ranges, Normalize(rows));
  return Read(std::move(ranges), filter, options);
}

absl::StatusOr<std::optional<Row>> RemoteTable::ReadRow(std::string_view row_key,
                                                        const Filter& filter,
                                                        const ReadOptions& options) {
  STELE_ASSIGN_OR_RETURN(std::vector<std::optional<Row>> rows,
                         ReadMany(std::span(&row_key, 1), filter, options));
  return std::move(rows.front());
}

absl::StatusOr<std::vector<std::optional<Row>>> RemoteTable::ReadMany(
    std::span<const std::string_view> row_keys, const Filter& filter, const ReadOptions& options) {
  RowSet set;
  std::map<std::string_view, std::optional<Row>> found;
  for (const std::string_view row_key : row_keys) {
    if (found.try_emplace(row_key).second) set.Append(std::string(row_key));
  }
  STELE_ASSIGN_OR_RETURN(std::vector<KeyRange> ranges, Normalize(set));
  ReadOptions all = options;
  all.limit = 0;
  all.reverse = false;
  all.row_piece_bytes = kResultBytesMax;
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<RowSource> source,
                         Read(std::move(ranges), filter, all));
  uint64_t bytes = 0;
  while (source->Next()) {
    const RowView& row = source->row();
    bytes += ResultBytes(row);
    if (!row.is_last_piece() || bytes > kResultBytesMax) return TooLarge(name_);
    const auto place = found.find(row.row_key());
    if (place != found.end()) place->second = row.Own();
  }
  STELE_RETURN_IF_ERROR(source->status());
  std::vector<std::optional<Row>> rows;
  rows.reserve(row_keys.size());
  for (const std::string_view row_key : row_keys) rows.push_back(found[row_key]);
  return rows;
}

absl::StatusOr<bool> RemoteTable::Exists(std::string_view row_key, const Filter& filter,
                                         const ReadOptions& options) {
  STELE_RETURN_IF_ERROR(ValidateFilter(filter, granularity_));
  ReadOptions one = options;
  one.limit = 0;
  one.reverse = false;
  one.row_piece_bytes = 1;
  // Requests only the first cell without its value, unless the filter is too large for the
  // additional stages.
  const Filter first_cell = Filter::Chain(filter, Filter::CellsRowLimit(1), Filter::StripValue());
  const bool has_room = ValidateFilter(first_cell, granularity_).ok();
  STELE_ASSIGN_OR_RETURN(const std::unique_ptr<RowSource> source,
                         Read({KeyRange::Single(row_key)}, has_room ? first_cell : filter, one));
  const bool found = source->Next();
  STELE_RETURN_IF_ERROR(source->status());
  return found;
}

absl::Status RemoteTable::ModifyColumnFamilies(std::span<const FamilyChange> changes) {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  if (changes.empty()) return absl::OkStatus();
  admin_wire::ModifyColumnFamiliesRequest request;
  request.set_name(wire_name_);
  for (const FamilyChange& change : changes) *request.add_modifications() = ToWireChange(change);
  RemoteCall call(connection_.get(), "ModifyColumnFamilies");
  return CallUntilDone(
      &call, name_routing_, kAdminAttempt, /*repeatable=*/false, [&](grpc::ClientContext* context) {
        admin_wire::Table response;
        return connection_->admin().ModifyColumnFamilies(context, request, &response);
      });
}

absl::Status RemoteTable::SetProperty(std::string property_key, std::string value) {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  if (property_key != kDeletionProtection) {
    return Unimplemented("property \"{}\": a server stores only \"{}\"", Printable(property_key),
                         kDeletionProtection);
  }
  if (value != ProtectionText(true) && value != ProtectionText(false)) {
    return InvalidArgument("property \"{}\": \"{}\"; it must be true or false", kDeletionProtection,
                           Printable(value));
  }
  admin_wire::UpdateTableRequest request;
  request.mutable_table()->set_name(wire_name_);
  request.mutable_table()->set_deletion_protection(value == ProtectionText(true));
  request.mutable_update_mask()->add_paths(std::string(kDeletionProtection));
  google::longrunning::Operation operation;
  RemoteCall call(connection_.get(), "UpdateTable");
  STELE_RETURN_IF_ERROR(CallUntilDone(&call, "table.name=" + wire_name_, kAdminAttempt,
                                      /*repeatable=*/true, [&](grpc::ClientContext* context) {
                                        return connection_->admin().UpdateTable(context, request,
                                                                                &operation);
                                      }));
  return AwaitOperation(*connection_, std::move(operation));
}

absl::Status RemoteTable::DropRowRange(const RowRange& range) {
  STELE_RETURN_IF_ERROR(connection_->CheckWritable());
  if (range.IsEmpty()) return absl::OkStatus();
  admin_wire::DropRowRangeRequest request;
  request.set_name(wire_name_);
  if (range == RowRange::All()) {
    request.set_delete_all_data_from_table(true);
  } else if (range.is_prefix()) {
    request.set_row_key_prefix(range.start());
  } else {
    return Unimplemented(
        "DropRowRange {}: a server drops the rows of a prefix, or all; use RowRange::Prefix or All",
        range.ToString());
  }
  RemoteCall call(connection_.get(), "DropRowRange");
  return CallUntilDone(&call, name_routing_, kAdminAttempt, /*repeatable=*/false,
                       [&](grpc::ClientContext* context) {
                         google::protobuf::Empty response;
                         return connection_->admin().DropRowRange(context, request, &response);
                       });
}

absl::StatusOr<std::vector<RowKeySample>> RemoteTable::AllSamples() const {
  STELE_RETURN_IF_ERROR(connection_->CheckOpen());
  wire::SampleRowKeysRequest request;
  request.set_table_name(wire_name_);
  request.set_app_profile_id(connection_->location().app_profile);
  std::vector<RowKeySample> samples;
  RemoteCall call(connection_.get(), "SampleRowKeys");
  STELE_RETURN_IF_ERROR(CallUntilDone(
      &call, routing_, kBulkAttempt, /*repeatable=*/true, [&](grpc::ClientContext* context) {
        samples.clear();
        const auto stream = connection_->data().SampleRowKeys(context, request);
        wire::SampleRowKeysResponse sample;
        while (stream->Read(&sample)) {
          const auto offset_bytes =
              static_cast<uint64_t>(std::max<int64_t>(sample.offset_bytes(), 0));
          samples.push_back({.row_key = sample.row_key(), .offset_bytes = offset_bytes});
        }
        return stream->Finish();
      }));
  if (samples.empty() || !samples.back().row_key.empty()) {
    samples.push_back(
        {.row_key = "", .offset_bytes = samples.empty() ? 0 : samples.back().offset_bytes});
  }
  return samples;
}

// Not every server supports the range of the request, so the result is filtered here.
absl::StatusOr<std::vector<RowKeySample>> RemoteTable::SampleRowKeys(const RowRange& range) {
  STELE_ASSIGN_OR_RETURN(const KeyRange bounds, ToKeyRange(range));
  STELE_ASSIGN_OR_RETURN(const std::vector<RowKeySample> all, AllSamples());
  uint64_t before_bytes = 0;
  uint64_t through_bytes = 0;
  std::vector<RowKeySample> samples;
  for (const RowKeySample& sample : all) {
    const bool is_end = sample.row_key.empty();
    if (!is_end && sample.row_key <= bounds.start)
      before_bytes = through_bytes = sample.offset_bytes;
    const bool inside = is_end
                            ? bounds.unbounded_end
                            : sample.row_key > bounds.start && !bounds.EndsBefore(sample.row_key);
    if (!inside) continue;
    through_bytes = sample.offset_bytes;
    if (!is_end)
      samples.push_back(
          {.row_key = sample.row_key, .offset_bytes = sample.offset_bytes - before_bytes});
  }
  samples.push_back({.row_key = bounds.end, .offset_bytes = through_bytes - before_bytes});
  return samples;
}

absl::StatusOr<std::unique_ptr<BulkLoadBackend>> RemoteTable::NewBulkLoad() {
  return Unimplemented(
      "table \"{}\": a server with Bigtable's API has no load that becomes visible at once; use "
      "BulkApply",
      name_);
}

absl::Status RemoteTable::Flush() {
  return Unimplemented("table \"{}\": a server with Bigtable's API decides itself when to flush",
                       name_);
}

absl::Status RemoteTable::Compact(const RowRange& /*range*/, const CompactOptions& /*options*/) {
  return Unimplemented("table \"{}\": a server with Bigtable's API decides itself when to compact",
                       name_);
}

// The statistics that follow from samples; a server does not provide others.
absl::StatusOr<TableStats> RemoteTable::Stats() {
  STELE_ASSIGN_OR_RETURN(const std::vector<RowKeySample> samples, AllSamples());
  TableStats stats;
  stats.bytes_on_disk = samples.back().offset_bytes;
  return stats;
}

}  // namespace stele::internal

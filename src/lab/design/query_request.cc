#include "lab/design/query_request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"

namespace stele::internal::lab {
namespace {

using stele::lab::ReadRequest;

// A record with the bucket of one request.
class FieldsWithBucket : public FieldSource {
 public:
  FieldsWithBucket(const FieldSource& record, std::string bucket)
      : record_(record), bucket_(std::move(bucket)) {}

  std::optional<std::string_view> Text(std::string_view field) const override {
    return field == kBucketField ? bucket_ : record_.Text(field);
  }
  std::optional<std::string> Json(std::string_view field) const override {
    return field == kBucketField ? bucket_ : record_.Json(field);
  }
  std::vector<std::string> Names() const override { return record_.Names(); }

 private:
  const FieldSource& record_;
  const std::string bucket_;
};

// Makes one request of a query.
class RequestMaker {
 public:
  RequestMaker(const DesignTable& table, const DesignRead& read, const FieldSource& record)
      : read_(read), record_(record), key_bytes_max_(table.schema.limits().row_key_bytes) {}

  absl::StatusOr<ReadRequest> Make() const {
    ReadRequest request{.limit = read_.limit, .reverse = read_.reverse};
    STELE_ASSIGN_OR_RETURN(request.rows, Rows());
    auto filter = FilterOf(read_, [this](const Template::Piece& field) {
      return Template::FieldText(field, record_);
    });
    if (!filter.ok()) return WithContext(filter.status(), "filter");
    request.filter = *std::move(filter);
    return request;
  }

 private:
  absl::StatusOr<RowSet> Rows() const {
    RowSet rows;
    if (read_.row.has_value()) {
      STELE_ASSIGN_OR_RETURN(std::string row_key, TextOf("row", *read_.row));
      return std::move(rows.Append(std::move(row_key)));
    }
    for (const Template& row : read_.rows) {
      STELE_ASSIGN_OR_RETURN(std::string row_key, TextOf("rows", row));
      rows.Append(std::move(row_key));
    }
    if (!read_.rows.empty()) return rows;
    if (read_.prefix.has_value()) {
      STELE_ASSIGN_OR_RETURN(std::string prefix, BoundOf("prefix", *read_.prefix));
      return RowSet(RowRange::Prefix(std::move(prefix)));
    }
    std::string start;
    std::string end;
    if (read_.start.has_value()) {
      STELE_ASSIGN_OR_RETURN(start, BoundOf("start", *read_.start));
    }
    if (read_.end.has_value()) {
      STELE_ASSIGN_OR_RETURN(end, BoundOf("end", *read_.end));
    }
    if (!end.empty() && start > end)
      return InvalidArgument("start \"{}\" is after end \"{}\"", Printable(start), Printable(end));
    return RowSet(RowRange::RightOpen(std::move(start), std::move(end)));
  }

  absl::StatusOr<std::string> TextOf(std::string_view member, const Template& key) const {
    auto text = key.Text(record_);
    if (!text.ok()) return WithContext(text.status(), member);
    if (text->empty()) return InvalidArgument("{}: the text is empty", member);
    if (text->size() <= key_bytes_max_) return text;
    return InvalidArgument("{}: the row key has {} bytes, at most {}", member, text->size(),
                           key_bytes_max_);
  }

  // Returns "", which means all rows, for a prefix or a bound that is empty in the design. If only
  // the field of the record is empty, the text is an error.
  absl::StatusOr<std::string> BoundOf(std::string_view member, const Template& bound) const {
    return bound.text().empty() ? std::string() : TextOf(member, bound);
  }

  const DesignRead& read_;
  const FieldSource& record_;
  const uint64_t key_bytes_max_;
};

// Sets the text of the bucket and its offset in row keys, from the first template of a row key or a
// bound that has the bucket.
absl::Status FindBucket(const DesignRead& read, const FieldSource& record, ReadRequest* request) {
  std::vector<const Template*> templates;
  for (const auto* part : {&read.row, &read.prefix, &read.start, &read.end}) {
    if (part->has_value()) templates.push_back(&**part);
  }
  for (const Template& row : read.rows) templates.push_back(&row);
  for (const Template* const part : templates) {
    size_t offset = 0;
    for (const Template::Piece& piece : part->pieces()) {
      std::string text = piece.text;
      if (piece.is_field) {
        STELE_ASSIGN_OR_RETURN(text, Template::FieldText(piece, record));
      }
      if (piece.is_field && piece.text == kBucketField) {
        request->bucket = std::move(text);
        request->bucket_offset = offset;
        return absl::OkStatus();
      }
      offset += text.size();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ReadRequest>> RequestsOfRead(const DesignTable& table,
                                                        const DesignRead& read,
                                                        const FieldSource& record) {
  std::vector<ReadRequest> requests;
  if (read.fan_out == 0) {
    STELE_ASSIGN_OR_RETURN(ReadRequest request, RequestMaker(table, read, record).Make());
    requests.push_back(std::move(request));
    return requests;
  }
  // As keys::SaltBucket pads a bucket.
  const size_t width = fmt::formatted_size("{}", read.fan_out - 1);
  for (int64_t bucket = 0; bucket < read.fan_out; ++bucket) {
    const FieldsWithBucket fields(record, fmt::format("{:0{}}", bucket, width));
    STELE_ASSIGN_OR_RETURN(ReadRequest request, RequestMaker(table, read, fields).Make());
    STELE_RETURN_IF_ERROR(FindBucket(read, fields, &request));
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace

absl::StatusOr<Filter> FilterOf(const DesignRead& read, const FilterFieldText& field_text) {
  std::vector<Filter> parts;
  std::vector<Filter> columns;
  for (const DesignColumn& column : read.columns) {
    Filter filter = Filter::Column(column.family, column.qualifier);
    // An interleave returns the cells of a repeated column twice.
    if (std::find(columns.begin(), columns.end(), filter) == columns.end())
      columns.push_back(std::move(filter));
  }
  if (columns.size() == 1) parts.push_back(std::move(columns[0]));
  if (columns.size() > 1) parts.push_back(Filter::Interleave(std::move(columns)));
  if (read.versions > 0) parts.push_back(Filter::Latest(static_cast<int>(read.versions)));
  if (read.filter.has_value()) {
    STELE_ASSIGN_OR_RETURN(const std::string text, FilterText(*read.filter, field_text));
    STELE_ASSIGN_OR_RETURN(Filter filter, Filter::Parse(text));
    parts.push_back(std::move(filter));
  }
  if (parts.empty()) return Filter::PassAll();
  return parts.size() == 1 ? std::move(parts[0]) : Filter::Chain(std::move(parts));
}

absl::StatusOr<std::vector<ReadRequest>> RequestsOf(const DesignTable& table,
                                                    const DesignQuery& query,
                                                    const FieldSource& record) {
  const std::string context = fmt::format("query \"{}\"", Printable(query.name));
  if (!query.read.has_value())
    return InvalidArgument("{} writes, so it makes no read; Map() returns the row", context);
  auto requests = RequestsOfRead(table, *query.read, record);
  if (!requests.ok()) return WithContext(requests.status(), context);
  return requests;
}

std::set<std::string, std::less<>> FieldsOf(const DesignRead& read) {
  std::set<std::string, std::less<>> fields;
  for (const auto* part : {&read.row, &read.prefix, &read.start, &read.end, &read.filter}) {
    if (part->has_value()) (*part)->AddFieldsTo(&fields);
  }
  for (const Template& row : read.rows) row.AddFieldsTo(&fields);
  return fields;
}

}  // namespace stele::internal::lab

#include "lab/mapping/mapping_store.h"

#include <string_view>
#include <utility>

#include "base/status.h"
#include "io/file_system.h"
#include "io/output_file.h"
#include "lab/dynamodb/json_document.h"
#include "lab/mapping/lab_json.h"
#include "lab/values/time_text.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {
namespace {

constexpr uint64_t kMappingBytesMax = uint64_t{16} << 20;
constexpr size_t kRecordDepthMax = 4;

absl::StatusOr<std::string> ReadMappingFile(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto file, PosixFileSystem()->Open(path, OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  if (bytes > kMappingBytesMax) return FailedPrecondition("{} is too large for a mapping", path);
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t read, file->Read(0, text.size(), text.data()));
  text.resize(read);
  return text;
}

absl::StatusOr<std::optional<std::string>> PropertyText(const Table& table, std::string_view key) {
  STELE_ASSIGN_OR_RETURN(const Schema schema, table.schema());
  const auto found = schema.properties().find(key);
  if (found == schema.properties().end()) return std::optional<std::string>();
  return std::optional<std::string>(found->second);
}

}  // namespace

absl::StatusOr<Mapping> ReadMapping(const Table& table, const std::string& path) {
  if (!path.empty()) {
    STELE_ASSIGN_OR_RETURN(const std::string text, ReadMappingFile(path));
    auto mapping = Mapping::Parse(text);
    return mapping.ok() ? mapping : WithContext(mapping.status(), path);
  }
  STELE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         PropertyText(table, kMappingProperty));
  if (!text.has_value()) {
    return FailedPrecondition(
        "the table {} was not made by an import of DynamoDB in native mode: it has no property {}",
        Printable(table.name()), kMappingProperty);
  }
  return Mapping::Parse(*text);
}

absl::StatusOr<std::optional<IndexMapping>> ReadIndexMapping(const Table& table) {
  STELE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         PropertyText(table, kIndexProperty));
  if (!text.has_value()) return std::optional<IndexMapping>();
  STELE_ASSIGN_OR_RETURN(IndexMapping mapping, IndexMapping::Parse(*text));
  return std::optional<IndexMapping>(std::move(mapping));
}

std::vector<std::string> IndexTablesOf(const Database& database, const std::string& table) {
  std::vector<std::string> found;
  const auto names = database.ListTables();
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    if (!name.starts_with(table + ".")) continue;
    const auto opened = database.OpenTable(name);
    if (!opened.ok()) continue;
    const auto mapping = ReadIndexMapping(*opened);
    if (mapping.ok() && mapping->has_value() && (*mapping)->index_of == table)
      found.push_back(name);
  }
  return found;
}

absl::StatusOr<bool> CheckMappingFile(const std::string& path, const Mapping& mapping) {
  const auto old = ReadMappingFile(path);
  if (old.status().code() == absl::StatusCode::kNotFound) return false;
  STELE_RETURN_IF_ERROR(old.status());
  if (*old == mapping.ToJson()) return true;
  return FailedPrecondition("{} exists with another mapping: name another file", path);
}

absl::Status WriteMappingFile(const std::string& path, const Mapping& mapping) {
  STELE_ASSIGN_OR_RETURN(const bool exists, CheckMappingFile(path, mapping));
  if (exists) return absl::OkStatus();
  return ReplaceFileDurably(PosixFileSystem(), path, mapping.ToJson());
}

std::string ImportRecord::ToJson() const {
  std::string text = "{\"version\":1,\"source\":";
  AppendJsonString(source, &text);
  text += ",\"changes\":";
  AppendJsonString(changes, &text);
  text += ",\"run\":";
  AppendJsonString(run, &text);
  return text + fmt::format(",\"files\":{},\"complete\":{}}}", files, is_complete);
}

absl::StatusOr<std::optional<ImportRecord>> ReadImportRecord(const Table& table) {
  STELE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         PropertyText(table, kImportProperty));
  if (!text.has_value()) return std::optional<ImportRecord>();
  JsonParser parser(kRecordDepthMax);
  simdjson::dom::element json;
  std::string_view source;
  std::string_view changes;
  ImportRecord record;
  if (!parser.ParseCopy(*text, &json).ok() || json["source"].get(source) != simdjson::SUCCESS ||
      json["changes"].get(changes) != simdjson::SUCCESS ||
      json["complete"].get(record.is_complete) != simdjson::SUCCESS) {
    return FailedPrecondition("the property {} of table {} is not supported by this version",
                              kImportProperty, Printable(table.name()));
  }
  record.source = source;
  record.changes = changes;
  std::string_view run;
  if (json["run"].get(run) == simdjson::SUCCESS &&
      json["files"].get(record.files) == simdjson::SUCCESS)
    record.run = run;
  return std::optional<ImportRecord>(std::move(record));
}

absl::Status SetImportRecord(Table& table, const ImportRecord& record) {
  return table.SetProperty(std::string(kImportProperty), record.ToJson());
}

absl::StatusOr<std::optional<int64_t>> AppliedUntil(const Table& table) {
  STELE_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                         PropertyText(table, kAppliedUntilProperty));
  if (!text.has_value()) return std::optional<int64_t>();
  const std::optional<int64_t> micros = ParseTime(*text);
  if (!micros.has_value())
    return FailedPrecondition("the property {} of table {} is no time", kAppliedUntilProperty,
                              Printable(table.name()));
  return micros;
}

absl::Status SetAppliedUntil(Table& table, int64_t micros) {
  return table.SetProperty(std::string(kAppliedUntilProperty),
                           Timestamp::FromMicros(micros).ToString());
}

}  // namespace stele::internal::lab

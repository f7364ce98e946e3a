#include "copy_marks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status.h"
#include "io/file_system.h"
#include "row_text.h"
#include "session.h"
#include "state_file.h"

namespace stele::cli {
namespace {

constexpr char kWhat[] = "marks of stele copy, 1";
constexpr uint64_t kFileBytesMax = uint64_t{256} << 20;

Json ToJson(const PartMark& part) {
  return {{"start", EncodeBase64(part.start)},
          {"end", EncodeBase64(part.end)},
          {"last_row", EncodeBase64(part.last_row)},
          {"finished", part.is_finished},
          {"rows", part.counts.rows},
          {"cells", part.counts.cells},
          {"bytes", part.counts.bytes}};
}

bool GetRowKey(const Json& json, const char* name, std::string* row_key) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return false;
  auto decoded = DecodeBase64(found->get_ref<const std::string&>());
  if (!decoded.ok()) return false;
  *row_key = *std::move(decoded);
  return true;
}

bool GetText(const Json& json, const char* name, std::string* text) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_string()) return false;
  *text = found->get<std::string>();
  return true;
}

bool GetCount(const Json& json, const char* name, uint64_t* count) {
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_unsigned()) return false;
  *count = found->get<uint64_t>();
  return true;
}

bool FromJson(const Json& json, PartMark* part) {
  if (!json.is_object()) return false;
  const auto finished = json.find("finished");
  if (finished == json.end() || !finished->is_boolean()) return false;
  part->is_finished = finished->get<bool>();
  return GetRowKey(json, "start", &part->start) && GetRowKey(json, "end", &part->end) &&
         GetRowKey(json, "last_row", &part->last_row) &&
         GetCount(json, "rows", &part->counts.rows) &&
         GetCount(json, "cells", &part->counts.cells) &&
         GetCount(json, "bytes", &part->counts.bytes);
}

bool FromJson(const Json& json, TableMark* table) {
  if (!json.is_object() || !GetText(json, "source", &table->source) ||
      !GetText(json, "destination", &table->destination))
    return false;
  const auto parts = json.find("parts");
  if (parts == json.end() || !parts->is_array()) return false;
  for (const Json& part : *parts) {
    if (!FromJson(part, &table->parts.emplace_back())) return false;
  }
  return true;
}

bool FromJson(const Json& json, std::vector<TableMark>* tables) {
  const auto list = json.find("tables");
  if (list == json.end() || !list->is_array()) return false;
  for (const Json& table : *list) {
    if (!FromJson(table, &tables->emplace_back())) return false;
  }
  return true;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const auto file,
                         internal::PosixFileSystem()->Open(path, internal::OpenMode::kRead));
  STELE_ASSIGN_OR_RETURN(const uint64_t bytes, file->Size());
  if (bytes > kFileBytesMax)
    return internal::FailedPrecondition("{} has {} bytes and is not a file of copy marks", path,
                                        bytes);
  std::string text(bytes, '\0');
  STELE_ASSIGN_OR_RETURN(const size_t read, file->Read(0, text.size(), text.data()));
  text.resize(read);
  return text;
}

}  // namespace

CopyCounts TableMark::Sum() const {
  CopyCounts sum;
  for (const PartMark& part : parts) sum += part.counts;
  return sum;
}

absl::Status CopyMarks::Read() {
  if (path_.empty()) return absl::OkStatus();
  STELE_ASSIGN_OR_RETURN(lock_, StateFileLock::Take(path_));
  const auto text = ReadFile(path_);
  if (text.status().code() == absl::StatusCode::kNotFound) return absl::OkStatus();
  STELE_RETURN_IF_ERROR(text.status());
  const Json json = Json::parse(*text, nullptr, false);
  std::string what;
  std::string parameters;
  if (!json.is_object() || !GetText(json, "what", &what) || what != kWhat ||
      !GetText(json, "job", &parameters)) {
    return internal::FailedPrecondition(
        "{} exists and is not a file of copy marks: name another file with --resume", path_);
  }
  if (parameters != parameters_) {
    return internal::FailedPrecondition(
        "{} holds the marks of another copy, {}: repeat that one, name another file with --resume, "
        "or remove the file",
        path_, parameters);
  }
  std::vector<TableMark> tables;
  if (!FromJson(json, &tables)) {
    return internal::FailedPrecondition("{} is damaged: remove it to start the copy again", path_);
  }
  const internal::MutexLock lock(mutex_);
  tables_ = std::move(tables);
  return absl::OkStatus();
}

TableMark CopyMarks::Get(const std::string& source, const std::string& destination) const {
  const internal::MutexLock lock(mutex_);
  for (const TableMark& table : tables_) {
    if (table.source == source && table.destination == destination) return table;
  }
  return TableMark{.source = source, .destination = destination, .parts = {}};
}

absl::Status CopyMarks::Set(TableMark table) {
  const internal::MutexLock lock(mutex_);
  const auto found = std::find_if(tables_.begin(), tables_.end(), [&](const TableMark& known) {
    return known.source == table.source;
  });
  if (found != tables_.end()) {
    *found = std::move(table);
  } else {
    tables_.push_back(std::move(table));
  }
  return WriteLocked();
}

absl::Status CopyMarks::SetPart(const std::string& source, size_t part_index, PartMark part) {
  const internal::MutexLock lock(mutex_);
  for (TableMark& table : tables_) {
    if (table.source == source) table.parts[part_index] = std::move(part);
  }
  return WriteLocked();
}

absl::Status CopyMarks::Remove() {
  return path_.empty() ? absl::OkStatus() : RemoveStateFile(path_);
}

absl::Status CopyMarks::WriteLocked() const {
  if (path_.empty()) return absl::OkStatus();
  Json json = {{"what", kWhat}, {"job", parameters_}, {"tables", Json::array()}};
  for (const TableMark& table : tables_) {
    Json parts = Json::array();
    for (const PartMark& part : table.parts) parts.push_back(ToJson(part));
    json["tables"].push_back({{"source", table.source},
                              {"destination", table.destination},
                              {"parts", std::move(parts)}});
  }
  return WriteStateFile(path_, json, "writing the mark of the copy");
}

}  // namespace stele::cli

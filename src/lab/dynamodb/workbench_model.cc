#include "lab/dynamodb/workbench_model.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "lab/dynamodb/json_document.h"
#include "lab/dynamodb/record_parser.h"
#include "lab/input/input_file.h"
#include "lab/input/line_reader.h"

namespace stele::internal::lab {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;
using stele::lab::DynamoDbIndex;

constexpr size_t kModelBytesMax = size_t{16} << 20;
constexpr size_t kModelBeginningBytes = 4096;
constexpr size_t kModelDepthMax = 2 * kNestingMax + 16;
constexpr size_t kModelTablesMax = 1000;

absl::StatusOr<std::string> ReadBeginning(const std::string& path, size_t bytes_max) {
  STELE_ASSIGN_OR_RETURN(const auto input, InputFile::Open(path, false));
  std::string text;
  std::string piece(std::min(bytes_max, size_t{256} << 10), '\0');
  while (text.size() < bytes_max) {
    const size_t wanted = std::min(piece.size(), bytes_max - text.size());
    STELE_ASSIGN_OR_RETURN(const size_t bytes, input->Read(piece.data(), wanted));
    if (bytes == 0) break;
    text.append(piece, 0, bytes);
  }
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

// Reads the description of one table.
class TableReader {
 public:
  TableReader(std::string where, const object& json) : where_(std::move(where)), json_(json) {}

  absl::StatusOr<WorkbenchTable> Read() {
    WorkbenchTable result;
    std::string_view name;
    if (json_["TableName"].get(name) != simdjson::SUCCESS || name.empty())
      return Wrong("TableName", "a name");
    result.table.name = name;
    where_ += fmt::format(": table {}", Printable(name));
    STELE_RETURN_IF_ERROR(
        ReadKey(json_, &result.table.partition_key, &result.table.sort_key, &key_types_));
    STELE_RETURN_IF_ERROR(ReadIndexes(&result.table.indexes));
    STELE_RETURN_IF_ERROR(ReadItems(&result));
    return result;
  }

 private:
  // The types of one or two key attributes, by name.
  using KeyTypes = std::vector<std::pair<std::string, std::string>>;

  absl::Status Wrong(std::string_view member, std::string_view expected) const {
    return InvalidArgument("{}: \"{}\" is missing or not {}", where_, member, expected);
  }

  absl::Status ReadAttribute(const element& json, std::string_view member, std::string* name,
                             KeyTypes* types) const {
    std::string_view text;
    std::string_view type;
    if (json["AttributeName"].get(text) != simdjson::SUCCESS || text.empty() ||
        json["AttributeType"].get(type) != simdjson::SUCCESS ||
        (type != "S" && type != "N" && type != "B"))
      return Wrong(member, "an attribute of type S, N or B");
    *name = text;
    types->emplace_back(text, type);
    return absl::OkStatus();
  }

  absl::Status ReadKey(const object& json, std::string* partition_key, std::string* sort_key,
                       KeyTypes* types) const {
    element key;
    element attribute;
    if (json["KeyAttributes"].get(key) != simdjson::SUCCESS ||
        key["PartitionKey"].get(attribute) != simdjson::SUCCESS)
      return Wrong("KeyAttributes", "an object with a PartitionKey");
    STELE_RETURN_IF_ERROR(ReadAttribute(attribute, "PartitionKey", partition_key, types));
    if (key["SortKey"].get(attribute) != simdjson::SUCCESS) return absl::OkStatus();
    return ReadAttribute(attribute, "SortKey", sort_key, types);
  }

  absl::Status ReadIndexes(std::vector<DynamoDbIndex>* indexes) const {
    element member;
    if (json_["GlobalSecondaryIndexes"].get(member) != simdjson::SUCCESS) return absl::OkStatus();
    array list;
    if (member.get(list) != simdjson::SUCCESS) return Wrong("GlobalSecondaryIndexes", "an array");
    for (const element entry : list) {
      object json;
      std::string_view name;
      if (entry.get(json) != simdjson::SUCCESS ||
          json["IndexName"].get(name) != simdjson::SUCCESS || name.empty())
        return Wrong("IndexName", "a name");
      DynamoDbIndex& index = indexes->emplace_back();
      index.name = name;
      KeyTypes types;
      STELE_RETURN_IF_ERROR(ReadKey(json, &index.partition_key, &index.sort_key, &types));
      index.partition_type = types.front().second;
      if (types.size() > 1) index.sort_type = types.back().second;
      // An index with some of the attributes has copies too, of all of them.
      std::string_view projection;
      index.has_item_copies =
          json["Projection"]["ProjectionType"].get(projection) != simdjson::SUCCESS ||
          projection != "KEYS_ONLY";
    }
    return absl::OkStatus();
  }

  absl::Status ReadItems(WorkbenchTable* result) const {
    element member;
    if (json_["TableData"].get(member) != simdjson::SUCCESS) return absl::OkStatus();
    array items;
    if (member.get(items) != simdjson::SUCCESS) return Wrong("TableData", "an array");
    for (const element item : items) {
      ++result->table.item_count;
      for (const auto& [name, type] : key_types_) {
        element value;
        if (item[name].get(value) != simdjson::SUCCESS) continue;  // the import reports it
        if (value[type].error() == simdjson::SUCCESS) continue;
        return InvalidArgument(
            "{}: item {} of TableData: the key attribute \"{}\" is not of the type {} that the "
            "model "
            "states",
            where_, result->table.item_count, Printable(name), type);
      }
      result->item_lines += "{\"Item\":" + simdjson::minify(item) + "}\n";
    }
    return absl::OkStatus();
  }

  std::string where_;
  const object json_;
  KeyTypes key_types_;
};

}  // namespace

absl::StatusOr<bool> IsWorkbenchModel(const std::string& path) {
  STELE_ASSIGN_OR_RETURN(const std::string text, ReadBeginning(path, kModelBeginningBytes));
  const size_t brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string::npos || text[brace] != '{') return false;
  const size_t name = text.find_first_not_of(" \t\r\n", brace + 1);
  if (name == std::string::npos) return false;
  const std::string_view rest = std::string_view(text).substr(name);
  return rest.starts_with("\"ModelName\"") || rest.starts_with("\"ModelMetadata\"") ||
         rest.starts_with("\"DataModel\"");
}

absl::StatusOr<std::vector<WorkbenchTable>> ReadWorkbenchModel(const std::string& path) {
  const std::string where = Printable(path, 4096);
  STELE_ASSIGN_OR_RETURN(const std::string text, ReadBeginning(path, kModelBytesMax + 1));
  if (text.size() > kModelBytesMax)
    return InvalidArgument("{} has more than {} bytes, too many for a model", where,
                           kModelBytesMax);
  return ParseWorkbenchModel(text, where);
}

absl::StatusOr<std::vector<WorkbenchTable>> ParseWorkbenchModel(std::string_view text,
                                                                const std::string& where) {
  JsonParser parser(kModelDepthMax);
  element document;
  const absl::Status parsed = parser.ParseCopy(text, &document);
  if (!parsed.ok()) return WithContext(parsed, where);
  array list;
  if (document["DataModel"].get(list) != simdjson::SUCCESS)
    return InvalidArgument("{}: no array \"DataModel\": this is no model of NoSQL Workbench",
                           where);
  if (list.size() == 0 || list.size() > kModelTablesMax)
    return InvalidArgument("{}: the model has {} tables, not 1 to {}", where, list.size(),
                           kModelTablesMax);
  std::vector<WorkbenchTable> tables;
  std::set<std::string> names;
  for (const element entry : list) {
    object json;
    if (entry.get(json) != simdjson::SUCCESS)
      return InvalidArgument("{}: a table in \"DataModel\" is not an object", where);
    STELE_ASSIGN_OR_RETURN(tables.emplace_back(), TableReader(where, json).Read());
    if (!names.insert(tables.back().table.name).second)
      return InvalidArgument("{}: the table {} occurs twice", where,
                             Printable(tables.back().table.name));
  }
  return tables;
}

absl::StatusOr<WorkbenchTable> ReadWorkbenchTable(const std::string& path,
                                                  const std::string& name) {
  STELE_ASSIGN_OR_RETURN(std::vector<WorkbenchTable> tables, ReadWorkbenchModel(path));
  std::string list;
  for (WorkbenchTable& entry : tables) {
    if (entry.table.name == name) return std::move(entry);
    list += fmt::format("{}{}", list.empty() ? "" : ", ", Printable(entry.table.name));
  }
  return InvalidArgument("{}: the model has no table {}; it has: {}", Printable(path, 4096),
                         Printable(name), list);
}

}  // namespace stele::internal::lab

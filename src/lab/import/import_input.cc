#include "lab/import/import_input.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "base/status.h"
#include "io/output_file.h"
#include "lab/dynamodb/workbench_model.h"
#include "lab/values/number_text.h"
#include "stele/timestamp.h"

namespace stele::internal::lab {
namespace {

using stele::lab::DynamoDbImportOptions;

constexpr size_t kShownPathBytesMax = 4096;  // in messages
constexpr size_t kFilesMax = size_t{1} << 20;

std::string ShownPath(const std::string& path) { return Printable(path, kShownPathBytesMax); }

absl::Status CheckOutputDirectory(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return InvalidArgument("{} is a directory: name a file", ShownPath(path));
  const std::filesystem::path parent = std::filesystem::absolute(path, error).parent_path();
  if (error || std::filesystem::is_directory(parent, error)) return absl::OkStatus();
  return InvalidArgument("{} cannot be written: its directory does not exist", ShownPath(path));
}

// The file itself, if `path` is a link.
std::string FollowLinks(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

absl::Status AddStandardInput(ImportInput* input) {
  if (input->standard_input != nullptr)
    return InvalidArgument("- is given twice: standard input can be read once");
  STELE_ASSIGN_OR_RETURN(input->standard_input, SpooledInput::Read());
  input->files.push_back({.path = input->standard_input->path(),
                          .name = "standard input",
                          .md5 = "",
                          .item_count = -1});
  return absl::OkStatus();
}

absl::Status AddModel(const DynamoDbImportOptions& options, ImportInput* input) {
  if (options.paths.size() != 1)
    return InvalidArgument("a model of NoSQL Workbench must be the only path");
  const std::string& path = options.paths[0];
  STELE_ASSIGN_OR_RETURN(const WorkbenchTable model, ReadWorkbenchTable(path, options.model_table));
  STELE_ASSIGN_OR_RETURN(input->model_items, SpooledInput::Write(model.item_lines));
  const std::string name = fmt::format("{}#{}", ShownPath(path), Printable(options.model_table));
  input->model = "model of NoSQL Workbench, " + name;
  input->files.push_back(
      {.path = input->model_items->path(), .name = name, .md5 = "", .item_count = -1});
  return absl::OkStatus();
}

absl::Status AddFiles(const std::vector<std::string>& paths, ImportInput* input) {
  std::set<std::string> known;
  for (const std::string& path : paths) {
    if (path == "-") {
      STELE_RETURN_IF_ERROR(AddStandardInput(input));
      continue;
    }
    if (IsExportDirectory(path)) {
      return InvalidArgument(
          "{} is the directory of an export: give it alone, and import one export at a time",
          ShownPath(path));
    }
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      return InvalidArgument(
          "{} is a directory without manifest-summary.json: name the directory of one export, or "
          "data files",
          ShownPath(path));
    }
    const std::string file = FollowLinks(path);
    if (!known.insert(file).second)
      return InvalidArgument("{} is given twice: name each file once", ShownPath(path));
    input->files.push_back({.path = file, .name = ShownPath(path), .md5 = "", .item_count = -1});
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t StoredBytes(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : bytes;
}

std::string ImportInput::Text() const {
  if (!model.empty()) return model;
  if (!exported.has_value()) return Counted(files.size(), "file");
  return fmt::format("{}: {}, DYNAMODB_JSON, table {}, {}", Printable(exported->id),
                     exported->is_incremental ? "incremental" : "full",
                     Printable(exported->table_name),
                     Timestamp::FromMicros(exported->time_micros).ToString());
}

absl::Status CheckImportOptions(const DynamoDbImportOptions& options) {
  if (options.paths.empty()) return InvalidArgument("no input is given");
  if (options.table.empty()) return InvalidArgument("--table is missing");
  if (options.partition_key.empty()) return InvalidArgument("--partition-key is missing");
  const bool needs_mapping = options.mode == DynamoDbImportOptions::Mode::kNative;
  if (needs_mapping && !options.stores_properties && options.mapping_path.empty())
    return InvalidArgument("a server stores no mapping: --mapping FILE names a file for it");
  if (options.writer_threads < 1 ||
      options.writer_threads > DynamoDbImportOptions::kWriterThreadsMax)
    return InvalidArgument("--workers must be 1 to {}, and is {}",
                           DynamoDbImportOptions::kWriterThreadsMax, options.writer_threads);
  if (options.partition_key == options.sort_key)
    return InvalidArgument("the partition key and the sort key are the same attribute");
  for (const std::string& name : options.counters) {
    if (name == options.partition_key || name == options.sort_key)
      return InvalidArgument("\"{}\" is a key, and cannot be a counter", Printable(name));
  }
  std::set<std::string> names;
  for (const stele::lab::DynamoDbIndex& index : options.indexes) {
    if (index.name.empty() || index.partition_key.empty())
      return InvalidArgument("an index needs a name and a partition key");
    for (const std::string& type : {index.partition_type, index.sort_type}) {
      if (!type.empty() && type != "S" && type != "N" && type != "B")
        return InvalidArgument("the index {} has a key of the type \"{}\"; use S, N or B",
                               index.name, Printable(type));
    }
    if (!names.insert(index.name).second)
      return InvalidArgument("the index {} is given twice", Printable(index.name));
  }
  return absl::OkStatus();
}

absl::StatusOr<ImportInput> FindImportInput(const DynamoDbImportOptions& options) {
  ImportInput input;
  if (!options.model_table.empty()) {
    STELE_RETURN_IF_ERROR(AddModel(options, &input));
  } else if (options.paths.size() == 1 && IsExportDirectory(options.paths[0])) {
    STELE_ASSIGN_OR_RETURN(input.exported,
                           ReadExportDirectory(options.paths[0], options.verifies_sums));
    input.files = input.exported->files;
    for (DataFile& file : input.files) file.name = ShownPath(file.name);
  } else {
    STELE_RETURN_IF_ERROR(AddFiles(options.paths, &input));
  }
  if (input.files.size() > kFilesMax)
    return InvalidArgument("the input has {} files, at most {}", input.files.size(), kFilesMax);
  for (const DataFile& file : input.files) input.stored_bytes += StoredBytes(file.path);
  return input;
}

absl::Status CheckImportOutputs(const DynamoDbImportOptions& options, const ImportInput& input) {
  std::vector<std::string> inputs;
  for (const DataFile& file : input.files) inputs.push_back(file.path);
  if (input.exported.has_value()) inputs.push_back(input.exported->path);
  if (input.model_items != nullptr) inputs.push_back(options.paths[0]);
  std::vector<std::string> outputs = options.output_paths;
  outputs.insert(outputs.end(), {options.bad_path, options.mapping_path});
  for (const std::string& output : outputs) STELE_RETURN_IF_ERROR(CheckOutputDirectory(output));
  outputs.push_back(options.state_path);
  return CheckOutputsAreNotInputs(outputs, inputs);
}

std::string ImportJob(const DynamoDbImportOptions& options, const ImportInput& input) {
  const auto add = [](std::string_view name, std::string_view text) {
    return text.empty() ? "" : fmt::format(" {}={}", name, text);
  };
  const std::string id = input.exported.has_value() ? Printable(input.exported->id) : "";
  std::string job = fmt::format("import of {} files into {}", input.files.size(), options.table);
  job += add("export", id) + add("first", input.files.empty() ? "" : input.files[0].name);
  job += add("mode", std::to_string(static_cast<int>(options.mode)));
  job += add("partition-key", options.partition_key) + add("sort-key", options.sort_key);
  job += add("key", options.has_ordered_keys ? "ordered" : "delimited");
  job += add("delimiter", options.delimiter) + add("ttl", options.ttl_attribute);
  job += add("sets", options.has_sets_as_json ? "json" : "columns");
  job += add("maps", options.has_maps_as_columns ? "columns" : "json");
  job += add("expired", options.keeps_expired ? "kept" : "left out");
  job += add("timestamp", options.timestamp_attribute);
  job += add("family", options.google_family) + add("mapping", options.mapping_path);
  if (options.timestamp.has_value())
    job += add("micros", std::to_string(options.timestamp->micros()));
  for (const std::string& name : options.counters) job += add("counter", name);
  for (const stele::lab::DynamoDbIndex& index : options.indexes) {
    job += fmt::format(" gsi={}={},{}:{}", index.name, index.partition_key, index.sort_key,
                       index.has_item_copies ? "all" : "keys");
    job += add("partition-type", index.partition_type) + add("sort-type", index.sort_type);
  }
  return job;
}

}  // namespace stele::internal::lab

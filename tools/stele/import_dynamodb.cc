// tools/stele/import_dynamodb.cc: the verb import dynamodb: the flags of stele/lab/dynamodb.h.
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "arguments.h"
#include "base/status.h"
#include "command.h"
#include "flags.h"
#include "io/output_file.h"
#include "lab_files.h"
#include "location.h"
#include "model/validate.h"
#include "progress.h"
#ifdef STELE_HAS_LAB
#include "stele/lab/dynamodb.h"
#endif

namespace stele::cli {
namespace {

#ifdef STELE_HAS_LAB

using lab::DynamoDbImportOptions;

constexpr FlagSpec kImportFlags[] = {{"table"},
                                     {"partition-key"},
                                     {"sort-key"},
                                     {"mode"},
                                     {"family"},
                                     {"check", false},
                                     {"key"},
                                     {"delimiter"},
                                     {"sets"},
                                     {"maps"},
                                     {"counters"},
                                     {"ttl"},
                                     {"keep-expired", false},
                                     {"timestamp"},
                                     {"timestamp-micros"},
                                     {"gsi", true, true},
                                     {"mapping"},
                                     {"skip-bad"},
                                     {"bad-file"},
                                     {"no-verify", false},
                                     {"workers"},
                                     {"resume"},
                                     {"model"},
                                     {"report"}};

// The value of a flag with two words: true for the second one.
absl::StatusOr<bool> IsSecond(const Flags& flags, std::string_view name, std::string_view first,
                              std::string_view second) {
  const std::string text = flags.Get(name, first);
  if (text != first && text != second)
    return UsageError(fmt::format("--{} must be {} or {}", name, first, second));
  return text == second;
}

bool IsRegularFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// NAME=PK[,SK][:keys|all]
absl::StatusOr<lab::DynamoDbIndex> ParseIndex(std::string text) {
  lab::DynamoDbIndex index;
  if (text.ends_with(":all") || text.ends_with(":keys")) {
    index.has_item_copies = text.ends_with(":all");
    text.resize(text.rfind(':'));
  } else if (const size_t colon = text.find(':'); colon != std::string::npos) {
    return UsageError(fmt::format(
        "--gsi NAME=PK[,SK][:keys|all]: \"{}\" is neither :keys nor :all; after an attribute with "
        "a colon, one of them is needed",
        internal::Printable(text.substr(colon))));
  }
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return UsageError("--gsi must be NAME=PK[,SK][:keys|all]");
  index.name = text.substr(0, equals);
  const std::vector<std::string> parts = Split(text.substr(equals + 1), ',');
  if (parts.size() > 2 || parts[0].empty() || parts.back().empty())
    return UsageError("--gsi must be NAME=PK[,SK][:keys|all]");
  index.partition_key = parts[0];
  if (parts.size() == 2) index.sort_key = parts[1];
  return index;
}

absl::Status ParseTimes(const Flags& flags, DynamoDbImportOptions* options) {
  options->ttl_attribute = flags.Get("ttl", "");
  options->keeps_expired = flags.has("keep-expired");
  if (options->keeps_expired && options->ttl_attribute.empty())
    return UsageError("--keep-expired needs --ttl");
  options->timestamp_attribute = flags.Get("timestamp", "");
  const auto micros = flags.Find("timestamp-micros");
  if (!micros.has_value()) return absl::OkStatus();
  if (!options->timestamp_attribute.empty())
    return UsageError("--timestamp and --timestamp-micros exclude each other");
  STELE_ASSIGN_OR_RETURN(const int64_t number, ParseNumber("timestamp-micros", *micros));
  if (number < 0) return UsageError("--timestamp-micros must not be negative");
  options->timestamp = Timestamp::FromMicros(number);
  return absl::OkStatus();
}

absl::Status ParseMode(const Flags& flags, DynamoDbImportOptions* options) {
  STELE_ASSIGN_OR_RETURN(const bool is_google, IsSecond(flags, "mode", "native", "google"));
  if (!is_google) {
    if (flags.has("family")) return UsageError("--family needs --mode google");
    return absl::OkStatus();
  }
  options->mode = DynamoDbImportOptions::Mode::kGoogle;
  options->google_family = flags.Get("family", options->google_family);
  for (const std::string_view name : {"key", "delimiter", "sets", "maps", "counters", "ttl",
                                      "timestamp", "timestamp-micros", "gsi", "mapping"}) {
    if (flags.has(name))
      return UsageError(fmt::format("--{} has no meaning with --mode google", name));
  }
  return absl::OkStatus();
}

// The names of tables and families, before anything is created.
absl::Status CheckNames(const DynamoDbImportOptions& options) {
  std::vector<absl::Status> checked = {internal::ValidateTableName(options.table),
                                       internal::ValidateFamilyName(options.google_family)};
  for (const lab::DynamoDbIndex& index : options.indexes)
    checked.push_back(internal::ValidateTableName(options.table + "." + index.name));
  for (const absl::Status& status : checked) {
    if (!status.ok()) return UsageError(internal::ToStd(status.message()));
  }
  return absl::OkStatus();
}

absl::Status ParseCounters(const Flags& flags, DynamoDbImportOptions* options) {
  const auto counters = flags.Find("counters");
  if (!counters.has_value()) return absl::OkStatus();
  options->counters = Split(*counters, ',');
  for (const std::string& name : options->counters) {
    if (name.empty()) return UsageError("--counters A,...: the name of an attribute is empty");
  }
  return absl::OkStatus();
}

std::string MissingFlag(std::string_view name) {
  return fmt::format(
      "--{} is missing: stele import dynamodb PATH ... --table T --partition-key "
      "NAME [--sort-key NAME]",
      name);
}

// The tables of a data model that --table selects; all of them without it.
absl::StatusOr<std::vector<lab::DynamoDbModelTable>> SelectedTables(const std::string& path,
                                                                    const Flags& flags) {
  STELE_ASSIGN_OR_RETURN(std::vector<lab::DynamoDbModelTable> tables, lab::ReadDynamoDbModel(path));
  const auto selected = flags.Find("table");
  // The items of --model are in a table of any name.
  const bool takes_all = !selected.has_value() || (flags.has("model") && tables.size() == 1);
  if (takes_all) return tables;
  std::string list;
  for (lab::DynamoDbModelTable& table : tables) {
    if (table.name == *selected) return std::vector{std::move(table)};
    list += fmt::format("{}{}", list.empty() ? "" : ", ", internal::Printable(table.name));
  }
  return internal::InvalidArgument("{}: the model has no table {}; it has: {}",
                                   internal::Printable(path, 4096), internal::Printable(*selected),
                                   list);
}

// The table and its keys come from the model.
absl::Status UseModel(const Flags& flags, const lab::DynamoDbModelTable& model,
                      DynamoDbImportOptions* options) {
  if (flags.has("partition-key") || flags.has("sort-key"))
    return UsageError("the model has the keys: leave out --partition-key and --sort-key");
  if (!flags.has("model")) options->model_table = model.name;
  if (options->table.empty()) options->table = model.name;
  options->partition_key = model.partition_key;
  options->sort_key = model.sort_key;
  return absl::OkStatus();
}

absl::StatusOr<DynamoDbImportOptions> ParseImportFlags(const Session& session, const Flags& flags,
                                                       const lab::DynamoDbModelTable* model) {
  DynamoDbImportOptions options{.paths = flags.words(),
                                .table = flags.Get("table", ""),
                                .partition_key = flags.Get("partition-key", ""),
                                .sort_key = flags.Get("sort-key", "")};
  if (model != nullptr) STELE_RETURN_IF_ERROR(UseModel(flags, *model, &options));
  for (const auto& [name, value] :
       {std::pair("table", &options.table), std::pair("partition-key", &options.partition_key)}) {
    if (value->empty()) return UsageError(MissingFlag(name));
  }
  STELE_ASSIGN_OR_RETURN(options.has_ordered_keys, IsSecond(flags, "key", "delimited", "ordered"));
  STELE_ASSIGN_OR_RETURN(options.has_sets_as_json, IsSecond(flags, "sets", "columns", "json"));
  STELE_ASSIGN_OR_RETURN(options.has_maps_as_columns, IsSecond(flags, "maps", "json", "columns"));
  options.delimiter = flags.Get("delimiter", "auto");
  if (options.delimiter.empty())
    return UsageError("--delimiter is empty: auto chooses one, and --key ordered needs none");
  if (options.delimiter == "auto") options.delimiter.clear();
  if (options.has_ordered_keys && !options.delimiter.empty())
    return UsageError("--key ordered has no delimiter");
  STELE_RETURN_IF_ERROR(ParseCounters(flags, &options));
  for (const std::string& text : flags.All("gsi")) {
    STELE_ASSIGN_OR_RETURN(lab::DynamoDbIndex index, ParseIndex(text));
    options.indexes.push_back(std::move(index));
  }
  STELE_RETURN_IF_ERROR(ParseMode(flags, &options));
  const bool is_native = options.mode == DynamoDbImportOptions::Mode::kNative;
  if (model != nullptr && is_native && options.indexes.empty()) options.indexes = model->indexes;
  STELE_RETURN_IF_ERROR(CheckNames(options));
  STELE_RETURN_IF_ERROR(ParseTimes(flags, &options));
  options.bad_path = flags.Get("bad-file", "");
  STELE_ASSIGN_OR_RETURN(options.bad_items_max, ParseSkipBad(flags, "items"));
  options.only_checks = flags.has("check");
  options.verifies_sums = !flags.has("no-verify");
  STELE_ASSIGN_OR_RETURN(options.writer_threads,
                         NumberFlag(flags, "workers", 1, DynamoDbImportOptions::kWriterThreadsMax,
                                    options.writer_threads));
  options.mapping_path = flags.Get("mapping", "");
  const bool needs_mapping = options.mode == DynamoDbImportOptions::Mode::kNative;
  options.stores_properties = !IsRemote(session.options().database);
  if (!options.stores_properties && needs_mapping && options.mapping_path.empty())
    return UsageError("a server stores no mapping: --mapping FILE names a file for it");
  options.output_paths = {flags.Get("report", ""), flags.Get("resume", ""),
                          session.options().output};
  std::vector<std::string> outputs = options.output_paths;
  outputs.insert(outputs.end(), {options.bad_path, options.mapping_path});
  options.state_path = flags.Get("resume", DefaultStatePath(session.options().database, "import",
                                                            options.paths[0], options.table));
  outputs.push_back(internal::NewFileOf(options.state_path));
  if (!options.mapping_path.empty()) outputs.push_back(internal::NewFileOf(options.mapping_path));
  STELE_RETURN_IF_ERROR(CheckAreDifferent(outputs));
  STELE_RETURN_IF_ERROR(session.CheckOutputs(outputs));
  STELE_RETURN_IF_ERROR(internal::CheckOutputsAreNotInputs(outputs, {flags.Get("model", "")}));
  return options;
}

// One import, or one for each table of a data model.
absl::StatusOr<std::vector<DynamoDbImportOptions>> ParseImports(const Session& session,
                                                                const Flags& flags) {
  if (flags.words().empty()) return WrongUsage("import dynamodb");
  std::vector<lab::DynamoDbModelTable> models;
  if (const auto path = flags.Find("model")) {
    STELE_ASSIGN_OR_RETURN(models, SelectedTables(*path, flags));
    if (models.size() > 1)
      return UsageError(fmt::format("{} has {} tables: --table names that of the items",
                                    internal::Printable(*path), models.size()));
  } else if (flags.words().size() == 1 && IsRegularFile(flags.words()[0])) {
    STELE_ASSIGN_OR_RETURN(const bool is_model, lab::IsDynamoDbModel(flags.words()[0]));
    if (is_model) {
      STELE_ASSIGN_OR_RETURN(models, SelectedTables(flags.words()[0], flags));
    }
  }
  std::vector<DynamoDbImportOptions> imports;
  if (models.empty()) {
    STELE_ASSIGN_OR_RETURN(imports.emplace_back(), ParseImportFlags(session, flags, nullptr));
  }
  for (const lab::DynamoDbModelTable& model : models) {
    STELE_ASSIGN_OR_RETURN(imports.emplace_back(), ParseImportFlags(session, flags, &model));
  }
  for (const std::string_view name : {"bad-file", "mapping", "resume"}) {
    if (imports.size() > 1 && flags.has(name))
      return UsageError(fmt::format("--{} is for one table: select it with --table", name));
  }
  return imports;
}

// A check needs no database. An import creates a missing one after its check.
absl::StatusOr<Database> OpenForImport(Session& session, DynamoDbImportOptions* options) {
  auto database =
      session.Open(options->only_checks ? Session::Access::kRead : Session::Access::kWrite);
  if (database.status().code() != absl::StatusCode::kNotFound) return database;
  options->open_database = [&session] { return session.OpenToKeep(); };
  return Database();
}

// The report of an import, or one document with those of several.
std::string JoinedReports(const std::vector<std::string>& documents) {
  if (documents.size() == 1) return documents[0];
  std::string json = "{\"imports\":[";
  for (const std::string& document : documents) {
    if (json.back() != '[') json += ',';
    json += document.substr(0, document.find_last_not_of('\n') + 1);
  }
  return json + "]}\n";
}

absl::Status CheckAll(Session& session, std::vector<DynamoDbImportOptions> imports) {
  for (DynamoDbImportOptions& options : imports) {
    STELE_ASSIGN_OR_RETURN(const Database database, OpenForImport(session, &options));
    options.only_checks = true;
    STELE_RETURN_IF_ERROR(lab::ImportDynamoDb(database, options).status());
  }
  return absl::OkStatus();
}

#endif

}  // namespace

#ifdef STELE_HAS_LAB

absl::Status RunImportDynamoDb(Session& session, const std::vector<std::string>& args) {
  STELE_ASSIGN_OR_RETURN(const Flags flags, Flags::Parse(args, kImportFlags));
  STELE_ASSIGN_OR_RETURN(const bool as_json, TakeOutputFlags(session, flags));
  STELE_ASSIGN_OR_RETURN(std::vector<DynamoDbImportOptions> imports, ParseImports(session, flags));
  PhaseProgress progress;
  for (DynamoDbImportOptions& options : imports) {
    options.progress = [&](std::string_view phase, uint64_t done, uint64_t total) {
      progress.Set(phase, done, total);
    };
  }
  // If there are several tables, all are checked before the first is written.
  if (imports.size() > 1) STELE_RETURN_IF_ERROR(CheckAll(session, imports));
  std::vector<std::string> documents;
  std::string text;
  for (DynamoDbImportOptions& options : imports) {
    STELE_ASSIGN_OR_RETURN(const Database database, OpenForImport(session, &options));
    STELE_ASSIGN_OR_RETURN(const lab::DynamoDbImportReport report,
                           lab::ImportDynamoDb(database, options));
    documents.push_back(report.ToJson());
    text += report.ToText();
    if (report.left_out_items()) session.SkippedSome();
  }
  const std::string json = JoinedReports(documents);
  if (const auto path = flags.Find("report")) STELE_RETURN_IF_ERROR(WriteReport(*path, json));
  session.Print(as_json ? json : text);
  return absl::OkStatus();
}

#else

absl::Status RunImportDynamoDb(Session& /*session*/, const std::vector<std::string>& /*args*/) {
  return WithoutLab("import dynamodb");
}

#endif

}  // namespace stele::cli

#include "remote/wire/names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "model/validate.h"
#include "remote/wire/field_errors.h"

namespace stele::internal {
namespace {

constexpr size_t kTableIdBytesMax = 50;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Removes "WORD/ID", and a '/' after it if there is one, from the front.
std::optional<std::string_view> TakeId(std::string_view word, std::string_view* name) {
  if (!name->starts_with(word) || name->size() <= word.size() || (*name)[word.size()] != '/')
    return std::nullopt;
  name->remove_prefix(word.size() + 1);
  const size_t end = std::min(name->find('/'), name->size());
  const std::string_view id = name->substr(0, end);
  name->remove_prefix(std::min(end + 1, name->size()));
  return id;
}

constexpr std::array<std::string_view, 3> kTableWords = {"projects", "instances", "tables"};
constexpr std::array<std::string_view, 4> kBackupWords = {"projects", "instances", "clusters",
                                                          "backups"};

// Returns the ids after the first `count` of `words` in "projects/P/instances/I/tables/T", which
// must end there. Checks the ids of the project and the instance. The caller checks the others.
std::optional<std::array<std::string_view, 4>> SplitName(std::string_view name,
                                                         std::span<const std::string_view> words,
                                                         size_t count) {
  if (name.empty() || name.back() == '/') return std::nullopt;
  std::array<std::string_view, 4> ids;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<std::string_view> id = TakeId(words[i], &name);
    if (!id.has_value() || (i == 0 && !IsProjectId(*id)) || (i == 1 && !IsInstanceId(*id)))
      return std::nullopt;
    ids[i] = *id;
  }
  if (!name.empty()) return std::nullopt;
  return ids;
}

}  // namespace

absl::StatusOr<std::string> StoredTableName(std::string_view table_name) {
  const auto ids = SplitName(table_name, kTableWords, 3);
  if (!ids.has_value() || !CheckTableId((*ids)[2]).ok()) {
    return InvalidArgument(
        "Invalid table name \"{}\": expected projects/PROJECT/instances/INSTANCE/tables/TABLE",
        table_name);
  }
  return fmt::format("{}/{}/{}", (*ids)[0], (*ids)[1], (*ids)[2]);
}

absl::StatusOr<std::string> StoredPrefix(std::string_view instance_name) {
  const auto ids = SplitName(instance_name, kTableWords, 2);
  if (!ids.has_value()) {
    return InvalidArgument(
        "Invalid instance name \"{}\": expected projects/PROJECT/instances/INSTANCE",
        instance_name);
  }
  return fmt::format("{}/{}/", (*ids)[0], (*ids)[1]);
}

absl::StatusOr<std::string> StoredProjectPrefix(std::string_view project_name) {
  const auto ids = SplitName(project_name, kTableWords, 1);
  if (!ids.has_value())
    return InvalidArgument("Invalid project name \"{}\": expected projects/PROJECT", project_name);
  return fmt::format("{}/", (*ids)[0]);
}

std::string WireTableName(std::string_view stored_name) {
  const size_t first = stored_name.find('/');
  if (first == std::string_view::npos) return {};
  const size_t second = stored_name.find('/', first + 1);
  if (second == std::string_view::npos) return {};
  return fmt::format("projects/{}/instances/{}/tables/{}", stored_name.substr(0, first),
                     stored_name.substr(first + 1, second - first - 1),
                     stored_name.substr(second + 1));
}

absl::Status CheckResourceId(std::string_view what, std::string_view resource_id) {
  const auto allowed = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  if (!resource_id.empty() && resource_id.size() <= kTableIdBytesMax &&
      (IsAlphanumeric(resource_id.front()) || resource_id.front() == '_') &&
      std::all_of(resource_id.begin(), resource_id.end(), allowed)) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "Invalid {} id \"{}\": it must be 1 to {} of [-_.a-zA-Z0-9], not beginning with '-' or '.'",
      what, resource_id, kTableIdBytesMax);
}

absl::Status CheckTableId(std::string_view table_id) { return CheckResourceId("table", table_id); }

absl::Status CheckBackupId(std::string_view backup_id) {
  return CheckResourceId("backup", backup_id);
}

absl::StatusOr<std::string> BackupPrefix(std::string_view cluster_name) {
  const auto ids = SplitName(cluster_name, kBackupWords, 3);
  if (ids.has_value() && IsInstanceId((*ids)[2])) return fmt::format("{}/backups/", cluster_name);
  if (ids.has_value() && (*ids)[2] == "-")
    return std::string(cluster_name.substr(0, cluster_name.size() - 1));
  return InvalidArgument(
      "Invalid cluster name \"{}\": expected projects/PROJECT/instances/INSTANCE/clusters/CLUSTER",
      cluster_name);
}

absl::StatusOr<BackupName> ParseBackupName(std::string_view backup_name) {
  const auto ids = SplitName(backup_name, kBackupWords, 4);
  if (!ids.has_value() || !IsInstanceId((*ids)[2]) || !CheckBackupId((*ids)[3]).ok()) {
    return InvalidArgument(
        "Invalid backup name \"{}\": expected "
        "projects/PROJECT/instances/INSTANCE/clusters/CLUSTER/backups/BACKUP",
        backup_name);
  }
  return BackupName{.project = std::string((*ids)[0]),
                    .instance = std::string((*ids)[1]),
                    .cluster = std::string((*ids)[2]),
                    .backup = std::string((*ids)[3])};
}

}  // namespace stele::internal

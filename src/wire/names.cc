#include "wire/names.h"

#include <algorithm>
#include <array>
#include <optional>

#include "wire/field_errors.h"

namespace stele::internal {
namespace {

constexpr size_t kTableIdBytesMax = 50;

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// A project's or an instance's id: what the library takes before a table's.
bool IsId(std::string_view id) {
  const auto allowed = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.' || c == ':'; };
  return !id.empty() && id.size() <= 64 && IsAlphanumeric(id.front()) && std::all_of(id.begin(), id.end(), allowed);
}

// Takes "WORD/ID" and a '/' after it, if there is one, off the front.
std::optional<std::string_view> TakeId(std::string_view word, std::string_view* name) {
  if (!name->starts_with(word) || name->size() <= word.size() || (*name)[word.size()] != '/') return std::nullopt;
  name->remove_prefix(word.size() + 1);
  const size_t end = std::min(name->find('/'), name->size());
  const std::string_view id = name->substr(0, end);
  name->remove_prefix(std::min(end + 1, name->size()));
  return id;
}

// The ids of `count` levels of "projects/P/instances/I/tables/T", and nothing after them.
std::optional<std::array<std::string_view, 3>> SplitName(std::string_view name, size_t count) {
  constexpr std::array<std::string_view, 3> kWords = {"projects", "instances", "tables"};
  if (name.empty() || name.back() == '/') return std::nullopt;
  std::array<std::string_view, 3> ids;
  for (size_t i = 0; i < count; ++i) {
    const std::optional<std::string_view> id = TakeId(kWords[i], &name);
    if (!id.has_value() || (i < 2 && !IsId(*id))) return std::nullopt;
    ids[i] = *id;
  }
  if (!name.empty()) return std::nullopt;
  return ids;
}

}  // namespace

absl::StatusOr<std::string> StoredTableName(std::string_view table_name) {
  const auto ids = SplitName(table_name, 3);
  if (!ids.has_value() || !CheckTableId((*ids)[2]).ok()) {
    return InvalidArgument("Invalid table name \"{}\": expected projects/PROJECT/instances/INSTANCE/tables/TABLE", table_name);
  }
  return fmt::format("{}/{}/{}", (*ids)[0], (*ids)[1], (*ids)[2]);
}

absl::StatusOr<std::string> StoredPrefix(std::string_view instance_name) {
  const auto ids = SplitName(instance_name, 2);
  if (!ids.has_value()) {
    return InvalidArgument("Invalid instance name \"{}\": expected projects/PROJECT/instances/INSTANCE", instance_name);
  }
  return fmt::format("{}/{}/", (*ids)[0], (*ids)[1]);
}

absl::StatusOr<std::string> StoredProjectPrefix(std::string_view project_name) {
  const auto ids = SplitName(project_name, 1);
  if (!ids.has_value()) return InvalidArgument("Invalid project name \"{}\": expected projects/PROJECT", project_name);
  return fmt::format("{}/", (*ids)[0]);
}

std::string WireTableName(std::string_view stored_name) {
  const size_t first = stored_name.find('/');
  if (first == std::string_view::npos) return {};
  const size_t second = stored_name.find('/', first + 1);
  if (second == std::string_view::npos) return {};
  return fmt::format("projects/{}/instances/{}/tables/{}", stored_name.substr(0, first), stored_name.substr(first + 1, second - first - 1),
                     stored_name.substr(second + 1));
}

absl::Status CheckTableId(std::string_view table_id) {
  const auto allowed = [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; };
  if (!table_id.empty() && table_id.size() <= kTableIdBytesMax && (IsAlphanumeric(table_id.front()) || table_id.front() == '_') &&
      std::all_of(table_id.begin(), table_id.end(), allowed)) {
    return absl::OkStatus();
  }
  return InvalidArgument("Invalid table id \"{}\": it must be 1 to {} of [-_.a-zA-Z0-9], not beginning with '-' or '.'", table_id,
                         kTableIdBytesMax);
}

}  // namespace stele::internal

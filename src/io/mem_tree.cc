#include "io/mem_tree.h"

#include <cerrno>

#include "base/status.h"

namespace stele::internal {
namespace {

// Returns the next part of a path, skipping "" and "."; empty at the end.
std::string_view TakePart(std::string_view* path) {
  while (!path->empty()) {
    const size_t slash = path->find('/');
    const std::string_view part = path->substr(0, slash);
    path->remove_prefix(slash == std::string_view::npos ? path->size() : slash + 1);
    if (!part.empty() && part != ".") return part;
  }
  return {};
}

MemNodePointer Lookup(const MemNode& directory, const std::string& name) {
  const auto found = directory.entries.find(name);
  return found == directory.entries.end() ? nullptr : found->second;
}

bool IsBelow(const MemNodePointer& ancestor, const MemNodePointer& node) {
  if (ancestor == node) return true;
  for (const auto& [name, child] : ancestor->entries) {
    if (IsBelow(child, node)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<MemTree::Place> MemTree::Find(std::string_view call, const std::string& path) const {
  std::string_view rest = path;
  Place place{nullptr, std::string(), root_};
  for (std::string_view part = TakePart(&rest); !part.empty(); part = TakePart(&rest)) {
    if (place.node == nullptr) return ErrnoStatus(call, path, ENOENT);
    if (place.node->kind != FileKind::kDirectory) return ErrnoStatus(call, path, ENOTDIR);
    place.directory = std::move(place.node);
    place.name = part;
    place.node = Lookup(*place.directory, place.name);
  }
  return place;
}

absl::StatusOr<MemTree::Place> MemTree::FindExisting(std::string_view call,
                                                     const std::string& path) const {
  STELE_ASSIGN_OR_RETURN(Place place, Find(call, path));
  if (place.node == nullptr) return ErrnoStatus(call, path, ENOENT);
  return place;
}

absl::StatusOr<MemTree::Place> MemTree::FindVacant(std::string_view call,
                                                   const std::string& path) const {
  STELE_ASSIGN_OR_RETURN(Place place, Find(call, path));
  if (place.node != nullptr) return ErrnoStatus(call, path, EEXIST);
  return place;
}

absl::StatusOr<MemTree::Place> MemTree::FindFile(std::string_view call,
                                                 const std::string& path) const {
  STELE_ASSIGN_OR_RETURN(Place place, FindExisting(call, path));
  if (place.node->kind != FileKind::kFile)
    return FailedPrecondition("{} {}: not a regular file", call, path);
  return place;
}

absl::StatusOr<MemNodePointer> MemTree::FindDirectory(std::string_view call,
                                                      const std::string& path) const {
  STELE_ASSIGN_OR_RETURN(Place place, FindExisting(call, path));
  if (place.node->kind != FileKind::kDirectory) return ErrnoStatus(call, path, ENOTDIR);
  return std::move(place.node);
}

absl::StatusOr<std::vector<EntryChange>> MemTree::PlanRename(const std::string& from,
                                                             const std::string& to) const {
  STELE_ASSIGN_OR_RETURN(const Place source, FindExisting("rename", from));
  STELE_ASSIGN_OR_RETURN(const Place target, Find("rename", to));
  if (source.directory == nullptr || target.directory == nullptr)
    return ErrnoStatus("rename", from, EBUSY);
  std::vector<EntryChange> changes;
  if (source.node == target.node) return changes;  // two names of one file: POSIX leaves both
  const bool is_directory = source.node->kind == FileKind::kDirectory;
  if (is_directory && IsBelow(source.node, target.directory))
    return ErrnoStatus("rename", from, EINVAL);
  if (target.node != nullptr) {
    const bool onto_directory = target.node->kind == FileKind::kDirectory;
    if (is_directory && !onto_directory) return ErrnoStatus("rename", from, ENOTDIR);
    if (!is_directory && onto_directory) return ErrnoStatus("rename", from, EISDIR);
    if (onto_directory && !target.node->entries.empty())
      return ErrnoStatus("rename", from, ENOTEMPTY);
  }
  changes.push_back({source.directory, source.name, nullptr});
  changes.push_back({target.directory, target.name, source.node});
  return changes;
}

absl::StatusOr<std::vector<EntryChange>> MemTree::PlanRemove(const std::string& path) const {
  STELE_ASSIGN_OR_RETURN(const Place place, FindExisting("unlink", path));
  if (place.node->kind == FileKind::kDirectory) return ErrnoStatus("unlink", path, EISDIR);
  return std::vector<EntryChange>{{place.directory, place.name, nullptr}};
}

absl::StatusOr<std::vector<EntryChange>> MemTree::PlanRemoveDirectory(
    const std::string& path) const {
  STELE_ASSIGN_OR_RETURN(const Place place, FindExisting("rmdir", path));
  if (place.directory == nullptr) return ErrnoStatus("rmdir", path, EBUSY);
  if (place.node->kind != FileKind::kDirectory) return ErrnoStatus("rmdir", path, ENOTDIR);
  if (!place.node->entries.empty()) return ErrnoStatus("rmdir", path, ENOTEMPTY);
  return std::vector<EntryChange>{{place.directory, place.name, nullptr}};
}

absl::StatusOr<std::vector<EntryChange>> MemTree::PlanLink(const std::string& from,
                                                           const std::string& to) const {
  STELE_ASSIGN_OR_RETURN(const Place source, FindExisting("link", from));
  STELE_ASSIGN_OR_RETURN(const Place target, FindVacant("link", to));
  if (source.node->kind == FileKind::kDirectory)
    return Unimplemented("link {} to {}: not possible here", from, to);
  return std::vector<EntryChange>{{target.directory, target.name, source.node}};
}

void MemTree::Apply(const std::vector<EntryChange>& changes) {
  for (const EntryChange& change : changes) {
    if (change.node != nullptr) ++change.node->link_count;
    const auto found = change.directory->entries.find(change.name);
    if (found != change.directory->entries.end()) {
      --found->second->link_count;
      change.directory->entries.erase(found);
    }
    if (change.node != nullptr) change.directory->entries[change.name] = change.node;
  }
}

absl::StatusOr<std::vector<std::string>> MemTree::List(const std::string& directory) const {
  STELE_ASSIGN_OR_RETURN(const MemNodePointer node, FindDirectory("opendir", directory));
  std::vector<std::string> names;
  // Sorted, since it is a map.
  for (const auto& [name, child] : node->entries) names.push_back(name);
  return names;
}

}  // namespace stele::internal

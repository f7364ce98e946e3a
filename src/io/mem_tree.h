// io/mem_tree.h: directories and names in memory, with POSIX's rules. The file system defines the
// contents of the nodes.
//
// Used by:   io/mem_file_system.cc, and the file system of the crash tests.
// Format:    paths are split at '/'; empty parts and "." are skipped, so "/a//b", "a/b" and "./a/b"
//            are the same. ".." is not supported.
// Errors:    ErrnoStatus with the error number that the operating system would return.
// Threads:   thread-compatible: the file system's lock is held around every call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace stele::internal {

struct MemNode {
  explicit MemNode(FileKind node_kind) : kind(node_kind) {}
  virtual ~MemNode() = default;
  const FileKind kind;
  int link_count = 0;                                       // the number of names of this node
  std::map<std::string, std::shared_ptr<MemNode>> entries;  // for directories
};
using MemNodePointer = std::shared_ptr<MemNode>;

// One changed name of a directory: it refers to another node, or was removed (nullptr).
struct EntryChange {
  MemNodePointer directory;
  std::string name;
  MemNodePointer node;
};

class MemTree {
 public:
  // The target of a path: a name in a directory, and the node with that name (nullptr: none). The
  // root has no directory.
  struct Place {
    MemNodePointer directory;
    std::string name;
    MemNodePointer node;
  };

  explicit MemTree(MemNodePointer root) : root_(std::move(root)) {}
  const MemNodePointer& root() const { return root_; }

  // Returns NotFound or "not a directory" for a path whose parent does not exist. `call` names the
  // caller in the message.
  absl::StatusOr<Place> Find(std::string_view call, const std::string& path) const;
  // Like Find, but returns NotFound if there is no node.
  absl::StatusOr<Place> FindExisting(std::string_view call, const std::string& path) const;
  // Like Find, but returns AlreadyExists if there is a node.
  absl::StatusOr<Place> FindVacant(std::string_view call, const std::string& path) const;
  // Finds a regular file.
  absl::StatusOr<Place> FindFile(std::string_view call, const std::string& path) const;
  absl::StatusOr<MemNodePointer> FindDirectory(std::string_view call,
                                               const std::string& path) const;

  // Each returns the changes of an operation without making them; Apply makes them.
  absl::StatusOr<std::vector<EntryChange>> PlanRename(const std::string& from,
                                                      const std::string& to) const;
  absl::StatusOr<std::vector<EntryChange>> PlanRemove(const std::string& path) const;
  absl::StatusOr<std::vector<EntryChange>> PlanRemoveDirectory(const std::string& path) const;
  absl::StatusOr<std::vector<EntryChange>> PlanLink(const std::string& from,
                                                    const std::string& to) const;
  static void Apply(const std::vector<EntryChange>& changes);

  absl::StatusOr<std::vector<std::string>> List(const std::string& directory) const;

 private:
  MemNodePointer root_;
};

}  // namespace stele::internal

#include "io/mem_file_system.h"

#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/status.h"
#include "io/chunked_bytes.h"

namespace stele::internal {
namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;

struct MemFileNode final : MemNode {
  MemFileNode() : MemNode(FileKind::kFile), bytes(kChunkBytes) {}
  mutable Mutex mutex;
  ChunkedBytes bytes ABSL_GUARDED_BY(mutex);
};

absl::Status Answer(std::string_view call, const std::string& path, int error_number) {
  if (error_number == 0) return absl::OkStatus();
  if (error_number == ENOMEM)
    return ResourceExhausted("{} {}: no memory for the file's bytes", call, path);
  return ErrnoStatus(call, path, error_number);
}

class MemFile final : public File {
 public:
  MemFile(std::shared_ptr<MemFileNode> node, std::string path, bool writable)
      : node_(std::move(node)), path_(std::move(path)), writable_(writable) {}

  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    MutexLock lock(node_->mutex);
    return node_->bytes.Read(offset, bytes, out);
  }
  absl::Status Write(uint64_t offset, std::string_view bytes) override {
    if (!writable_) return ErrnoStatus("write", path_, EBADF);
    MutexLock lock(node_->mutex);
    return Answer("write", path_, node_->bytes.Write(offset, bytes));
  }
  absl::Status Sync() override { return absl::OkStatus(); }
  absl::Status Truncate(uint64_t bytes) override {
    if (!writable_) return ErrnoStatus("ftruncate", path_, EINVAL);
    MutexLock lock(node_->mutex);
    return Answer("ftruncate", path_, node_->bytes.Resize(bytes));
  }
  absl::Status Allocate(uint64_t bytes) override {
    if (!writable_) return ErrnoStatus("fallocate", path_, EBADF);
    MutexLock lock(node_->mutex);
    if (bytes <= node_->bytes.size()) return absl::OkStatus();
    return Answer("fallocate", path_, node_->bytes.Resize(bytes));
  }
  absl::StatusOr<uint64_t> Size() const override {
    MutexLock lock(node_->mutex);
    return node_->bytes.size();
  }
  const std::string& path() const override { return path_; }

 private:
  const std::shared_ptr<MemFileNode> node_;
  const std::string path_;
  const bool writable_;
};

std::shared_ptr<MemFileNode> AsFile(const MemNodePointer& node) {
  return std::static_pointer_cast<MemFileNode>(node);
}

FileIdentity IdentityOf(const MemNodePointer& node) {
  return {reinterpret_cast<uintptr_t>(node.get()), 0};
}

}  // namespace

class MemFileSystem::HeldLock final : public FileLock {
 public:
  HeldLock(std::shared_ptr<Shared> shared, MemNodePointer node)
      : shared_(std::move(shared)), node_(std::move(node)) {}
  ~HeldLock() override {
    MutexLock lock(shared_->mutex);
    shared_->locks.Release(IdentityOf(node_));
  }

 private:
  const std::shared_ptr<Shared> shared_;
  const MemNodePointer node_;  // keeps the address, which identifies the node, from being reused
};

MemFileSystem::MemFileSystem()
    : shared_(std::make_shared<Shared>(std::make_shared<MemNode>(FileKind::kDirectory))) {}

absl::StatusOr<std::unique_ptr<File>> MemFileSystem::Open(const std::string& path, OpenMode mode) {
  MutexLock lock(shared_->mutex);
  if (mode != OpenMode::kCreate && mode != OpenMode::kCreatePrivate) {
    STELE_ASSIGN_OR_RETURN(const MemTree::Place place, shared_->tree.FindFile("open", path));
    return std::unique_ptr<File>(
        new MemFile(AsFile(place.node), path, mode == OpenMode::kReadWrite));
  }
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, shared_->tree.FindVacant("open", path));
  auto node = std::make_shared<MemFileNode>();
  MemTree::Apply({{place.directory, place.name, node}});
  return std::unique_ptr<File>(new MemFile(std::move(node), path, true));
}

absl::Status MemFileSystem::Rename(const std::string& from, const std::string& to) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(const std::vector<EntryChange> changes,
                         shared_->tree.PlanRename(from, to));
  MemTree::Apply(changes);
  return absl::OkStatus();
}

absl::Status MemFileSystem::Remove(const std::string& path) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(const std::vector<EntryChange> changes, shared_->tree.PlanRemove(path));
  MemTree::Apply(changes);
  return absl::OkStatus();
}

absl::Status MemFileSystem::Link(const std::string& from, const std::string& to) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(const std::vector<EntryChange> changes, shared_->tree.PlanLink(from, to));
  MemTree::Apply(changes);
  return absl::OkStatus();
}

absl::Status MemFileSystem::SyncDirectory(const std::string& directory) {
  MutexLock lock(shared_->mutex);
  return shared_->tree.FindDirectory("open directory", directory).status();
}

absl::Status MemFileSystem::CreateDirectory(const std::string& directory) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, shared_->tree.FindVacant("mkdir", directory));
  MemTree::Apply({{place.directory, place.name, std::make_shared<MemNode>(FileKind::kDirectory)}});
  return absl::OkStatus();
}

absl::Status MemFileSystem::RemoveDirectory(const std::string& directory) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(const std::vector<EntryChange> changes,
                         shared_->tree.PlanRemoveDirectory(directory));
  MemTree::Apply(changes);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> MemFileSystem::List(const std::string& directory) {
  MutexLock lock(shared_->mutex);
  return shared_->tree.List(directory);
}

absl::StatusOr<FileInfo> MemFileSystem::Stat(const std::string& path) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, shared_->tree.FindExisting("stat", path));
  FileInfo info{place.node->kind, 0};
  if (info.kind == FileKind::kFile) {
    const std::shared_ptr<MemFileNode> file = AsFile(place.node);
    MutexLock file_lock(file->mutex);
    info.bytes = file->bytes.size();
  }
  return info;
}

absl::StatusOr<std::unique_ptr<FileLock>> MemFileSystem::Lock(const std::string& path,
                                                              LockMode mode,
                                                              std::string_view holder) {
  MutexLock lock(shared_->mutex);
  STELE_ASSIGN_OR_RETURN(MemTree::Place place, shared_->tree.Find("open", path));
  if (place.node == nullptr) {
    place.node = std::make_shared<MemFileNode>();
    MemTree::Apply({{place.directory, place.name, place.node}});
  }
  if (place.node->kind != FileKind::kFile)
    return FailedPrecondition("open {}: not a regular file", path);
  STELE_RETURN_IF_ERROR(shared_->locks.Acquire(IdentityOf(place.node), mode, path, holder));
  auto held = std::make_unique<HeldLock>(shared_, place.node);
  if (mode == LockMode::kExclusive) {
    const std::shared_ptr<MemFileNode> file = AsFile(place.node);
    MutexLock file_lock(file->mutex);
    // The text is for people; if memory is refused, the lock is held without it.
    if (file->bytes.Resize(0) == 0) file->bytes.Write(0, holder);
  }
  return std::unique_ptr<FileLock>(std::move(held));
}

}  // namespace stele::internal

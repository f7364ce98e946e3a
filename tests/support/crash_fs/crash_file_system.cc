#include "support/crash_fs/crash_file_system.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/invariant.h"
#include "base/status.h"
#include "support/crash_fs/crash_image.h"

namespace stele::internal {
namespace {

constexpr size_t kRemovedCountMax = 4;

FileIdentity IdentityOf(const MemNode& node) { return {reinterpret_cast<uintptr_t>(&node), 0}; }

std::string ReadAll(const ChunkedBytes& bytes) {
  std::string content(bytes.size(), '\0');
  bytes.Read(0, content.size(), content.data());
  return content;
}

uint64_t BytesBelow(const MemNodePointer& node, std::set<const MemNode*>* seen) {
  if (!seen->insert(node.get()).second) return 0;
  uint64_t bytes = AsCrashNode(node)->live.size();
  for (const auto& [name, child] : node->entries) bytes += BytesBelow(child, seen);
  return bytes;
}

}  // namespace

class CrashFileSystem::OpenFile final : public File {
 public:
  OpenFile(CrashFileSystem* file_system, CrashNodePointer node, std::string path, bool writable)
      : file_system_(*file_system),
        node_(std::move(node)),
        path_(std::move(path)),
        writable_(writable) {}
  ~OpenFile() override { file_system_.Close(node_); }

  absl::StatusOr<size_t> Read(uint64_t offset, size_t bytes, char* out) const override {
    MutexLock lock(file_system_.mutex_);
    CrashFaults::Outcome outcome;
    STELE_RETURN_IF_ERROR(file_system_.Begin(CallKind::kRead, "read", path_, &outcome));
    return node_->live.Read(offset, outcome.partial ? bytes / 2 : bytes, out);
  }
  absl::Status Write(uint64_t offset, std::string_view bytes) override {
    if (!writable_) return ErrnoStatus("write", path_, EBADF);
    MutexLock lock(file_system_.mutex_);
    return file_system_.WriteLocked(*node_, path_, offset, bytes);
  }
  absl::Status Sync() override {
    MutexLock lock(file_system_.mutex_);
    return file_system_.SyncLocked(*node_, path_);
  }
  absl::Status Truncate(uint64_t bytes) override {
    if (!writable_) return ErrnoStatus("ftruncate", path_, EINVAL);
    MutexLock lock(file_system_.mutex_);
    STELE_RETURN_IF_ERROR(file_system_.Begin(CallKind::kTruncate, "ftruncate", path_));
    return file_system_.ResizeLocked(*node_, "ftruncate", path_, bytes);
  }
  absl::Status Allocate(uint64_t bytes) override {
    if (!writable_) return ErrnoStatus("fallocate", path_, EBADF);
    MutexLock lock(file_system_.mutex_);
    STELE_RETURN_IF_ERROR(file_system_.Begin(CallKind::kAllocate, "fallocate", path_));
    if (bytes <= node_->live.size()) return absl::OkStatus();
    return file_system_.ResizeLocked(*node_, "fallocate", path_, bytes);
  }
  absl::StatusOr<uint64_t> Size() const override {
    MutexLock lock(file_system_.mutex_);
    STELE_RETURN_IF_ERROR(file_system_.Begin(CallKind::kSize, "fstat", path_));
    return node_->live.size();
  }
  const std::string& path() const override { return path_; }

 private:
  CrashFileSystem& file_system_;
  const CrashNodePointer node_;
  const std::string path_;
  const bool writable_;
};

class CrashFileSystem::HeldLock final : public FileLock {
 public:
  HeldLock(CrashFileSystem* file_system, MemNodePointer node)
      : file_system_(*file_system), node_(std::move(node)) {}
  ~HeldLock() override {
    MutexLock lock(file_system_.mutex_);
    file_system_.locks_.Release(IdentityOf(*node_));
  }

 private:
  CrashFileSystem& file_system_;
  const MemNodePointer node_;  // keeps the address, which identifies the node, from being reused
};

CrashFileSystem::CrashFileSystem()
    : CrashFileSystem(std::make_shared<CrashNode>(FileKind::kDirectory)) {}

CrashFileSystem::CrashFileSystem(CrashNodePointer root) : tree_(std::move(root)) {
  std::set<const MemNode*> seen;
  used_bytes_ = BytesBelow(tree_.root(), &seen);
}

CrashFileSystem::~CrashFileSystem() = default;

absl::Status CrashFileSystem::Begin(CallKind kind, std::string_view call, const std::string& path,
                                    CrashFaults::Outcome* outcome) {
  const CrashFaults::Outcome counted = faults_.Count(kind, path);
  if (counted.crashed) return Unavailable("crashed");
  if (outcome != nullptr) *outcome = counted;
  return counted.error_number == 0 ? absl::OkStatus()
                                   : ErrnoStatus(call, path, counted.error_number);
}

absl::StatusOr<std::unique_ptr<File>> CrashFileSystem::Open(const std::string& path,
                                                            OpenMode mode) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(
      Begin(mode == OpenMode::kCreate ? CallKind::kCreate : CallKind::kOpen, "open", path));
  CrashNodePointer node;
  if (mode == OpenMode::kCreate) {
    STELE_ASSIGN_OR_RETURN(const MemTree::Place place, tree_.FindVacant("open", path));
    node = std::make_shared<CrashNode>(FileKind::kFile);
    ChangeEntries({{place.directory, place.name, node}});
  } else {
    STELE_ASSIGN_OR_RETURN(const MemTree::Place place, tree_.FindFile("open", path));
    node = AsCrashNode(place.node);
  }
  ++node->open_count;
  return std::unique_ptr<File>(new OpenFile(
      this, std::move(node), path, mode == OpenMode::kReadWrite || mode == OpenMode::kCreate));
}

absl::Status CrashFileSystem::Rename(const std::string& from, const std::string& to) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kRename, "rename", from));
  STELE_ASSIGN_OR_RETURN(std::vector<EntryChange> changes, tree_.PlanRename(from, to));
  ChangeEntries(std::move(changes));
  return absl::OkStatus();
}

absl::Status CrashFileSystem::Remove(const std::string& path) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kRemove, "unlink", path));
  STELE_ASSIGN_OR_RETURN(std::vector<EntryChange> changes, tree_.PlanRemove(path));
  ChangeEntries(std::move(changes));
  return absl::OkStatus();
}

absl::Status CrashFileSystem::Link(const std::string& from, const std::string& to) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kLink, "link", to));
  STELE_ASSIGN_OR_RETURN(std::vector<EntryChange> changes, tree_.PlanLink(from, to));
  ChangeEntries(std::move(changes));
  return absl::OkStatus();
}

absl::Status CrashFileSystem::SyncDirectory(const std::string& directory) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kSyncDirectory, "fsync", directory));
  STELE_ASSIGN_OR_RETURN(const MemNodePointer node,
                         tree_.FindDirectory("open directory", directory));
  SaveEntries(node, "");
  return absl::OkStatus();
}

absl::Status CrashFileSystem::CreateDirectory(const std::string& directory) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kCreateDirectory, "mkdir", directory));
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, tree_.FindVacant("mkdir", directory));
  ChangeEntries({{place.directory, place.name, std::make_shared<CrashNode>(FileKind::kDirectory)}});
  return absl::OkStatus();
}

absl::Status CrashFileSystem::RemoveDirectory(const std::string& directory) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kRemoveDirectory, "rmdir", directory));
  STELE_ASSIGN_OR_RETURN(std::vector<EntryChange> changes, tree_.PlanRemoveDirectory(directory));
  ChangeEntries(std::move(changes));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> CrashFileSystem::List(const std::string& directory) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kList, "opendir", directory));
  return tree_.List(directory);
}

absl::StatusOr<FileInfo> CrashFileSystem::Stat(const std::string& path) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kStat, "stat", path));
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, tree_.FindExisting("stat", path));
  return FileInfo{place.node->kind, AsCrashNode(place.node)->live.size()};
}

absl::StatusOr<uint64_t> CrashFileSystem::FreeBytes(const std::string& /*directory*/) {
  MutexLock lock(mutex_);
  if (faults_.crashed()) return Unavailable("crashed");
  constexpr uint64_t kLargeDisk = uint64_t{1} << 40;
  if (hides_capacity_) return kLargeDisk - std::min(kLargeDisk, used_bytes_);
  if (capacity_bytes_ == UINT64_MAX) return UINT64_MAX;
  return capacity_bytes_ - std::min(capacity_bytes_, used_bytes_);
}

absl::StatusOr<std::unique_ptr<FileLock>> CrashFileSystem::Lock(const std::string& path,
                                                                LockMode mode,
                                                                std::string_view holder) {
  MutexLock lock(mutex_);
  STELE_RETURN_IF_ERROR(Begin(CallKind::kLock, "lock", path));
  STELE_ASSIGN_OR_RETURN(MemTree::Place place, tree_.Find("open", path));
  if (place.node == nullptr) {
    place.node = std::make_shared<CrashNode>(FileKind::kFile);
    ChangeEntries({{place.directory, place.name, place.node}});
  }
  if (place.node->kind != FileKind::kFile)
    return FailedPrecondition("open {}: not a regular file", path);
  STELE_RETURN_IF_ERROR(locks_.Acquire(IdentityOf(*place.node), mode, path, holder));
  if (mode == LockMode::kExclusive) {
    // As in POSIX, the text is best effort: a full disk does not prevent locking.
    CrashNode& file = *AsCrashNode(place.node);
    if (ResizeLocked(file, "ftruncate", path, 0).ok()) StoreWithinCapacity(file, 0, holder);
  }
  return std::unique_ptr<FileLock>(new HeldLock(this, std::move(place.node)));
}

void CrashFileSystem::ChangeEntries(std::vector<EntryChange> changes) {
  if (changes.empty()) return;
  std::vector<MemNodePointer> replaced;
  for (const EntryChange& change : changes) {
    const auto found = change.directory->entries.find(change.name);
    if (found != change.directory->entries.end()) replaced.push_back(found->second);
  }
  MemTree::Apply(changes);
  for (const MemNodePointer& node : replaced) {
    if (node->kind != FileKind::kFile || node->link_count != 0) continue;
    RememberRemoved(*AsCrashNode(node));
    FreeIfUnreachable(*AsCrashNode(node));
  }
  pending_entries_.push_back({faults_.calls(), std::move(changes)});
}

void CrashFileSystem::SaveEntries(const MemNodePointer& directory, std::string_view name) {
  std::set<std::pair<const MemNode*, std::string>> saved_names;
  std::vector<bool> saved(pending_entries_.size(), false);
  // Backwards, since an operation needs the earlier ones on its names.
  for (size_t i = pending_entries_.size(); i-- > 0;) {
    const std::vector<EntryChange>& changes = pending_entries_[i].changes;
    saved[i] = name.empty() && changes.back().directory == directory;
    for (const EntryChange& change : changes) {
      if (change.directory == directory && change.name == name) saved[i] = true;
      if (saved_names.count({change.directory.get(), change.name}) != 0) saved[i] = true;
    }
    if (!saved[i]) continue;
    for (const EntryChange& change : changes)
      saved_names.insert({change.directory.get(), change.name});
  }
  std::vector<PendingEntries> rest;
  for (size_t i = 0; i < pending_entries_.size(); ++i) {
    if (!saved[i]) {
      rest.push_back(std::move(pending_entries_[i]));
      continue;
    }
    for (const EntryChange& change : pending_entries_[i].changes) {
      auto& names = AsCrashNode(change.directory)->synced_entries;
      if (change.node == nullptr) {
        names.erase(change.name);
      } else {
        names[change.name] = change.node;
      }
    }
  }
  pending_entries_ = std::move(rest);
}

absl::Status CrashFileSystem::WriteLocked(CrashNode& file, const std::string& path, uint64_t offset,
                                          std::string_view bytes) {
  CrashFaults::Outcome outcome;
  if (const absl::Status begun = Begin(CallKind::kWrite, "write", path, &outcome); !begun.ok()) {
    if (outcome.partial || outcome.whole)
      StoreWithinCapacity(file, offset,
                          bytes.substr(0, outcome.whole ? bytes.size() : bytes.size() / 2));
    return begun;
  }
  const int error_number = StoreWithinCapacity(file, offset, bytes);
  return error_number == 0 ? absl::OkStatus() : ErrnoStatus("write", path, error_number);
}

int CrashFileSystem::StoreWithinCapacity(CrashNode& file, uint64_t offset, std::string_view bytes) {
  const uint64_t free_bytes = capacity_bytes_ - std::min(capacity_bytes_, used_bytes_);
  const uint64_t size = file.live.size();
  const bool fits = offset <= size || offset - size <= free_bytes;
  const uint64_t room = !fits            ? 0
                        : offset <= size ? size - offset + std::min(free_bytes, UINT64_MAX - size)
                                         : free_bytes - (offset - size);
  const uint64_t room_in_file = file_bytes_max_ - std::min(file_bytes_max_, offset);
  const std::string_view stored =
      bytes.substr(0, std::min<uint64_t>({bytes.size(), room, room_in_file}));
  if (!stored.empty()) {
    if (const int error_number = file.live.Write(offset, stored); error_number != 0)
      return error_number;
    used_bytes_ += file.live.size() - size;
    RecordWrite(file, offset, stored);
  }
  if (stored.size() == bytes.size()) return 0;
  return stored.size() == room_in_file ? EFBIG : ENOSPC;
}

void CrashFileSystem::RecordWrite(CrashNode& file, uint64_t offset, std::string_view bytes) {
  PendingChange change{faults_.calls(), false, offset, std::string(bytes)};
  if (file.diverged) {
    // Whole pages are written back, including bytes left in them by a failed sync.
    const uint64_t page_bytes = CrashNode::kChunkBytes;
    const uint64_t end =
        std::min(file.live.size(), (change.end() + page_bytes - 1) / page_bytes * page_bytes);
    change.offset = offset / page_bytes * page_bytes;
    change.bytes.resize(end - change.offset);
    file.live.Read(change.offset, change.bytes.size(), change.bytes.data());
  }
  file.pending.push_back(std::move(change));
}

absl::Status CrashFileSystem::ResizeLocked(CrashNode& file, std::string_view call,
                                           const std::string& path, uint64_t bytes) {
  const uint64_t size = file.live.size();
  if (bytes > size && bytes > file_bytes_max_) return ErrnoStatus(call, path, EFBIG);
  if (bytes > size && bytes - size > capacity_bytes_ - std::min(capacity_bytes_, used_bytes_))
    return ErrnoStatus(call, path, ENOSPC);
  if (bytes < size) RememberRemoved(file);
  if (const int error_number = file.live.Resize(bytes); error_number != 0)
    return ErrnoStatus(call, path, error_number);
  used_bytes_ = used_bytes_ - size + bytes;
  if (bytes != size) file.pending.push_back({faults_.calls(), true, bytes, std::string()});
  return absl::OkStatus();
}

absl::Status CrashFileSystem::SyncLocked(CrashNode& file, const std::string& path) {
  CrashFaults::Outcome outcome;
  const absl::Status begun = Begin(CallKind::kSync, "fdatasync", path, &outcome);
  if (faults_.crashed()) return begun;
  const size_t saved_count = begun.ok()        ? file.pending.size()
                             : outcome.partial ? file.pending.size() / 2
                                               : 0;
  for (size_t i = 0; i < saved_count; ++i) ApplyChange(file.pending[i], &file.synced);
  file.pending.erase(file.pending.begin(),
                     file.pending.begin() + static_cast<std::ptrdiff_t>(saved_count));
  if (begun.ok() || failed_sync_ == FailedSync::kStaysDirty) return begun;
  if (failed_sync_ == FailedSync::kCleanNew) {
    file.diverged = file.diverged || !file.pending.empty();
  } else {
    used_bytes_ = used_bytes_ - file.live.size() + file.synced.size();
    file.live = file.synced.Share();
    file.diverged = false;
  }
  file.pending.clear();
  return begun;
}

void CrashFileSystem::Close(const CrashNodePointer& file) {
  MutexLock lock(mutex_);
  STELE_INVARIANT(file->open_count > 0);
  --file->open_count;
  FreeIfUnreachable(*file);
}

void CrashFileSystem::FreeIfUnreachable(CrashNode& file) {
  if (file.link_count == 0 && file.open_count == 0) used_bytes_ -= file.live.size();
}

void CrashFileSystem::RememberRemoved(CrashNode& file) {
  removed_.push_back(file.live.Share());
  if (removed_.size() > kRemovedCountMax) removed_.pop_front();
}

std::unique_ptr<CrashFileSystem> CrashFileSystem::Crash(const CrashPolicy& policy,
                                                        uint64_t seed) const {
  MutexLock lock(mutex_);
  const CrashNodePointer root = AsCrashNode(tree_.root());
  return std::unique_ptr<CrashFileSystem>(
      new CrashFileSystem(MakeCrashImage({root, pending_entries_, removed_}, policy, seed)));
}

uint64_t CrashFileSystem::calls() const {
  MutexLock lock(mutex_);
  return faults_.calls();
}

uint64_t CrashFileSystem::reads() const {
  MutexLock lock(mutex_);
  return faults_.reads();
}

void CrashFileSystem::SetCrashAtCall(uint64_t call) {
  MutexLock lock(mutex_);
  faults_.SetCrashAtCall(call);
}

bool CrashFileSystem::crashed() const {
  MutexLock lock(mutex_);
  return faults_.crashed();
}

void CrashFileSystem::FailCall(uint64_t call, Fault fault) {
  MutexLock lock(mutex_);
  faults_.FailCall(call, std::move(fault));
}

void CrashFileSystem::FailRead(uint64_t read, Fault fault) {
  MutexLock lock(mutex_);
  faults_.FailRead(read, std::move(fault));
}

void CrashFileSystem::FailKind(CallKind kind, uint64_t nth, Fault fault) {
  MutexLock lock(mutex_);
  faults_.FailKind(kind, nth, std::move(fault));
}

void CrashFileSystem::ClearFaults() {
  MutexLock lock(mutex_);
  faults_.Clear();
}

void CrashFileSystem::SetFailedSync(FailedSync mode) {
  MutexLock lock(mutex_);
  failed_sync_ = mode;
}

void CrashFileSystem::SetCapacity(uint64_t bytes) {
  MutexLock lock(mutex_);
  capacity_bytes_ = bytes;
  hides_capacity_ = false;
}

void CrashFileSystem::SetQuota(uint64_t bytes) {
  MutexLock lock(mutex_);
  capacity_bytes_ = bytes;
  hides_capacity_ = true;
}

void CrashFileSystem::SetFileBytesMax(uint64_t bytes) {
  MutexLock lock(mutex_);
  file_bytes_max_ = bytes;
}

uint64_t CrashFileSystem::used_bytes() const {
  MutexLock lock(mutex_);
  return used_bytes_;
}

absl::StatusOr<std::string> CrashFileSystem::ReadFile(const std::string& path) const {
  MutexLock lock(mutex_);
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, tree_.FindFile("read", path));
  return ReadAll(AsCrashNode(place.node)->live);
}

absl::Status CrashFileSystem::WriteFile(const std::string& path, std::string_view bytes) {
  MutexLock lock(mutex_);
  STELE_ASSIGN_OR_RETURN(MemTree::Place place, tree_.Find("write", path));
  if (place.node == nullptr) {
    place.node = std::make_shared<CrashNode>(FileKind::kFile);
    ChangeEntries({{place.directory, place.name, place.node}});
  }
  if (place.node->kind != FileKind::kFile)
    return FailedPrecondition("write {}: not a regular file", path);
  SaveEntries(place.directory, place.name);
  CrashNode& file = *AsCrashNode(place.node);
  used_bytes_ = used_bytes_ - file.live.size() + bytes.size();
  file.live = ChunkedBytes(CrashNode::kChunkBytes);
  file.pending.clear();
  file.diverged = false;
  const int error_number = file.live.Write(0, bytes);
  file.synced = file.live.Share();
  return error_number == 0 ? absl::OkStatus() : ErrnoStatus("write", path, error_number);
}

absl::Status CrashFileSystem::FlipBit(const std::string& path, uint64_t offset, int bit) {
  MutexLock lock(mutex_);
  STELE_ASSIGN_OR_RETURN(const MemTree::Place place, tree_.FindFile("flip", path));
  CrashNode& file = *AsCrashNode(place.node);
  if (offset >= file.live.size() || bit < 0 || bit > 7)
    return InvalidArgument("flip {}: no bit {} at {}", path, bit, offset);
  const auto mask = static_cast<char>(1 << bit);
  for (ChunkedBytes* bytes : {&file.live, &file.synced}) {
    char byte;
    if (bytes->Read(offset, 1, &byte) == 0) continue;
    byte = static_cast<char>(byte ^ mask);
    bytes->Write(offset, std::string_view(&byte, 1));
  }
  for (PendingChange& change : file.pending) {
    if (offset >= change.offset && offset < change.end())
      change.bytes[offset - change.offset] ^= mask;
  }
  return absl::OkStatus();
}

}  // namespace stele::internal

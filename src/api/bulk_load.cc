#include "stele/bulk_load.h"

#include <utility>

#include "api/backend.h"
#include "base/status.h"

namespace stele {
inline namespace v0 {
namespace {

absl::Status Over() {
  return internal::FailedPrecondition("bulk load: an empty handle, or already finished or aborted");
}

}  // namespace

BulkLoad::BulkLoad() : error_(Over()) {}
BulkLoad::BulkLoad(std::unique_ptr<internal::BulkLoadBackend> backend)
    : backend_(std::move(backend)), error_(Over()) {}
BulkLoad::BulkLoad(absl::Status error) : error_(std::move(error)) {}
BulkLoad::BulkLoad(BulkLoad&& other) noexcept
    : backend_(std::move(other.backend_)), error_(std::exchange(other.error_, Over())) {}
BulkLoad& BulkLoad::operator=(BulkLoad&& other) noexcept {
  std::unique_ptr<internal::BulkLoadBackend> backend = std::move(other.backend_);
  internal::DestroyBackend(&backend_);
  backend_ = std::move(backend);
  error_ = std::exchange(other.error_, Over());
  return *this;
}
BulkLoad::~BulkLoad() { internal::DestroyBackend(&backend_); }

absl::Status BulkLoad::Add(const RowMutation& mutation) {
  if (backend_ == nullptr) return error_;
  STELE_RETURN_IF_ERROR(backend_->CheckProcess());
  return backend_->Add(mutation);
}

absl::Status BulkLoad::Finish() {
  if (backend_ == nullptr) return error_;
  STELE_RETURN_IF_ERROR(backend_->CheckProcess());
  const std::unique_ptr<internal::BulkLoadBackend> backend = std::move(backend_);
  return backend->Finish();
}

void BulkLoad::Abort() {
  if (backend_ == nullptr || !backend_->IsOfThisProcess()) return;
  const std::unique_ptr<internal::BulkLoadBackend> backend = std::move(backend_);
  backend->Abort();
}

}  // namespace v0
}  // namespace stele

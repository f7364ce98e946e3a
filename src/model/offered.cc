#include "model/offered.h"

#include "base/status.h"
#include "model/mutation_ops.h"

namespace stele::internal {

absl::Status CheckOffered(const FamilySchema& family) {
  if (family.value_type == ValueType::kBytes) return absl::OkStatus();
  return Unimplemented("family \"{}\": an aggregate value type is not offered yet", family.name);
}

absl::Status CheckOffered(const Schema& schema) {
  for (const FamilySchema& family : schema.families()) STELE_RETURN_IF_ERROR(CheckOffered(family));
  return absl::OkStatus();
}

absl::Status CheckOffered(const RowMutation& mutation) {
  MutationOpReader reader(mutation.encoded_ops());
  MutationOp op;
  while (reader.Next(&op)) {
    if (op.kind == MutationOp::Kind::kAddInt || op.kind == MutationOp::Kind::kAddItem) return Unimplemented("AddToCell is not offered yet");
    if (op.kind == MutationOp::Kind::kMerge) return Unimplemented("MergeToCell is not offered yet");
  }
  return absl::OkStatus();
}

absl::Status CheckOffered(const WriteOptions& options) {
  if (options.idempotency_token.empty()) return absl::OkStatus();
  return Unimplemented("WriteOptions.idempotency_token is not offered yet");
}

}  // namespace stele::internal

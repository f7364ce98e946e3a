#include "steled/state/iam_policies.h"

#include <string_view>

#include "steled/base/errors.h"
#include "steled/state/update_mask.h"

namespace stele::server {
namespace {

// The etag of a policy that was never set.
constexpr char kFirstEtag[] = "0";

absl::Status CheckResource(const std::string& resource) {
  constexpr std::string_view kProjects = "projects/";
  if (resource.starts_with(kProjects) &&
      resource.find("/instances/", kProjects.size()) != std::string::npos) {
    return absl::OkStatus();
  }
  return InvalidArgument(
      "Invalid resource name \"{}\": expected projects/PROJECT/instances/INSTANCE, or what is "
      "below one",
      resource);
}

}  // namespace

absl::StatusOr<google::iam::v1::Policy> IamPolicies::Get(
    const google::iam::v1::GetIamPolicyRequest& request) const {
  STELED_RETURN_IF_ERROR(CheckResource(request.resource()));
  STELED_ASSIGN_OR_RETURN(std::optional<google::iam::v1::Policy> policy,
                          records_.Get<google::iam::v1::Policy>(RecordKey(request.resource())));
  if (policy.has_value()) return *std::move(policy);
  google::iam::v1::Policy none;
  none.set_etag(kFirstEtag);
  return none;
}

absl::StatusOr<google::iam::v1::Policy> IamPolicies::Set(
    const google::iam::v1::SetIamPolicyRequest& request) {
  google::iam::v1::GetIamPolicyRequest present;
  present.set_resource(request.resource());
  const std::lock_guard lock(mutex_);
  STELED_ASSIGN_OR_RETURN(const google::iam::v1::Policy before, Get(present));
  if (!request.policy().etag().empty() && request.policy().etag() != before.etag()) {
    return MakeStatus(absl::StatusCode::kAborted,
                      "The policy was changed since its etag was read; read it again");
  }
  google::iam::v1::Policy policy = request.policy();
  policy.set_etag(NextEtag(before.etag()));
  STELED_RETURN_IF_ERROR(records_.Put(RecordKey(request.resource()), policy));
  return policy;
}

absl::StatusOr<google::iam::v1::TestIamPermissionsResponse> IamPolicies::Test(
    const google::iam::v1::TestIamPermissionsRequest& request) const {
  STELED_RETURN_IF_ERROR(CheckResource(request.resource()));
  google::iam::v1::TestIamPermissionsResponse response;
  *response.mutable_permissions() = request.permissions();
  return response;
}

absl::Status IamPolicies::Forget(const std::string& resource) {
  Records::Changes changes;
  STELED_RETURN_IF_ERROR(records_.AddDeletions(RecordKey(resource) + "/", &changes));
  STELED_ASSIGN_OR_RETURN(const auto policy,
                          records_.Get<google::iam::v1::Policy>(RecordKey(resource)));
  if (policy.has_value()) changes.emplace_back(RecordKey(resource), std::nullopt);
  return records_.Apply(changes);
}

}  // namespace stele::server

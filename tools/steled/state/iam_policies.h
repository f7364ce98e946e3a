// steled/state/iam_policies.h: stores the policies of instances, tables and backups. They are never
// enforced.
//
// Clients that set a policy read it back, also after a restart. Every client that can connect can
// do everything.
//
// Errors:    INVALID_ARGUMENT for a resource's name; ABORTED for an etag that is not the present
//            one.
// Threads:   thread-safe.
// Source:    google.iam.v1.IAMPolicy.
#pragma once

#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "remote/wire/iam.pb.h"
#include "steled/state/records.h"

namespace stele::server {

class IamPolicies {
 public:
  // `records` must outlive this object.
  explicit IamPolicies(Records* records) : records_(*records) {}

  // Returns an empty policy if none was set.
  absl::StatusOr<google::iam::v1::Policy> Get(
      const google::iam::v1::GetIamPolicyRequest& request) const;
  absl::StatusOr<google::iam::v1::Policy> Set(const google::iam::v1::SetIamPolicyRequest& request);
  // Returns all permissions in the request.
  absl::StatusOr<google::iam::v1::TestIamPermissionsResponse> Test(
      const google::iam::v1::TestIamPermissionsRequest& request) const;

  // Removes the policies of a deleted resource and of resources below it.
  absl::Status Forget(const std::string& resource);
  // Returns the key of a resource's record. With "/" appended, this is the prefix of the keys of
  // resources below it.
  static std::string RecordKey(const std::string& resource) { return "policy/" + resource; }

 private:
  Records& records_;
  std::mutex mutex_;  // held from reading an etag to writing the next one
};

}  // namespace stele::server

// steled/iam_policies.h: policies of instances, tables and backups: remembered, and never asked.
//
// Clients and tools that set a policy find it again, also after a restart. Nothing is kept from anybody by it: whoever can connect can do
// everything.
//
// Errors:    INVALID_ARGUMENT for a resource's name; ABORTED for an etag that is not the present one.
// Threads:   thread-safe.
// Source:    google.iam.v1.IAMPolicy.
#pragma once

#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "records.h"
#include "wire/iam.pb.h"

namespace stele::server {

class IamPolicies {
 public:
  // It has to outlive this.
  explicit IamPolicies(Records* records) : records_(*records) {}

  // An empty one where none was set.
  absl::StatusOr<google::iam::v1::Policy> Get(const google::iam::v1::GetIamPolicyRequest& request) const;
  absl::StatusOr<google::iam::v1::Policy> Set(const google::iam::v1::SetIamPolicyRequest& request);
  // All that were asked for.
  absl::StatusOr<google::iam::v1::TestIamPermissionsResponse> Test(const google::iam::v1::TestIamPermissionsRequest& request) const;

  // Those of a resource that is gone, and of what was below it.
  absl::Status Forget(const std::string& resource);
  // The key of its record; with a slash behind it, what those of what is below it begin with.
  static std::string RecordKey(const std::string& resource) { return "policy/" + resource; }

 private:
  Records& records_;
  std::mutex mutex_;  // held from reading an etag to writing the next
};

}  // namespace stele::server

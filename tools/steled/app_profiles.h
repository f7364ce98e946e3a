// steled/app_profiles.h: app profiles of instances: kept for those who manage them.
//
// They route nothing: there is one server, and requests may name any profile. Every instance has one called "default".
//
// Errors:    Bigtable's codes: INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS; ABORTED for an etag that is not the present one;
// FAILED_PRECONDITION
//            for deleting the default.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "records.h"
#include "wire/instance_admin.pb.h"

namespace stele::server {

class AppProfiles {
 public:
  // It has to outlive this.
  explicit AppProfiles(Records* records) : records_(*records) {}

  absl::StatusOr<google::bigtable::admin::v2::AppProfile> Create(const google::bigtable::admin::v2::CreateAppProfileRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::AppProfile> Get(const std::string& name) const;
  // In the order of their ids. "projects/P/instances/-": those that were made, of all instances.
  absl::Status List(const google::bigtable::admin::v2::ListAppProfilesRequest& request,
                    google::bigtable::admin::v2::ListAppProfilesResponse* response) const;
  absl::StatusOr<google::bigtable::admin::v2::AppProfile> Update(const google::bigtable::admin::v2::UpdateAppProfileRequest& request);
  absl::Status Delete(const std::string& name);
  // What the keys of the records of an instance's ("projects/P/instances/I") begin with.
  static std::string RecordPrefix(const std::string& instance_name);

 private:
  Records& records_;
  std::mutex mutex_;  // held from reading to writing
};

}  // namespace stele::server

// steled/state/app_profiles.h: stores the app profiles of instances.
//
// There is one server, so a profile only decides whether single-row transactions are allowed.
// Requests may name a profile that does not exist. Every instance has one called "default".
//
// Errors:    Bigtable's codes: INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS; ABORTED for an etag
//            that is not the present one; FAILED_PRECONDITION for deleting the default, and for a
//            single-row transaction that the profile forbids.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/instance_admin.pb.h"
#include "steled/state/records.h"

namespace stele::server {

// The cluster of an instance that CreateInstance did not create.
inline constexpr std::string_view kOnlyClusterId = "local";

class AppProfiles {
 public:
  // `records` must outlive this object.
  explicit AppProfiles(Records* records) : records_(*records) {}

  absl::StatusOr<google::bigtable::admin::v2::AppProfile> Create(
      const google::bigtable::admin::v2::CreateAppProfileRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::AppProfile> Get(const std::string& name) const;
  // Returns FAILED_PRECONDITION if the profile forbids CheckAndMutateRow and ReadModifyWriteRow:
  // with multi-cluster routing, or without allow_transactional_writes. An empty id is "default". A
  // profile that does not exist forbids nothing.
  absl::Status CheckTransactions(std::string_view table_name, const std::string& profile_id) const;
  // Returns the record of the default profile of an instance with these clusters.
  static std::pair<std::string, std::string> DefaultRecord(
      const std::string& instance_name, std::span<const std::string> cluster_ids);
  // Lists profiles by id. For "projects/P/instances/-", lists the created profiles of all
  // instances.
  absl::Status List(const google::bigtable::admin::v2::ListAppProfilesRequest& request,
                    google::bigtable::admin::v2::ListAppProfilesResponse* response) const;
  absl::StatusOr<google::bigtable::admin::v2::AppProfile> Update(
      const google::bigtable::admin::v2::UpdateAppProfileRequest& request);
  absl::Status Delete(const std::string& name);
  // The prefix of the keys of an instance's records ("projects/P/instances/I").
  static std::string RecordPrefix(const std::string& instance_name);

 private:
  Records& records_;
  std::mutex mutex_;  // held from reading to writing
};

}  // namespace stele::server

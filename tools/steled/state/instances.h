// steled/state/instances.h: stores instances and their clusters.
//
// An instance exists as soon as it is named, with one cluster, "local". An instance that
// CreateInstance created has the attributes and clusters of that request. Clusters are only names,
// since there is one server.
//
// Format:    records "instance/projects/P/instances/I" and
//            "cluster/projects/P/instances/I/clusters/C". An instance that is being deleted also
//            has "deleting/projects/P/instances/I", an Instance with its name, until all of it is
//            deleted.
// Errors:    Bigtable's codes: INVALID_ARGUMENT for names and masks, NOT_FOUND, ALREADY_EXISTS;
//            FAILED_PRECONDITION for deleting the last cluster, or an instance with a protected
//            table or a backup.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "remote/wire/instance_admin.pb.h"
#include "steled/state/open_tables.h"
#include "steled/state/records.h"

namespace stele::server {

class Instances {
 public:
  // Returns whether an instance or a cluster of this name has a backup.
  using HasBackups = std::function<bool(std::string_view name)>;

  // `tables` and `records` must outlive this object. With `is_strict` an instance exists only if
  // CreateInstance created it, or if it has tables.
  Instances(OpenTables* tables, Records* records, HasBackups has_backups, bool is_strict)
      : tables_(*tables),
        records_(*records),
        has_backups_(std::move(has_backups)),
        is_strict_(is_strict) {}

  // Returns NOT_FOUND for an instance that does not exist; without `is_strict` every instance
  // exists.
  absl::Status CheckExists(const std::string& name) const;
  // The same for the instance in the name of a resource, which may be the instance itself. Returns
  // OK for a name without an instance.
  absl::Status CheckExistsFor(const std::string& resource) const;

  absl::StatusOr<google::bigtable::admin::v2::Instance> Create(
      const google::bigtable::admin::v2::CreateInstanceRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::Instance> Get(const std::string& name) const;
  // Returns a project's instances that were created or have tables, by name.
  absl::StatusOr<std::vector<google::bigtable::admin::v2::Instance>> List(
      const std::string& project_name) const;
  absl::StatusOr<google::bigtable::admin::v2::Instance> Update(
      const google::bigtable::admin::v2::PartialUpdateInstanceRequest& request);
  // Deletes an instance with its tables, clusters, app profiles and policies. First makes a mark
  // durable, so that the next start completes the deletion after a crash. If it fails after that,
  // the tables are not visible, none can be created, and the call may be repeated.
  absl::Status Delete(const std::string& name);
  // Completes deletions that an earlier process began. Call it first.
  absl::Status FinishDeletions();

  absl::StatusOr<google::bigtable::admin::v2::Cluster> CreateCluster(
      const google::bigtable::admin::v2::CreateClusterRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::Cluster> GetCluster(const std::string& name) const;
  // Returns at least one cluster; for "projects/P/instances/-" those of all instances that List
  // returns.
  absl::StatusOr<std::vector<google::bigtable::admin::v2::Cluster>> ListClusters(
      const std::string& instance_name) const;
  absl::StatusOr<google::bigtable::admin::v2::Cluster> UpdateCluster(
      const google::bigtable::admin::v2::PartialUpdateClusterRequest& request);
  absl::Status DeleteCluster(const std::string& name);

 private:
  absl::StatusOr<bool> IsKnown(const std::string& name) const;
  absl::Status CheckDeletable(const std::string& name, const std::string& stored_prefix) const;
  absl::Status FinishDeletion(const std::string& name);

  OpenTables& tables_;
  Records& records_;
  const HasBackups has_backups_;
  const bool is_strict_;
};

}  // namespace stele::server

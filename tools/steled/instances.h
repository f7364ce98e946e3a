// steled/instances.h: instances and their clusters: what is remembered of them.
//
// An instance is there as soon as it is named, with one cluster, "local". One that was made by CreateInstance has what was said of it then,
// and the clusters that it was given; they are names: there is one server.
//
// Format:    records "instance/projects/P/instances/I" and "cluster/projects/P/instances/I/clusters/C"; of an instance that is being
//            deleted "deleting/projects/P/instances/I", an Instance with its name, until all of it is gone.
// Errors:    Bigtable's codes: INVALID_ARGUMENT for names and masks, NOT_FOUND, ALREADY_EXISTS; FAILED_PRECONDITION for
//            deleting what holds a protected table or a backup, and the last cluster.
// Threads:   thread-safe.
// Source:    google.bigtable.admin.v2.BigtableInstanceAdmin.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backups.h"
#include "open_tables.h"
#include "records.h"
#include "wire/instance_admin.pb.h"

namespace stele::server {

class Instances {
 public:
  // All have to outlive this.
  Instances(OpenTables* tables, Records* records, const Backups* backups) : tables_(*tables), records_(*records), backups_(*backups) {}

  absl::StatusOr<google::bigtable::admin::v2::Instance> Create(const google::bigtable::admin::v2::CreateInstanceRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::Instance> Get(const std::string& name) const;
  // Those of a project that were made, or have tables, by name.
  absl::StatusOr<std::vector<google::bigtable::admin::v2::Instance>> List(const std::string& project_name) const;
  absl::StatusOr<google::bigtable::admin::v2::Instance> Update(const google::bigtable::admin::v2::PartialUpdateInstanceRequest& request);
  // With its tables, clusters, app profiles and policies. Once a mark is on disk it is gone: after a crash the next start does what is
  // left. After an error nobody sees its tables any more, none is made, and the call may be made again.
  absl::Status Delete(const std::string& name);
  // What a process left of deletions; before anything else.
  absl::Status FinishDeletions();

  absl::StatusOr<google::bigtable::admin::v2::Cluster> CreateCluster(const google::bigtable::admin::v2::CreateClusterRequest& request);
  absl::StatusOr<google::bigtable::admin::v2::Cluster> GetCluster(const std::string& name) const;
  // At least one; for "projects/P/instances/-" those of all instances that List has.
  absl::StatusOr<std::vector<google::bigtable::admin::v2::Cluster>> ListClusters(const std::string& instance_name) const;
  absl::StatusOr<google::bigtable::admin::v2::Cluster> UpdateCluster(
      const google::bigtable::admin::v2::PartialUpdateClusterRequest& request);
  absl::Status DeleteCluster(const std::string& name);

 private:
  absl::StatusOr<bool> IsKnown(const std::string& name) const;
  absl::Status CheckDeletable(const std::string& name, const std::string& stored_prefix) const;
  absl::Status FinishDeletion(const std::string& name);

  OpenTables& tables_;
  Records& records_;
  const Backups& backups_;
};

}  // namespace stele::server

#include "steled/state/instances.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "remote/wire/names.h"
#include "remote/wire/schema_translation.h"
#include "remote/wire/timestamps.h"
#include "steled/base/errors.h"
#include "steled/state/app_profiles.h"
#include "steled/state/iam_policies.h"
#include "steled/state/update_mask.h"

namespace stele::server {

using internal::BackupPrefix;
using internal::IsProtected;
using internal::StoredPrefix;
using internal::StoredProjectPrefix;
using internal::WireNow;
using internal::WireTableName;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr std::string_view kClusterLevel = "/clusters/";
constexpr std::string_view kAnyInstance = "/instances/-";
constexpr size_t kLabelsMax = 64;
constexpr int kCpuPercentMin = 10;
constexpr int kCpuPercentMax = 80;

std::string InstanceKey(const std::string& name) { return "instance/" + name; }
std::string DeletionKey(const std::string& name) { return "deleting/" + name; }
std::string ClusterKey(const std::string& name) { return "cluster/" + name; }
std::string ClusterPrefix(const std::string& instance_name) {
  return ClusterKey(instance_name) + std::string(kClusterLevel);
}

admin_wire::Instance NamedInstance(const std::string& name) {
  admin_wire::Instance instance;
  instance.set_name(name);
  instance.set_display_name(name.substr(name.rfind('/') + 1));
  instance.set_state(admin_wire::Instance::READY);
  instance.set_type(admin_wire::Instance::PRODUCTION);
  return instance;
}

admin_wire::Cluster OnlyCluster(const std::string& instance_name) {
  admin_wire::Cluster cluster;
  cluster.set_name(instance_name + std::string(kClusterLevel) + std::string(kOnlyClusterId));
  cluster.set_location(instance_name.substr(0, instance_name.rfind("/instances/")) +
                       "/locations/local");
  cluster.set_state(admin_wire::Cluster::READY);
  cluster.set_serve_nodes(1);
  cluster.set_default_storage_type(admin_wire::SSD);
  return cluster;
}

// Nodes are only recorded: autoscaling never changes their number, since there is no load that it
// could measure.
absl::Status CheckNodes(admin_wire::Cluster* cluster) {
  if (!cluster->cluster_config().has_cluster_autoscaling_config()) {
    cluster->clear_cluster_config();
    return absl::OkStatus();
  }
  const auto& autoscaling = cluster->cluster_config().cluster_autoscaling_config();
  const auto& limits = autoscaling.autoscaling_limits();
  const int cpu_percent = autoscaling.autoscaling_targets().cpu_utilization_percent();
  if (limits.min_serve_nodes() < 1 || limits.max_serve_nodes() < limits.min_serve_nodes()) {
    return InField(InvalidArgument("must be at least 1, and the lower one first"),
                   "autoscaling_limits");
  }
  if (cpu_percent < kCpuPercentMin || cpu_percent > kCpuPercentMax) {
    return InField(InvalidArgument("must be from {} to {}", kCpuPercentMin, kCpuPercentMax),
                   "cpu_utilization_percent");
  }
  // A cluster created with autoscaling begins with the minimum.
  if (cluster->serve_nodes() == 0) cluster->set_serve_nodes(limits.min_serve_nodes());
  return absl::OkStatus();
}

absl::StatusOr<admin_wire::Cluster> NewCluster(const std::string& instance_name,
                                               const std::string& cluster_id,
                                               const admin_wire::Cluster& asked) {
  const std::string name = instance_name + std::string(kClusterLevel) + cluster_id;
  if (cluster_id == "-") return InvalidArgument("Invalid cluster id \"-\"");
  STELED_RETURN_IF_ERROR(BackupPrefix(name).status());
  if (asked.serve_nodes() < 0)
    return InField(InvalidArgument("must not be negative"), "serve_nodes");
  if (!asked.encryption_config().kms_key_name().empty())
    return Unimplemented("Keys of a key service (kms_key_name) are not offered");
  admin_wire::Cluster cluster = asked;
  STELED_RETURN_IF_ERROR(CheckNodes(&cluster));
  cluster.set_name(name);
  cluster.set_state(admin_wire::Cluster::READY);
  if (cluster.serve_nodes() == 0) cluster.set_serve_nodes(1);
  if (cluster.default_storage_type() == admin_wire::STORAGE_TYPE_UNSPECIFIED)
    cluster.set_default_storage_type(admin_wire::SSD);
  return cluster;
}

// Returns "projects/P/instances/I" from a cluster's name.
absl::StatusOr<std::string> InstanceOf(const std::string& cluster_name) {
  STELED_RETURN_IF_ERROR(BackupPrefix(cluster_name).status());
  return cluster_name.substr(0, cluster_name.rfind(kClusterLevel));
}

absl::Status InstanceNotFound(const std::string& name) {
  return NotFound("Instance not found: {}", name);
}
absl::Status ClusterNotFound(const std::string& name) {
  return NotFound("Cluster not found: {}", name);
}

}  // namespace

// ---- instances ----

absl::StatusOr<admin_wire::Instance> Instances::Create(
    const admin_wire::CreateInstanceRequest& request) {
  STELED_RETURN_IF_ERROR(StoredProjectPrefix(request.parent()).status());
  const std::string name = request.parent() + "/instances/" + request.instance_id();
  STELED_RETURN_IF_ERROR(StoredPrefix(name).status());
  if (request.clusters().empty())
    return InField(InvalidArgument("An instance needs a cluster"), "clusters");
  if (request.instance().labels().size() > kLabelsMax)
    return InField(InvalidArgument("at most {} labels", kLabelsMax), "labels");
  admin_wire::Instance instance = NamedInstance(name);
  if (!request.instance().display_name().empty())
    instance.set_display_name(request.instance().display_name());
  if (request.instance().type() != admin_wire::Instance::TYPE_UNSPECIFIED)
    instance.set_type(request.instance().type());
  *instance.mutable_labels() = request.instance().labels();
  *instance.mutable_create_time() = WireNow();
  Records::Changes changes = {{InstanceKey(name), instance.SerializeAsString()}};
  std::vector<std::string> cluster_ids;
  for (const auto& [cluster_id, asked] : request.clusters()) {
    cluster_ids.push_back(cluster_id);
    STELED_ASSIGN_OR_RETURN(const admin_wire::Cluster cluster, NewCluster(name, cluster_id, asked));
    changes.emplace_back(ClusterKey(cluster.name()), cluster.SerializeAsString());
  }
  changes.push_back(AppProfiles::DefaultRecord(name, cluster_ids));
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(const auto present,
                          records_.Get<admin_wire::Instance>(InstanceKey(name)));
  if (present.has_value()) return AlreadyExists("Instance already exists: {}", name);
  STELED_ASSIGN_OR_RETURN(const auto mark, records_.Get<admin_wire::Instance>(DeletionKey(name)));
  if (mark.has_value())
    return FailedPrecondition("The instance is being deleted; delete it again to finish that: {}",
                              name);
  STELED_RETURN_IF_ERROR(records_.Apply(changes));
  return instance;
}

absl::Status Instances::CheckExists(const std::string& name) const {
  STELED_RETURN_IF_ERROR(StoredPrefix(name).status());
  if (!is_strict_) return absl::OkStatus();
  STELED_ASSIGN_OR_RETURN(const bool is_known, IsKnown(name));
  return is_known ? absl::OkStatus() : InstanceNotFound(name);
}

absl::Status Instances::CheckExistsFor(const std::string& resource) const {
  constexpr std::string_view kProjects = "projects/";
  constexpr std::string_view kInstances = "/instances/";
  const size_t at = resource.find(kInstances, kProjects.size());  // behind the project's id
  if (at == std::string::npos) return absl::OkStatus();
  return CheckExists(resource.substr(0, resource.find('/', at + kInstances.size())));
}

absl::StatusOr<admin_wire::Instance> Instances::Get(const std::string& name) const {
  STELED_RETURN_IF_ERROR(CheckExists(name));
  STELED_ASSIGN_OR_RETURN(std::optional<admin_wire::Instance> instance,
                          records_.Get<admin_wire::Instance>(InstanceKey(name)));
  return instance.has_value() ? *std::move(instance) : NamedInstance(name);
}

absl::StatusOr<std::vector<admin_wire::Instance>> Instances::List(
    const std::string& project_name) const {
  STELED_ASSIGN_OR_RETURN(const std::string stored_prefix, StoredProjectPrefix(project_name));
  std::map<std::string, admin_wire::Instance> by_name;
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> tables, tables_.List(stored_prefix));
  for (const std::string& table : tables) {
    const std::string wire_name = WireTableName(table);
    if (wire_name.empty()) continue;
    const std::string name = wire_name.substr(0, wire_name.rfind("/tables/"));
    by_name.emplace(name, NamedInstance(name));
  }
  STELED_ASSIGN_OR_RETURN(
      std::vector<admin_wire::Instance> made,
      records_.List<admin_wire::Instance>(InstanceKey(project_name + "/instances/")));
  for (admin_wire::Instance& instance : made) {
    std::string name = instance.name();
    by_name.insert_or_assign(std::move(name), std::move(instance));
  }
  std::vector<admin_wire::Instance> instances;
  for (auto& [name, instance] : by_name) instances.push_back(std::move(instance));
  return instances;
}

absl::StatusOr<bool> Instances::IsKnown(const std::string& name) const {
  STELED_ASSIGN_OR_RETURN(const std::string stored_prefix, StoredPrefix(name));
  STELED_ASSIGN_OR_RETURN(const auto made, records_.Get<admin_wire::Instance>(InstanceKey(name)));
  if (made.has_value()) return true;
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> tables, tables_.List(stored_prefix));
  return !tables.empty();
}

absl::StatusOr<admin_wire::Instance> Instances::Update(
    const admin_wire::PartialUpdateInstanceRequest& request) {
  constexpr std::string_view kFields[] = {"display_name", "type", "labels"};
  STELED_RETURN_IF_ERROR(CheckUpdateMask(request.update_mask(), kFields));
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(const bool is_known, IsKnown(request.instance().name()));
  if (!is_known) return InstanceNotFound(request.instance().name());
  STELED_ASSIGN_OR_RETURN(admin_wire::Instance instance, Get(request.instance().name()));
  const admin_wire::Instance::Type type_before = instance.type();
  MergeByMask(request.instance(), request.update_mask(), &instance);
  if (instance.type() == admin_wire::Instance::TYPE_UNSPECIFIED) instance.set_type(type_before);
  if (instance.labels().size() > kLabelsMax)
    return InField(InvalidArgument("at most {} labels", kLabelsMax), "labels");
  STELED_RETURN_IF_ERROR(records_.Put(InstanceKey(instance.name()), instance));
  return instance;
}

absl::Status Instances::CheckDeletable(const std::string& name,
                                       const std::string& stored_prefix) const {
  STELED_ASSIGN_OR_RETURN(const bool is_known, IsKnown(name));
  if (!is_known) return InstanceNotFound(name);
  STELED_ASSIGN_OR_RETURN(const std::vector<std::string> stored_tables,
                          tables_.List(stored_prefix));
  for (const std::string& stored_name : stored_tables) {
    const absl::StatusOr<Table> table = tables_.Open(stored_name);
    const absl::StatusOr<Schema> schema = table.ok() ? table->schema() : table.status();
    if (schema.ok() && IsProtected(*schema)) {
      return FailedPrecondition("The instance has a table that is protected against deletion: {}",
                                WireTableName(stored_name));
    }
  }
  if (has_backups_(name))
    return FailedPrecondition("The instance has backups; delete them first: {}", name);
  return absl::OkStatus();
}

absl::Status Instances::FinishDeletion(const std::string& name) {
  STELED_ASSIGN_OR_RETURN(const std::string stored_prefix, StoredPrefix(name));
  STELED_RETURN_IF_ERROR(tables_.CloseAndDelete(stored_prefix));
  Records::Changes changes;
  const std::string policy_key = IamPolicies::RecordKey(name);
  for (const std::string& prefix : {ClusterPrefix(name), AppProfiles::RecordPrefix(name),
                                    policy_key + "/", AutomatedBackupKey(name + "/")}) {
    STELED_RETURN_IF_ERROR(records_.AddDeletions(prefix, &changes));
  }
  for (const std::string& record_key : {policy_key, InstanceKey(name), DeletionKey(name)})
    changes.emplace_back(record_key, std::nullopt);
  STELED_RETURN_IF_ERROR(records_.Apply(changes));
  tables_.Reopen(stored_prefix);
  return absl::OkStatus();
}

absl::Status Instances::FinishDeletions() {
  STELED_ASSIGN_OR_RETURN(const std::vector<admin_wire::Instance> deleted,
                          records_.List<admin_wire::Instance>(DeletionKey("")));
  for (const admin_wire::Instance& instance : deleted)
    STELED_RETURN_IF_ERROR(FinishDeletion(instance.name()));
  return absl::OkStatus();
}

absl::Status Instances::Delete(const std::string& name) {
  STELED_ASSIGN_OR_RETURN(const std::string stored_prefix, StoredPrefix(name));
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(const auto mark, records_.Get<admin_wire::Instance>(DeletionKey(name)));
  if (!mark.has_value()) {
    STELED_RETURN_IF_ERROR(CheckDeletable(name, stored_prefix));
    // Durable before the tables are deleted, which happens one by one.
    STELED_RETURN_IF_ERROR(records_.Apply(
        {{DeletionKey(name), NamedInstance(name).SerializeAsString()}}, Durability::kDisk));
  }
  return FinishDeletion(name);
}

// ---- clusters ----

absl::StatusOr<std::vector<admin_wire::Cluster>> Instances::ListClusters(
    const std::string& instance_name) const {
  if (!instance_name.ends_with(kAnyInstance)) {
    STELED_RETURN_IF_ERROR(CheckExists(instance_name));
    STELED_ASSIGN_OR_RETURN(std::vector<admin_wire::Cluster> clusters,
                            records_.List<admin_wire::Cluster>(ClusterPrefix(instance_name)));
    if (clusters.empty()) clusters.push_back(OnlyCluster(instance_name));
    return clusters;
  }
  STELED_ASSIGN_OR_RETURN(
      const std::vector<admin_wire::Instance> instances,
      List(instance_name.substr(0, instance_name.size() - kAnyInstance.size())));
  std::vector<admin_wire::Cluster> clusters;
  for (const admin_wire::Instance& instance : instances) {
    STELED_ASSIGN_OR_RETURN(std::vector<admin_wire::Cluster> of_one, ListClusters(instance.name()));
    for (admin_wire::Cluster& cluster : of_one) clusters.push_back(std::move(cluster));
  }
  return clusters;
}

absl::StatusOr<admin_wire::Cluster> Instances::GetCluster(const std::string& name) const {
  STELED_ASSIGN_OR_RETURN(const std::string instance_name, InstanceOf(name));
  STELED_ASSIGN_OR_RETURN(const std::vector<admin_wire::Cluster> clusters,
                          ListClusters(instance_name));
  for (const admin_wire::Cluster& cluster : clusters) {
    if (cluster.name() == name) return cluster;
  }
  return ClusterNotFound(name);
}

absl::StatusOr<admin_wire::Cluster> Instances::CreateCluster(
    const admin_wire::CreateClusterRequest& request) {
  STELED_RETURN_IF_ERROR(StoredPrefix(request.parent()).status());
  STELED_ASSIGN_OR_RETURN(admin_wire::Cluster cluster,
                          NewCluster(request.parent(), request.cluster_id(), request.cluster()));
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(const std::vector<admin_wire::Cluster> present,
                          ListClusters(request.parent()));
  Records::Changes changes = {{ClusterKey(cluster.name()), cluster.SerializeAsString()}};
  for (const admin_wire::Cluster& other : present) {
    if (other.name() == cluster.name())
      return AlreadyExists("Cluster already exists: {}", cluster.name());
    // The implicit cluster is recorded from now on, too.
    changes.emplace_back(ClusterKey(other.name()), other.SerializeAsString());
  }
  STELED_RETURN_IF_ERROR(records_.Apply(changes));
  return cluster;
}

absl::StatusOr<admin_wire::Cluster> Instances::UpdateCluster(
    const admin_wire::PartialUpdateClusterRequest& request) {
  constexpr std::string_view kNodes = "serve_nodes";
  // Clients name autoscaling whenever they name nodes, to switch it off.
  constexpr std::string_view kFields[] = {kNodes, "cluster_config"};
  STELED_RETURN_IF_ERROR(CheckUpdateMask(request.update_mask(), kFields));
  const auto& paths = request.update_mask().paths();
  const bool names_nodes = std::find(paths.begin(), paths.end(), kNodes) != paths.end();
  if (names_nodes && request.cluster().serve_nodes() < 1)
    return InField(InvalidArgument("must be at least 1"), kNodes);
  const std::lock_guard lock(tables_.changes());
  STELED_ASSIGN_OR_RETURN(admin_wire::Cluster cluster, GetCluster(request.cluster().name()));
  MergeByMask(request.cluster(), request.update_mask(), &cluster);
  STELED_RETURN_IF_ERROR(CheckNodes(&cluster));
  STELED_RETURN_IF_ERROR(records_.Put(ClusterKey(cluster.name()), cluster));
  return cluster;
}

absl::Status Instances::DeleteCluster(const std::string& name) {
  STELED_ASSIGN_OR_RETURN(const std::string instance_name, InstanceOf(name));
  const std::lock_guard lock(tables_.changes());
  STELED_RETURN_IF_ERROR(GetCluster(name).status());
  STELED_ASSIGN_OR_RETURN(const std::vector<admin_wire::Cluster> present,
                          ListClusters(instance_name));
  if (present.size() == 1)
    return FailedPrecondition("The last cluster of an instance stays: {}", name);
  if (has_backups_(name))
    return FailedPrecondition("The cluster has backups; delete them first: {}", name);
  return records_.Apply({{ClusterKey(name), std::nullopt}});
}

}  // namespace stele::server

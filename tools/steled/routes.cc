#include "routes.h"

namespace stele::server {
namespace {

// A path has the name of the method that answers it.
#define STELED_SERVE(Service, method) table->Add(kName, #method, service, &Service::method)

void AddData(DataService* service, MethodTable* table) {
  constexpr std::string_view kName = "google.bigtable.v2.Bigtable";
  STELED_SERVE(DataService, ReadRows);
  STELED_SERVE(DataService, SampleRowKeys);
  STELED_SERVE(DataService, MutateRow);
  STELED_SERVE(DataService, MutateRows);
  STELED_SERVE(DataService, CheckAndMutateRow);
  STELED_SERVE(DataService, PingAndWarm);
  STELED_SERVE(DataService, ReadModifyWriteRow);
}

void AddAdmin(AdminService* service, MethodTable* table) {
  constexpr std::string_view kName = "google.bigtable.admin.v2.BigtableTableAdmin";
  STELED_SERVE(AdminService, CreateTable);
  STELED_SERVE(AdminService, ListTables);
  STELED_SERVE(AdminService, GetTable);
  STELED_SERVE(AdminService, UpdateTable);
  STELED_SERVE(AdminService, DeleteTable);
  STELED_SERVE(AdminService, ModifyColumnFamilies);
  STELED_SERVE(AdminService, DropRowRange);
  STELED_SERVE(AdminService, GenerateConsistencyToken);
  STELED_SERVE(AdminService, CheckConsistency);
  STELED_SERVE(AdminService, CreateBackup);
  STELED_SERVE(AdminService, GetBackup);
  STELED_SERVE(AdminService, UpdateBackup);
  STELED_SERVE(AdminService, DeleteBackup);
  STELED_SERVE(AdminService, ListBackups);
  STELED_SERVE(AdminService, CopyBackup);
  STELED_SERVE(AdminService, RestoreTable);
  STELED_SERVE(AdminService, GetIamPolicy);
  STELED_SERVE(AdminService, SetIamPolicy);
  STELED_SERVE(AdminService, TestIamPermissions);
}

void AddInstances(InstanceService* service, MethodTable* table) {
  constexpr std::string_view kName = "google.bigtable.admin.v2.BigtableInstanceAdmin";
  STELED_SERVE(InstanceService, CreateInstance);
  STELED_SERVE(InstanceService, GetInstance);
  STELED_SERVE(InstanceService, ListInstances);
  STELED_SERVE(InstanceService, UpdateInstance);
  STELED_SERVE(InstanceService, PartialUpdateInstance);
  STELED_SERVE(InstanceService, DeleteInstance);
  STELED_SERVE(InstanceService, CreateCluster);
  STELED_SERVE(InstanceService, GetCluster);
  STELED_SERVE(InstanceService, ListClusters);
  STELED_SERVE(InstanceService, UpdateCluster);
  STELED_SERVE(InstanceService, PartialUpdateCluster);
  STELED_SERVE(InstanceService, DeleteCluster);
  STELED_SERVE(InstanceService, CreateAppProfile);
  STELED_SERVE(InstanceService, GetAppProfile);
  STELED_SERVE(InstanceService, ListAppProfiles);
  STELED_SERVE(InstanceService, UpdateAppProfile);
  STELED_SERVE(InstanceService, DeleteAppProfile);
  STELED_SERVE(InstanceService, GetIamPolicy);
  STELED_SERVE(InstanceService, SetIamPolicy);
  STELED_SERVE(InstanceService, TestIamPermissions);
}

void AddOperations(Operations* service, MethodTable* table) {
  constexpr std::string_view kName = "google.longrunning.Operations";
  STELED_SERVE(Operations, GetOperation);
  STELED_SERVE(Operations, CancelOperation);
}

void AddHealth(HealthService* service, MethodTable* table) {
  constexpr std::string_view kName = "grpc.health.v1.Health";
  STELED_SERVE(HealthService, Check);
  STELED_SERVE(HealthService, Watch);
}

// Two names of one service: clients ask for the older one first, or only.
void AddReflection(ReflectionService* service, MethodTable* table) {
  for (const char* const kName : {"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}) {
    STELED_SERVE(ReflectionService, ServerReflectionInfo);
  }
}

#undef STELED_SERVE

}  // namespace

void AddServices(const Services& services, MethodTable* table) {
  AddData(services.data, table);
  AddAdmin(services.admin, table);
  AddInstances(services.instances, table);
  AddOperations(services.operations, table);
  AddHealth(services.health, table);
  AddReflection(services.reflection, table);
}

}  // namespace stele::server

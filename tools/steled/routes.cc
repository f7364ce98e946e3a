#include "steled/routes.h"

namespace stele::server {
namespace {

// The method that handles a path has the same name.
#define STELED_SERVE(Service, method) table->Add(kName, #method, service, &Service::method)
#define STELED_SERVE_SMALL(Service, method) \
  AsOther(table->Add(kName, #method, service, &Service::method, kSmallBytes))

// The limit for a request. A table's splits may be 4 MiB.
constexpr size_t kTableAdminBytes = size_t{8} << 20;
// The limit for other requests, of which those about instances are stored.
constexpr size_t kSmallBytes = size_t{64} << 10;
// The limit for the request of a call that waits, which names a service or an operation. Its memory
// is held until the end.
constexpr size_t kWaitBytes = size_t{1} << 10;

// Does not count the method's calls as data calls.
Method& AsOther(Method& method) {
  method.kind = CallKind::kOther;
  return method;
}

void AddData(DataService* service, bool do_writes_sync, MethodTable* table) {
  constexpr std::string_view kName = "google.bigtable.v2.Bigtable";
  STELED_SERVE(DataService, ReadRows);
  STELED_SERVE(DataService, SampleRowKeys);
  STELED_SERVE(DataService, MutateRow).syncs = do_writes_sync;
  STELED_SERVE(DataService, MutateRows).syncs = do_writes_sync;
  STELED_SERVE(DataService, CheckAndMutateRow).syncs = do_writes_sync;
  STELED_SERVE(DataService, PingAndWarm);
  STELED_SERVE(DataService, ReadModifyWriteRow).syncs = do_writes_sync;
}

#define STELED_SERVE_TABLES(method) \
  AsOther(table->Add(kName, #method, service, &AdminService::method, kTableAdminBytes))

void AddAdmin(AdminService* service, MethodTable* table) {
  constexpr std::string_view kName = "google.bigtable.admin.v2.BigtableTableAdmin";
  STELED_SERVE_TABLES(CreateTable);
  STELED_SERVE_TABLES(ListTables);
  STELED_SERVE_TABLES(GetTable);
  STELED_SERVE_TABLES(UpdateTable);
  STELED_SERVE_TABLES(DeleteTable);
  STELED_SERVE_TABLES(UndeleteTable);
  STELED_SERVE_TABLES(ModifyColumnFamilies);
  STELED_SERVE_TABLES(DropRowRange);
  STELED_SERVE_TABLES(GenerateConsistencyToken);
  STELED_SERVE_TABLES(CheckConsistency);
  STELED_SERVE_TABLES(CreateBackup);
  STELED_SERVE_TABLES(GetBackup);
  STELED_SERVE_TABLES(UpdateBackup);
  STELED_SERVE_TABLES(DeleteBackup);
  STELED_SERVE_TABLES(ListBackups);
  STELED_SERVE_TABLES(CopyBackup);
  STELED_SERVE_TABLES(RestoreTable);
  STELED_SERVE_TABLES(GetIamPolicy);
  STELED_SERVE_TABLES(SetIamPolicy);
  STELED_SERVE_TABLES(TestIamPermissions);
}

void AddInstances(InstanceService* service, MethodTable* table) {
  constexpr std::string_view kName = "google.bigtable.admin.v2.BigtableInstanceAdmin";
  STELED_SERVE_SMALL(InstanceService, CreateInstance);
  STELED_SERVE_SMALL(InstanceService, GetInstance);
  STELED_SERVE_SMALL(InstanceService, ListInstances);
  STELED_SERVE_SMALL(InstanceService, UpdateInstance);
  STELED_SERVE_SMALL(InstanceService, PartialUpdateInstance);
  STELED_SERVE_SMALL(InstanceService, DeleteInstance);
  STELED_SERVE_SMALL(InstanceService, CreateCluster);
  STELED_SERVE_SMALL(InstanceService, GetCluster);
  STELED_SERVE_SMALL(InstanceService, ListClusters);
  STELED_SERVE_SMALL(InstanceService, UpdateCluster);
  STELED_SERVE_SMALL(InstanceService, PartialUpdateCluster);
  STELED_SERVE_SMALL(InstanceService, DeleteCluster);
  STELED_SERVE_SMALL(InstanceService, CreateAppProfile);
  STELED_SERVE_SMALL(InstanceService, GetAppProfile);
  STELED_SERVE_SMALL(InstanceService, ListAppProfiles);
  STELED_SERVE_SMALL(InstanceService, UpdateAppProfile);
  STELED_SERVE_SMALL(InstanceService, DeleteAppProfile);
  STELED_SERVE_SMALL(InstanceService, GetIamPolicy);
  STELED_SERVE_SMALL(InstanceService, SetIamPolicy);
  STELED_SERVE_SMALL(InstanceService, TestIamPermissions);
  STELED_SERVE_SMALL(InstanceService, ListHotTablets);
}

void AddOperations(Operations* service, MethodTable* table) {
  constexpr std::string_view kName = "google.longrunning.Operations";
  STELED_SERVE_SMALL(Operations, ListOperations);
  STELED_SERVE_SMALL(Operations, GetOperation);
  STELED_SERVE_SMALL(Operations, DeleteOperation);
  STELED_SERVE_SMALL(Operations, CancelOperation);
  AsOther(table->Add(kName, "WaitOperation", service, &Operations::WaitOperation, kWaitBytes));
}

void AddHealth(HealthService* service, MethodTable* table) {
  constexpr std::string_view kName = "grpc.health.v1.Health";
  Method& check = STELED_SERVE_SMALL(HealthService, Check);
  check.kind = CallKind::kHealth;
  check.uses_all_memory = true;
  table->Add(kName, "Watch", service, &HealthService::Watch, kWaitBytes).kind = CallKind::kHealth;
}

// Two names of one service: clients try the older one first, or only that one.
void AddReflection(ReflectionService* service, MethodTable* table) {
  for (const char* const kName :
       {"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}) {
    STELED_SERVE_SMALL(ReflectionService, ServerReflectionInfo).takes_stream = true;
  }
}

#undef STELED_SERVE
#undef STELED_SERVE_SMALL
#undef STELED_SERVE_TABLES

}  // namespace

void AddServices(const Services& services, MethodTable* table) {
  AddData(services.data, services.do_writes_sync, table);
  AddAdmin(services.admin, table);
  AddInstances(services.instances, table);
  AddOperations(services.operations, table);
  AddHealth(services.health, table);
  AddReflection(services.reflection, table);
}

}  // namespace stele::server

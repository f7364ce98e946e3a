// steled/routes.h: registers the methods of all services under their paths.
//
// Threads:   pure function.
#pragma once

#include "steled/monitoring/health_service.h"
#include "steled/rpc/method_table.h"
#include "steled/rpc/operations.h"
#include "steled/services/admin_service.h"
#include "steled/services/data_service.h"
#include "steled/services/instance_service.h"
#include "steled/services/reflection_service.h"

namespace stele::server {

// All services must outlive the table that they are added to.
struct Services {
  DataService* data;
  AdminService* admin;
  InstanceService* instances;
  Operations* operations;
  HealthService* health;
  ReflectionService* reflection;
  bool do_writes_sync = false;  // writes wait for the disk
};

void AddServices(const Services& services, MethodTable* table);

}  // namespace stele::server

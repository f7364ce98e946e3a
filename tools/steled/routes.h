// steled/routes.h: the paths of the services: what the server offers.
//
// Threads:   pure function.
#pragma once

#include "admin_service.h"
#include "data_service.h"
#include "health_service.h"
#include "instance_service.h"
#include "method_table.h"
#include "operations.h"
#include "reflection_service.h"

namespace stele::server {

// All have to outlive the table that they are added to.
struct Services {
  DataService* data;
  AdminService* admin;
  InstanceService* instances;
  Operations* operations;
  HealthService* health;
  ReflectionService* reflection;
};

void AddServices(const Services& services, MethodTable* table);

}  // namespace stele::server

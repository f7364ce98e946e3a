// bench/grpc_server/grpc_transport.h: serves the methods of steled through gRPC's own C++ library.
//
// Settings:  completion queues. gRPC's guide on performance says that its callbacks are slower at
//            high rates, and advises against its synchronous interface. As in that guide, there are
//            as many threads as cores, two for each queue, and enough expected calls. No
//            compression. The arguments of gRPC's channels have their defaults.
// Limits:    without TLS, and at a HOST:PORT. It uses only these options and message_bytes_max, and
//            reports nothing to the observer. A method that waits for the disk blocks one of the
//            few threads, so it is for Durability::kProcess.
// Errors:    Unimplemented for TLS and for "unix:PATH"; Unavailable if the address cannot be used.
// Source:    https://grpc.io/docs/guides/performance/
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "steled/rpc/method_table.h"
#include "steled/transport/transport.h"

namespace stele::server {

// A TransportStarter (steled/server.h). `methods` must outlive the transport.
absl::StatusOr<std::unique_ptr<Transport>> StartGrpcTransport(const TransportOptions& options,
                                                              const MethodTable* methods,
                                                              CallObserver* observer);

}  // namespace stele::server

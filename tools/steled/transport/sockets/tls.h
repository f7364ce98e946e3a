// steled/transport/sockets/tls.h: the settings of all encrypted connections: the server's key and
// its trusted CA.
//
// TLS 1.2 or newer, HTTP/2 by ALPN, no renegotiation. With a client CA every client must present a
// certificate signed by it.
//
// Errors:    InvalidArgument for an invalid certificate or key, or a key that does not belong to
//            the certificate.
// Threads:   immutable.
// Source:    RFC 9113, section 9.2.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

using SSL_CTX = struct ssl_ctx_st;

namespace stele::server {

// PEM texts. With a client_ca, clients must present a certificate signed by it.
struct TlsFiles {
  std::string certificate_chain;
  std::string private_key;
  std::string client_ca;
};

using TlsContext = std::shared_ptr<SSL_CTX>;

absl::StatusOr<TlsContext> NewTlsContext(const TlsFiles& files);

}  // namespace stele::server

// transport/tls.h: what all encrypted connections share: the server's key, and whom it trusts.
//
// TLS 1.2 or newer, HTTP/2 by ALPN, no renegotiation. With a client CA every client has to show a certificate that it signed.
//
// Errors:    InvalidArgument for a text that is no certificate or key, or a key that is of another certificate.
// Threads:   immutable.
// Source:    RFC 9113, section 9.2.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

using SSL_CTX = struct ssl_ctx_st;

namespace stele::server {

class TlsContext {
 public:
  // PEM texts; an empty `client_ca`: clients need no certificate.
  static absl::StatusOr<TlsContext> Create(const std::string& certificate_chain, const std::string& private_key,
                                           const std::string& client_ca);

  SSL_CTX* get() const { return context_.get(); }

 private:
  explicit TlsContext(std::shared_ptr<SSL_CTX> context) : context_(std::move(context)) {}

  std::shared_ptr<SSL_CTX> context_;
};

}  // namespace stele::server

#include "steled/transport/sockets/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <string_view>

#include "steled/base/errors.h"

namespace stele::server {
namespace {

constexpr std::string_view kHttp2 = "\x02h2";  // as ALPN encodes it: the length first

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio BioOf(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

// Returns OpenSSL's reason for the last failure, and clears its queue.
absl::Status Fail(std::string_view what) {
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(error);
  return InvalidArgument("{}: {}", what, reason == nullptr ? "cannot be read" : reason);
}

Certificate NextCertificate(BIO* bio) {
  return {PEM_read_bio_X509(bio, nullptr, nullptr, nullptr), &X509_free};
}

// After NextCertificate found none. At the end of the text, OpenSSL misses the start of another
// one. Any other error means that a certificate is damaged, and the text may have more.
absl::Status CheckEnd(std::string_view what) {
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE)
    return Fail(what);
  ERR_clear_error();
  return absl::OkStatus();
}

absl::Status UseChain(const std::string& text, SSL_CTX* context) {
  const Bio bio = BioOf(text);
  const Certificate own = NextCertificate(bio.get());
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1)
    return Fail("the certificate of --tls-cert");
  while (Certificate next = NextCertificate(bio.get())) {
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1)
      return Fail("the certificate chain of --tls-cert");
    next.release();  // owned by the context now
  }
  return CheckEnd("the certificate chain of --tls-cert");
}

// Makes reading an encrypted key fail, since no person can enter its password.
int NoPassword(char* /*buffer*/, int /*size*/, int /*is_new*/, void* /*user*/) { return 0; }

absl::Status UseKey(const std::string& text, SSL_CTX* context) {
  const Key key(PEM_read_bio_PrivateKey(BioOf(text).get(), nullptr, &NoPassword, nullptr),
                &EVP_PKEY_free);
  if (key == nullptr) return Fail("the key of --tls-key");
  // Also checks that it belongs to the certificate.
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return Fail("the key of --tls-key beside the certificate of --tls-cert");
  return absl::OkStatus();
}

absl::Status TrustClientsOf(const std::string& text, SSL_CTX* context) {
  const Bio bio = BioOf(text);
  int count = 0;
  for (; Certificate next = NextCertificate(bio.get()); ++count) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), next.get()) != 1 ||
        SSL_CTX_add_client_CA(context, next.get()) != 1) {
      return Fail("a certificate of --tls-client-ca");
    }
  }
  if (count == 0) return Fail("the certificate of --tls-client-ca");
  STELED_RETURN_IF_ERROR(CheckEnd("a certificate of --tls-client-ca"));
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return absl::OkStatus();
}

// A client that does not support HTTP/2 is rejected.
int ChooseHttp2(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* chosen_bytes,
                const unsigned char* offered, unsigned int offered_bytes, void* /*argument*/) {
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(
      &found, chosen_bytes, reinterpret_cast<const unsigned char*>(kHttp2.data()),
      static_cast<unsigned int>(kHttp2.size()), offered, offered_bytes);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

}  // namespace

absl::StatusOr<TlsContext> NewTlsContext(const TlsFiles& files) {
  ERR_clear_error();
  TlsContext context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (context == nullptr) return Fail("TLS");
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context.get(), &ChooseHttp2, nullptr);
  // Resumed sessions need a name of the server if clients have certificates.
  constexpr std::string_view kSessions = "steled";
  SSL_CTX_set_session_id_context(
      context.get(), reinterpret_cast<const unsigned char*>(kSessions.data()), kSessions.size());
  STELED_RETURN_IF_ERROR(UseChain(files.certificate_chain, context.get()));
  STELED_RETURN_IF_ERROR(UseKey(files.private_key, context.get()));
  if (!files.client_ca.empty())
    STELED_RETURN_IF_ERROR(TrustClientsOf(files.client_ca, context.get()));
  return context;
}

}  // namespace stele::server

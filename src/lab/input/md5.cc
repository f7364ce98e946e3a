#include "lab/input/md5.h"

#include <openssl/evp.h>

#include "base/invariant.h"
#include "lab/values/base64.h"

namespace stele::internal::lab {

struct Md5::Context {
  EVP_MD_CTX* evp = EVP_MD_CTX_new();
  ~Context() { EVP_MD_CTX_free(evp); }
};

Md5::Md5() : context_(std::make_unique<Context>()) {
  STELE_CHECK(context_->evp != nullptr);
  STELE_CHECK(EVP_DigestInit_ex(context_->evp, EVP_md5(), nullptr) == 1);
}

Md5::~Md5() = default;

void Md5::Add(std::string_view bytes) {
  STELE_CHECK(EVP_DigestUpdate(context_->evp, bytes.data(), bytes.size()) == 1);
}

std::string Md5::Base64() {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  STELE_CHECK(EVP_DigestFinal_ex(context_->evp, sum, &size) == 1);
  std::string text;
  AppendBase64({reinterpret_cast<const char*>(sum), size}, &text);
  return text;
}

std::string Md5Base64(std::string_view bytes) {
  Md5 md5;
  md5.Add(bytes);
  return md5.Base64();
}

}  // namespace stele::internal::lab

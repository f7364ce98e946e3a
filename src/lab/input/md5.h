// input/md5.h: MD5 sums, with which S3 and the manifests of exports describe files.
//
// Threads:   confined to one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace stele::internal::lab {

class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;

  void Add(std::string_view bytes);
  // Returns the sum of all bytes as base64. Call it once.
  std::string Base64();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string Md5Base64(std::string_view bytes);

}  // namespace stele::internal::lab

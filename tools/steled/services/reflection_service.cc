#include "steled/services/reflection_service.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "steled/base/errors.h"
#include "steled/rpc/message_writer.h"
#include "steled/services/reflection.pb.h"

namespace stele::server {

namespace reflection_wire = ::grpc::reflection::v1;

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;

namespace {

using SentFiles = std::set<const FileDescriptor*>;

void FillError(absl::StatusCode code, std::string_view text,
               reflection_wire::ServerReflectionResponse* response) {
  response->mutable_error_response()->set_error_code(static_cast<int>(code));
  response->mutable_error_response()->set_error_message(std::string(text));
}

// Adds the file, even if it was sent before, and its imports that the stream has not sent. A null
// `file` gives the error NOT_FOUND.
void FillFile(const FileDescriptor* file, SentFiles* sent,
              reflection_wire::ServerReflectionResponse* response) {
  if (file == nullptr)
    return FillError(absl::StatusCode::kNotFound, "This server has nothing of that name or number",
                     response);
  std::vector<const FileDescriptor*> files = {file};
  for (size_t i = 0; i < files.size(); ++i) {
    const FileDescriptor& next = *files[i];
    const bool is_new = sent->insert(&next).second;
    if (!is_new && i > 0) continue;
    google::protobuf::FileDescriptorProto described;
    next.CopyTo(&described);
    response->mutable_file_descriptor_response()->add_file_descriptor_proto(
        described.SerializeAsString());
    for (int j = 0; j < next.dependency_count(); ++j) files.push_back(next.dependency(j));
  }
}

const FileDescriptor* FileOf(const DescriptorPool& pool,
                             const reflection_wire::ExtensionRequest& request) {
  const Descriptor* const extended = pool.FindMessageTypeByName(request.containing_type());
  if (extended == nullptr) return nullptr;
  const FieldDescriptor* const extension =
      pool.FindExtensionByNumber(extended, request.extension_number());
  return extension == nullptr ? nullptr : extension->file();
}

void FillExtensions(const DescriptorPool& pool, const std::string& type,
                    reflection_wire::ServerReflectionResponse* response) {
  const Descriptor* const extended = pool.FindMessageTypeByName(type);
  if (extended == nullptr)
    return FillError(absl::StatusCode::kNotFound, "This server has no such message", response);
  response->mutable_all_extension_numbers_response()->set_base_type_name(type);
  std::vector<const FieldDescriptor*> extensions;
  pool.FindAllExtensions(extended, &extensions);
  for (const FieldDescriptor* const extension : extensions) {
    response->mutable_all_extension_numbers_response()->add_extension_number(extension->number());
  }
}

reflection_wire::ServerReflectionResponse AnswerTo(
    const reflection_wire::ServerReflectionRequest& request, const MethodTable& methods,
    SentFiles* sent) {
  const DescriptorPool& pool = *DescriptorPool::generated_pool();
  reflection_wire::ServerReflectionResponse response;
  response.set_valid_host(request.host());
  *response.mutable_original_request() = request;
  switch (request.message_request_case()) {
    case reflection_wire::ServerReflectionRequest::kFileByFilename:
      FillFile(pool.FindFileByName(request.file_by_filename()), sent, &response);
      break;
    case reflection_wire::ServerReflectionRequest::kFileContainingSymbol:
      FillFile(pool.FindFileContainingSymbol(request.file_containing_symbol()), sent, &response);
      break;
    case reflection_wire::ServerReflectionRequest::kFileContainingExtension:
      FillFile(FileOf(pool, request.file_containing_extension()), sent, &response);
      break;
    case reflection_wire::ServerReflectionRequest::kAllExtensionNumbersOfType:
      FillExtensions(pool, request.all_extension_numbers_of_type(), &response);
      break;
    case reflection_wire::ServerReflectionRequest::kListServices:
      for (const std::string& name : methods.ServiceNames())
        response.mutable_list_services_response()->add_service()->set_name(name);
      break;
    case reflection_wire::ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      FillError(absl::StatusCode::kUnimplemented, "This server knows no such question", &response);
      break;
  }
  return response;
}

// One stream of requests.
class ReflectionStream final : public PausedCall,
                               public std::enable_shared_from_this<ReflectionStream> {
 public:
  explicit ReflectionStream(const MethodTable* methods) : methods_(*methods) {}

  absl::Status Run(Call* call) {
    std::string message;
    while (true) {
      if (!call->CanSend()) return Pause(PauseKind::kForRoom, call);
      if (!call->CanReceive()) return Pause(PauseKind::kForMessage, call);
      if (!call->Receive(&message)) return absl::OkStatus();
      reflection_wire::ServerReflectionRequest request;
      STELED_RETURN_IF_ERROR(ParseRequest(message, call, &request));
      MessageWriter<reflection_wire::ServerReflectionResponse> writer(call);
      if (!writer.Write(AnswerTo(request, methods_, &sent_))) return ClientGone();
    }
  }

  absl::Status Resume(Call* call) override {
    if (pause_ == PauseKind::kForMessage && !call->CanReceive()) {
      return MakeStatus(absl::StatusCode::kUnavailable,
                        "The client has sent nothing for too long; open another stream");
    }
    return Run(call);
  }

 private:
  absl::Status Pause(PauseKind kind, Call* call) {
    pause_ = kind;
    call->Pause(kind, shared_from_this());
    return absl::OkStatus();
  }

  const MethodTable& methods_;
  SentFiles sent_;
  PauseKind pause_ = PauseKind::kNone;
};

}  // namespace

absl::Status ReflectionService::ServerReflectionInfo(Call* call) {
  return std::make_shared<ReflectionStream>(&methods_)->Run(call);
}

}  // namespace stele::server

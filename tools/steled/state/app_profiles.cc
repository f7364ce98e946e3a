#include "steled/state/app_profiles.h"

#include <algorithm>
#include <vector>

#include "remote/wire/names.h"
#include "steled/base/errors.h"
#include "steled/state/update_mask.h"

namespace stele::server {

using internal::CheckResourceId;
using internal::StoredPrefix;
using internal::StoredProjectPrefix;

namespace admin_wire = ::google::bigtable::admin::v2;

namespace {

constexpr std::string_view kLevel = "/appProfiles/";
constexpr std::string_view kDefaultId = "default";
constexpr int kProfilesPerPage = 1000;

struct ProfileName {
  std::string instance_name;  // as in the API
  std::string profile_id;
};

absl::StatusOr<ProfileName> ParseName(const std::string& name) {
  const size_t level = name.rfind(kLevel);
  if (level == std::string::npos) {
    return InvalidArgument(
        "Invalid app profile name \"{}\": expected "
        "projects/PROJECT/instances/INSTANCE/appProfiles/PROFILE",
        name);
  }
  ProfileName parsed{.instance_name = name.substr(0, level),
                     .profile_id = name.substr(level + kLevel.size())};
  STELED_RETURN_IF_ERROR(StoredPrefix(parsed.instance_name).status());
  STELED_RETURN_IF_ERROR(CheckResourceId("app profile", parsed.profile_id));
  return parsed;
}

std::string ProfileKey(const std::string& name) { return "app_profile/" + name; }

// The default profile that every instance has. As in Bigtable, it allows single-row transactions if
// the instance was created with one cluster.
admin_wire::AppProfile DefaultOf(const std::string& instance_name,
                                 std::span<const std::string> cluster_ids) {
  admin_wire::AppProfile profile;
  profile.set_name(instance_name + std::string(kLevel) + std::string(kDefaultId));
  profile.set_etag("0");
  profile.set_description("default");
  if (cluster_ids.size() > 1) {
    profile.mutable_multi_cluster_routing_use_any();
  } else {
    profile.mutable_single_cluster_routing()->set_cluster_id(
        cluster_ids.empty() ? std::string(kOnlyClusterId) : cluster_ids.front());
    profile.mutable_single_cluster_routing()->set_allow_transactional_writes(true);
  }
  return profile;
}

// The default profile of an instance that CreateInstance did not create.
admin_wire::AppProfile DefaultOf(const std::string& instance_name) {
  return DefaultOf(instance_name, {});
}

absl::Status CheckRouting(const admin_wire::AppProfile& profile) {
  if (profile.routing_policy_case() == admin_wire::AppProfile::ROUTING_POLICY_NOT_SET) {
    return InField(
        InvalidArgument("multi_cluster_routing_use_any or single_cluster_routing must be set"),
        "routing_policy");
  }
  return absl::OkStatus();
}

absl::Status ProfileNotFound(const std::string& name) {
  return NotFound("App profile not found: {}", name);
}

}  // namespace

absl::StatusOr<admin_wire::AppProfile> AppProfiles::Create(
    const admin_wire::CreateAppProfileRequest& request) {
  STELED_ASSIGN_OR_RETURN(
      const ProfileName parsed,
      ParseName(request.parent() + std::string(kLevel) + request.app_profile_id()));
  STELED_RETURN_IF_ERROR(CheckRouting(request.app_profile()));
  admin_wire::AppProfile profile = request.app_profile();
  profile.set_name(parsed.instance_name + std::string(kLevel) + parsed.profile_id);
  const std::lock_guard lock(mutex_);
  const absl::Status present = Get(profile.name()).status();
  if (present.ok()) return AlreadyExists("App profile already exists: {}", profile.name());
  if (!absl::IsNotFound(present)) return present;
  profile.set_etag(NextEtag("0"));
  STELED_RETURN_IF_ERROR(records_.Put(ProfileKey(profile.name()), profile));
  return profile;
}

absl::StatusOr<admin_wire::AppProfile> AppProfiles::Get(const std::string& name) const {
  STELED_ASSIGN_OR_RETURN(const ProfileName parsed, ParseName(name));
  STELED_ASSIGN_OR_RETURN(std::optional<admin_wire::AppProfile> profile,
                          records_.Get<admin_wire::AppProfile>(ProfileKey(name)));
  if (profile.has_value()) return *std::move(profile);
  if (parsed.profile_id == kDefaultId) return DefaultOf(parsed.instance_name);
  return ProfileNotFound(name);
}

absl::Status AppProfiles::List(const admin_wire::ListAppProfilesRequest& request,
                               admin_wire::ListAppProfilesResponse* response) const {
  constexpr std::string_view kWildcard = "/instances/-";
  if (request.page_size() < 0) return InvalidArgument("page_size must not be negative");
  const int page =
      request.page_size() == 0 ? kProfilesPerPage : std::min(request.page_size(), kProfilesPerPage);
  const bool is_any = request.parent().ends_with(kWildcard);
  const std::string project_name =
      request.parent().substr(0, request.parent().size() - (is_any ? kWildcard.size() : 0));
  STELED_RETURN_IF_ERROR(is_any ? StoredProjectPrefix(project_name).status()
                                : StoredPrefix(request.parent()).status());
  const std::string prefix =
      is_any ? "app_profile/" + project_name + "/instances/" : RecordPrefix(request.parent());
  STELED_ASSIGN_OR_RETURN(std::vector<admin_wire::AppProfile> profiles,
                          records_.List<admin_wire::AppProfile>(prefix));
  const auto by_name = [](const admin_wire::AppProfile& a, const admin_wire::AppProfile& b) {
    return a.name() < b.name();
  };
  if (!is_any) {
    const admin_wire::AppProfile first = DefaultOf(request.parent());
    const auto place = std::lower_bound(profiles.begin(), profiles.end(), first, by_name);
    if (place == profiles.end() || place->name() != first.name()) profiles.insert(place, first);
  }
  // The token of a page is the last name of the previous page.
  admin_wire::AppProfile last;
  last.set_name(request.page_token());
  for (auto next = std::upper_bound(profiles.begin(), profiles.end(), last, by_name);
       next != profiles.end(); ++next) {
    if (response->app_profiles_size() == page) {
      response->set_next_page_token(std::prev(next)->name());
      break;
    }
    *response->add_app_profiles() = *next;
  }
  return absl::OkStatus();
}

absl::StatusOr<admin_wire::AppProfile> AppProfiles::Update(
    const admin_wire::UpdateAppProfileRequest& request) {
  constexpr std::string_view kFields[] = {"description",
                                          "multi_cluster_routing_use_any",
                                          "single_cluster_routing",
                                          "priority",
                                          "standard_isolation",
                                          "data_boost_isolation_read_only",
                                          "etag"};
  STELED_RETURN_IF_ERROR(CheckUpdateMask(request.update_mask(), kFields));
  const std::lock_guard lock(mutex_);
  STELED_ASSIGN_OR_RETURN(admin_wire::AppProfile profile, Get(request.app_profile().name()));
  const std::string etag = profile.etag();
  if (!request.app_profile().etag().empty() && request.app_profile().etag() != etag) {
    return MakeStatus(absl::StatusCode::kAborted,
                      "The app profile was changed since its etag was read; read it again");
  }
  MergeByMask(request.app_profile(), request.update_mask(), &profile);
  STELED_RETURN_IF_ERROR(CheckRouting(profile));
  profile.set_etag(NextEtag(etag));
  STELED_RETURN_IF_ERROR(records_.Put(ProfileKey(profile.name()), profile));
  return profile;
}

absl::Status AppProfiles::Delete(const std::string& name) {
  const std::lock_guard lock(mutex_);
  STELED_RETURN_IF_ERROR(Get(name).status());
  if (name.ends_with(std::string(kLevel) + std::string(kDefaultId)))
    return FailedPrecondition("The default app profile stays: {}", name);
  return records_.Apply({{ProfileKey(name), std::nullopt}});
}

absl::Status AppProfiles::CheckTransactions(std::string_view table_name,
                                            const std::string& profile_id) const {
  const std::string instance_name(table_name.substr(0, table_name.rfind("/tables/")));
  const absl::StatusOr<admin_wire::AppProfile> profile =
      Get(instance_name + std::string(kLevel) +
          (profile_id.empty() ? std::string(kDefaultId) : profile_id));
  if (absl::IsNotFound(profile.status()) || absl::IsInvalidArgument(profile.status()))
    return absl::OkStatus();
  if (!profile.ok()) return profile.status();
  if (profile->has_single_cluster_routing() &&
      profile->single_cluster_routing().allow_transactional_writes())
    return absl::OkStatus();
  return FailedPrecondition("Single-row transactions are not allowed by this app profile");
}

std::pair<std::string, std::string> AppProfiles::DefaultRecord(
    const std::string& instance_name, std::span<const std::string> cluster_ids) {
  const admin_wire::AppProfile profile = DefaultOf(instance_name, cluster_ids);
  return {ProfileKey(profile.name()), profile.SerializeAsString()};
}

std::string AppProfiles::RecordPrefix(const std::string& instance_name) {
  return "app_profile/" + instance_name + std::string(kLevel);
}

}  // namespace stele::server

#include "steled/systemd_notify.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

namespace stele::server {

void NotifyReady(const std::string& status) {
  sd_notify(0, fmt::format("READY=1\nSTATUS={}", status).c_str());
}
void NotifyReloading() { sd_notify(0, "RELOADING=1"); }
void NotifyStopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace stele::server

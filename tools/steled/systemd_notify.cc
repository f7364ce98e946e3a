#include "systemd_notify.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

namespace stele::server {

void TellReady(const std::string& status) { sd_notify(0, fmt::format("READY=1\nSTATUS={}", status).c_str()); }
void TellReloading() { sd_notify(0, "RELOADING=1"); }
void TellStopping() { sd_notify(0, "STOPPING=1"); }

}  // namespace stele::server

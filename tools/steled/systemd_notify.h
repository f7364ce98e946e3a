// steled/systemd_notify.h: tells systemd how the server fares, where systemd started it (Type=notify).
//
// Errors:    none: without systemd nothing happens.
// Threads:   thread-safe.
// Source:    sd_notify(3).
#pragma once

#include <string>

namespace stele::server {

// `status`: one line that `systemctl status` shows.
void TellReady(const std::string& status);
void TellReloading();
void TellStopping();

}  // namespace stele::server

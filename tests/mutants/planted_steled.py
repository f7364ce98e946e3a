"""Planted bugs of tools/steled/, of the conversion in src/remote/wire/ and of src/remote/. run.py imports
this module, which extends the list.
"""
from planted import plant

PARTS = ["steled_test --gtest_filter=MutateRows.*:CommandLine.*:RowChunker.*"]
TRANSLATION = ["unit_remote_wire"]

plant(
    "steled", PARTS, "tools/steled/services/read_rows.cc",
    ("a qualifier is sent only with its family", "if (chunk.family_name.has_value() || cell.qualifier() != qualifier_)",
     "if (chunk.family_name.has_value())"),
)
plant(
    "wire", TRANSLATION, "src/remote/wire/filter_translation.cc",
    ("a switch that is off passes for one that is on", "if (!on) return InvalidArgument", "if (on && !on) return InvalidArgument"),
)
plant(
    "wire", TRANSLATION, "src/remote/wire/mutation_translation.cc",
    ("a client's time is rounded down in tables of microseconds, too", "is_clients_clock_ && traits_.granularity == TimestampGranularity::kMillis",
     "is_clients_clock_"),
)
plant(
    "wire", TRANSLATION, "src/remote/wire/row_set_translation.cc",
    ("an open end is treated as closed", "end_closed ? RowRange::LeftOpen(start, end) : RowRange::Open(start, end)",
     "RowRange::LeftOpen(start, end)"),
)
plant(
    "steled", PARTS, "tools/steled/flags.cc",
    ("a name that starts like a loopback address is accepted as one", "std::all_of(host.begin(), host.end(), allowed);", "allowed(host.front());"),
)
plant(
    "remote", ["unit_remote_client"], "src/remote/client/row_source.cc",
    ("a reversed read continues on the wrong side", 'reversed ? KeyRange{"", last, false} : KeyRange', 'KeyRange'),
    ("received rows do not count toward the limit", "if (rows_left_ > 0 && --rows_left_ == 0) {", "if (rows_left_ < 0) {"),
    ("rows that a request left out are never requested", "ranges_ = std::move(later_);", "ranges_.clear();"),
)
plant(
    "remote", ["unit_remote_client"], "src/api/recorded_call.cc",
    ("a trace has zeros for what is unknown", "    if (stats.is_work_known) {", "    if (stats.rows_returned > 0) {"),
)
plant(
    "remote", ["unit_remote_client"], "src/remote/client/read_stream.cc",
    ("the client waits for a silent server", "std::chrono::system_clock::now() + silence_max_;", "std::chrono::system_clock::now() + std::chrono::hours(24);"),
)
plant(
    "wire", TRANSLATION, "src/remote/wire/plain_entries.cc",
    ("all entries are kept, however many", "return items.size() <= PlainEntries::kCountMax;", "return items.size() < SIZE_MAX;"),
    ("a row of too many cells is truncated", "HasRoom(plain->cells) && ReadMutation(", "(!HasRoom(plain->cells)) || ReadMutation("),
    ("a row's token is ignored", "    } else if (tag == BytesField(6)) {",
     "    } else if (tag == BytesField(8)) {\n      is_read = fields.Read(&mutation);\n    } else if (tag == BytesField(6)) {"),
    ("a row's profile is used as its view", "(tag == BytesField(4)) {\n      is_read = fields.ReadTextOnce(&plain->app_profile_id);",
     "(tag == BytesField(4)) {\n      is_read = fields.ReadTextOnce(&plain->authorized_view_name);"),
    ("only the first cell of a row is parsed", "  entry.cell_end = plain->cells.size();\n  return true;\n}\n\n}  // namespace stele::internal",
     "  entry.cell_end = plain->cells.empty() ? 0 : 1;\n  return true;\n}\n\n}  // namespace stele::internal"),
    ("names that protobuf rejects are accepted", "return ReadOnce(text) && IsAscii(*text);", "return ReadOnce(text);"),
    ("of two cells in one mutation the first counts", "fields.Read(&set_cell) && !fields.Next(&tag) && ", "fields.Read(&set_cell) && "),
    ("a negative timestamp is parsed as positive", "*number = static_cast<int64_t>(raw);", "*number = static_cast<int64_t>(raw & INT64_MAX);"),
)
plant(
    "wire", TRANSLATION, "src/remote/wire/chunk_bytes.cc",
    ("a varint's length is one byte too great", "std::bit_width(number | 1)) + 6) / 7", "std::bit_width(number | 1)) + 7) / 7"),
    ("a number ends at its first byte", "static_cast<char>(number | 0x80);", "static_cast<char>(number);"),
    ("a label is written as a value", "writer.Bytes(BytesTag(5), label);", "writer.Bytes(BytesTag(6), label);"),
    ("a committed row is reset", "writer.Head(VarintTag(9), 1);", "writer.Head(VarintTag(8), 1);"),
    ("an empty family is treated as absent", "  void Optional(char tag, const std::optional<std::string_view>& text) {\n    if (!text.has_value()) return;",
     "  void Optional(char tag, const std::optional<std::string_view>& text) {\n    if (!text.has_value() || text->empty()) return;"),
    ("a chunk overwrites the previous one", "FieldWriter writer(response->data() + begin);", "FieldWriter writer(response->data());"),
)
plant(
    "remote", ["unit_remote_client"], "src/remote/client/chunk_merger.cc",
    ("an interrupted row is read again although parts of it were returned", "has_shown_piece_ = !is_last_piece;", "has_shown_piece_ = false;"),
    ("the first part of a row is kept when the next stream starts", "  DropRow();\n  return absl::OkStatus();\n}\n\nabsl::Status ChunkMerger::EndStream",
     "  return absl::OkStatus();\n}\n\nabsl::Status ChunkMerger::EndStream"),
)
plant(
    "remote", ["unit_remote_client"], "src/remote/client/bulk_writer.cc",
    ("a write that adds is sent twice", "IsTransient(answer) && IsRepeatable(entry)", "IsTransient(answer)"),
    ("a token is trusted forever", "(entry.has_token && connection_.waiter().Now() < entry.begin + kTokenRepeat)", "entry.has_token"),
    ("a row is twice in a request", "if (!row_keys.insert(mutation.row_key()).second) break;", "row_keys.insert(mutation.row_key());"),
)
plant(
    "remote", ["unit_remote_client"], "src/remote/client/backoff.cc",
    ("the backoff stays short", "pause_ = std::min(2 * pause_, kPauseMax);", ""),
)

BACKUPS = ["steled_test --gtest_filter=Backup.*:FailedBackup.*"]

plant(
    "steled", BACKUPS, "tools/steled/backups/backup_directory.cc",
    ("a backup contains the other tables", "if (name != stored_table) STELED_RETURN_IF_ERROR(copy.DeleteTable(name));", "(void)name;"),
    ("an interrupted backup is not removed", "if (folder.starts_with(kHiddenPrefix)) {", "if (folder.starts_with('~')) {"),
    ("names that start with a dot are removed", "if (folder.starts_with(kHiddenPrefix)) {", "if (folder.starts_with('.')) {"),
    ("two servers share a backup directory", "LOCK_EX | LOCK_NB", "LOCK_SH | LOCK_NB"),
)
plant(
    "steled", BACKUPS, "tools/steled/backups/backups.cc",
    ("an expiry five hours ahead is accepted", "constexpr hours kLifeMin(6);", "constexpr hours kLifeMin(5);"),
    ("a copy of a copy is accepted", "if (!source->backup().source_backup().empty()) {", "if (source->backup().name().empty()) {"),
    ("a restored table keeps its source's protection", "property != kBackupProperty && property != kDeletionProtection", "property != kBackupProperty"),
    ("a clock that leaps removes backups", " && MicrosOf(entry.backup.expire_time()) <= collection_micros", ""),
    ("an expired backup is listed", "if (name.starts_with(prefix) && !IsExpired(entry.backup) &&", "if (name.starts_with(prefix) &&"),
)
plant(
    "steled", BACKUPS, "tools/steled/backups/table_copy.cc",
    ("garbage versions are omitted", ".apply_gc = false, .fill_cache", ".apply_gc = true, .fill_cache"),
    ("a row's later parts are loaded, too", "if (changes->has_aggregates || is_loaded_) return", "if (changes->has_aggregates) return"),
)
plant(
    "steled", BACKUPS, "tools/steled/state/open_tables.cc",
    ("a hidden table is found", "return hidden_.contains(stored_name) || soft_deleted_", "return soft_deleted_"),
    ("a request sees a table that is being restored", "hidden_.insert(stored_name);  // before", "// before"),
)

EXTENT = ["steled_test --gtest_filter=UndeleteTest.*:SoftDeletedTables.*:HotBackup.*:AutomatedBackup.*:AppProfileTransactions.*"]
plant(
    "steled", EXTENT, "tools/steled/state/open_tables.cc",
    ("a deleted table is found", "|| soft_deleted_.contains(stored_name) ||\n", "||\n"),
    ("a period is never over", "if (deleted_micros <= micros) names", "if (deleted_micros < 0) names"),
)
plant(
    "steled", EXTENT, "tools/steled/backups/backups.cc",
    ("a standard backup takes a time to become one", "if (!is_hot) return", "if (false) return"),
    ("a hot backup stays hot", "current.set_backup_type(admin_wire::Backup::STANDARD);", ";"),
)
plant(
    "steled", EXTENT, "tools/steled/state/app_profiles.cc",
    ("every single cluster allows transactions", "&& profile->single_cluster_routing().allow_transactional_writes()", ""),
)

INSTANCES = ["steled_test --gtest_filter=InstanceTest.*:InstanceRecords.*:CallTest.*:DataTest.Distinct*"]

plant(
    "steled", INSTANCES, "tools/steled/state/instances.cc",
    ("an instance with protected tables is deleted", "    STELED_RETURN_IF_ERROR(CheckDeletable(name, stored_prefix));\n", ""),
    ("the last cluster is deleted", "if (present.size() == 1) return", "if (present.empty()) return"),
    ("the default cluster disappears when the first one is created",
     "    changes.emplace_back(ClusterKey(other.name()), other.SerializeAsString());\n  }\n  STELED_RETURN_IF_ERROR(records_.Apply(changes));\n  return cluster;",
     "  }\n  STELED_RETURN_IF_ERROR(records_.Apply(changes));\n  return cluster;"),
)
plant(
    "steled", INSTANCES, "tools/steled/state/app_profiles.cc",
    ("an old etag is accepted", "request.app_profile().etag() != etag)", "request.app_profile().etag() == \"never\")"),
)
plant(
    "steled", INSTANCES, "tools/steled/state/iam_policies.cc",
    ("a policy outlives its table", "if (policy.has_value()) changes.emplace_back(RecordKey(resource), std::nullopt);", "(void)policy;"),
)
plant(
    "steled", INSTANCES, "tools/steled/state/open_tables.cc",
    ("a family that was created later is unknown", "if (found != by_wire_name_.end()) by_wire_name_.erase(found);", "(void)found;"),
)
plant(
    "steled", INSTANCES, "tools/steled/monitoring/call_metrics.cc",
    ("every call is counted as OK", "    CallsOf(code).Increment();\n    seconds_", "    CallsOf(absl::StatusCode::kOk).Increment();\n    seconds_"),
    ("a call never ends", "void CallMetrics::OnEnd(const EndedCall& call) {\n  series_->running.Decrement();\n", "void CallMetrics::OnEnd(const EndedCall& call) {\n"),
)

CALLS = ["steled_test --gtest_filter=MethodTable*:Routes.*:ReadableText.*:Reflection.*:Metrics*:Health.*:CallTest.*"]

plant(
    "steled", CALLS, "tools/steled/rpc/method_table.cc",
    ("an error's text contains the bytes of any row key", "return Readable(run(call));", "return run(call);"),
    ("a request that cannot be parsed is served", "if (request->ParseFromString(message)) return absl::OkStatus();",
     "if (request->ParsePartialFromString(message) || true) return absl::OkStatus();"),
)
plant(
    "steled", CALLS, "tools/steled/services/reflection_service.cc",
    ("a file that the stream has returned is returned again", "if (!is_new && i > 0) continue;", "(void)is_new;"),
)
plant(
    "steled", CALLS, "tools/steled/monitoring/health_service.cc",
    ("the end of the server does not end a Watch", "if (ends) return", "if (ends && !told_.has_value()) return"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/http2_connection.cc",
    ("a paused call is not notified of free space", "    room_.notify_all();\n    Notify(stream);\n", "    room_.notify_all();\n    stream->changed.notify_all();\n"),
    ("a call that the server ends is reported as cancelled by the client", "if (stream.is_ending) return", "if (stream.is_ending && status.ok()) return"),
    ("a truncated response counts as complete", "if (!absl::IsCancelled(status) && !(status.ok() && stream.has_lost_message)) return status;", "if (!absl::IsCancelled(status)) return status;"),
    ("an expired deadline is counted as a cancellation by the client", "if (stream.due_at.has_value() && std::chrono::steady_clock::now() >= *stream.due_at) {", "if (false) {"),
    ("a request's reservation is not released", "  host_.memory.Release(std::exchange(stream->request_bytes, 0), MemoryUse::kRequest);\n  ReleaseUnread", "  ReleaseUnread"),
    ("the server waits for the rest of a rejected request", "if (stream != nullptr && !stream->request_ended) Of(user)", "if (stream == nullptr) Of(user)"),
    ("a call that is too late keeps its request", "  stream->request = MessageSplitter();\n  host_.memory", "  host_.memory"),
    ("a turn begins any number of calls", " && begun->size() < kStreamsMax;", ";"),
    ("a stream without a request is not charged", "  stream->stream_bytes = kept_bytes;\n", "  host_.memory.Release(kept_bytes, MemoryUse::kSmall);\n"),
    ("a rejected request keeps its reservation", "    host_.memory.Release(std::exchange(stream->request_bytes, 0), MemoryUse::kRequest);\n    stream->request = MessageSplitter();", "    stream->request = MessageSplitter();"),
    ("a request that ends inside a message is accepted", "if (stream->request.IsInside())", "if (false)"),
    ("headers have no bound", "if (stream->header_bytes > Http2Connection::kHeaderBytesMax)", "if (false)"),
    ("calls start during a shutdown", "  if (is_drained_) return GiveUp(", "  if (false) return GiveUp("),
    ("a connection's end is not read with its last bytes", "(is_ending || !read.is_all)", "!read.is_all"),
    ("a message is sent repeatedly", "    stream->unsent_offset = 0;\n", ""),
    ("unread responses have no bound", "kOutboundFramesMax = 10'000;", "kOutboundFramesMax = 1'000'000'000;"),
    ("a connection is closed before the end of its response", "if (is_open && !IsWanted()) Linger();", "is_open = is_open && IsWanted();"),
    ("a client that reads is disconnected like one that does not", "      nghttp2_option_set_max_outbound_ack(option, kOutboundFramesMax);\n", ""),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/http2_stream.cc",
    ("a stream that the client does not read is sent without bound", "const auto is_free = [this] { return connection.HasRoom(*this); };", "const auto is_free = [] { return true; };"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/http2_flow_control.cc",
    ("a stream is charged for messages that were handled", "if (stream->method->takes_stream && stream->request_bytes > held) {", "if (false) {"),
    ("one byte now and then keeps a request alive", "if (!is_first && stream->bytes_since_progress < least) return;", ""),
    ("one connection may use all memory for responses", "bytes + most / kKeptShare <= memory.answer_bytes_left()", "bytes <= memory.answer_bytes_left()"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/http2_connection.h",
    ("unread responses are not charged", "held > kSmallAnswerBytes ? held : 0", "0"),
    ("a request of headers alone is kept", "progress_at = begun_at;", "progress_at = std::chrono::steady_clock::time_point::max();"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/http2_end.cc",
    ("a paused call is not notified that its client has gone", "  host_.memory.Release(bytes, MemoryUse::kRequest);\n  Notify(stream);\n", "  host_.memory.Release(bytes, MemoryUse::kRequest);\n  stream->changed.notify_all();\n"),
    ("a cancelled call is not notified", "if (stream.has_begun && !stream.is_done) {", "if (false) {"),
    ("an incomplete request gets no status at the end", "if (stream->AwaitsRequest() && stream->http_refusal == nullptr)", "if (false)"),
    ("the shutdown does not wait for data in flight", "while (!is_closed_ && socket_->UndeliveredBytes() > 0 &&", "while (false &&"),
    ("a stream that the client does not read is kept", "return stream->last_read_at < (is_charged", "return false && stream->last_read_at < (is_charged"),
    ("a silent client gets no ping", "    is_ping_unanswered_ = true;\n", ""),
    ("the server waits for a request that stopped in the middle", "if (stream.progress_at < cutoffs.progress_since) {", "if (false) {"),
    ("a running call is treated as a stopped one", "if (!stream.AwaitsRequest()) return nullptr;", "if (stream.status.has_value()) return nullptr;"),
    ("a request may take any time", "stream.begun_at < cutoffs.begun_since ?", "false ?"),
    ("a client is promised that an applied write had no effect", "stream->has_begun ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_REFUSED_STREAM",
     "stream->has_begun ? NGHTTP2_REFUSED_STREAM : NGHTTP2_INTERNAL_ERROR"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/transport.cc",
    ("calls above the limit are not counted", "      host_.observer.OnRefused({stream->path(), connection->peer(), admitted.code(), cause});\n", ""),
    ("a paused call keeps its slot", "      slots_.Release(", "      if (call.continuation == nullptr) slots_.Release("),
    ("the deadline of a paused call is not checked", "*deadline <= now)) late", "*deadline <= now - std::chrono::hours(1))) late"),
    ("a call that gets no message is kept", "if (is_silent || is_over", "if (is_over"),
    ("the number of connections has no limit", "if (connections_.size() < options_.connections_max) {", "if (true) {"),
    ("a refused call keeps its request while another one runs", "Admit(connection, std::move(stream))", "Admit(connection, stream)"),
    ("only one of several calls that arrive together is run", "        Defer(std::move(call));", "        call.Finish(absl::OkStatus());"),
    ("a waiting call wakes no thread", "      waiting_.splice(waiting_.end(), call);\n    }\n    poller_.Wake();", "      waiting_.splice(waiting_.end(), call);\n    }"),
    ("the shutdown does not wait for calls", "if (!call_ended_.wait_until(lock, end, is_idle)) {", "if (true) {"),
    ("calls that are on their way at the end are refused", "c.AwaitAnnounced(end);", "{}"),
    ("a lost connection is kept", "    if (ready == Http2Connection::Ready::kOver) Remove(id);", ""),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/calls/call_limits.cc",
    ("the number of calls has no limit", "if (taken_[index] >= most) {", "if (false) {"),
    ("one connection may use all call slots", "  if (are_few_free && ", "  if (false && "),
    ("health checks need a slot", "  if (kind == CallKind::kHealth) return absl::OkStatus();\n", ""),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/calls/call_threads.cc",
    ("the last thread that waits for events exits", "(count_ <= kIdleMax || waiting_.load() == 0)", "count_ <= kIdleMax"),
    ("no thread waits for events while calls run", "  if (waiting_.load() > 0 || free_count_.load() == 0) return;", "  if (!is_short) return;"),
    ("a resumed call keeps its worker slot", "    FreePermit(&permit);\n", ""),
    ("the monitor thread sleeps while calls start", "      call_began_.notify_all();\n", ""),
)
plant(
    "transport", ["no_memory_test"], "tools/steled/transport/calls/call_threads.cc",
    ("a thread that the system refused is not tried again", "    lacks_thread_ = true;\n", ""),
    ("a start without threads succeeds", "  return count_ > 0;", "  return true;"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/grpc_protocol.cc",
    ("a percent sign is not encoded", "c <= '~' && c != '%'", "c <= '~'"),
    ("a message may have any length", "if (length_ > message_bytes_max_)", "if (false)"),
)
plant(
    "transport", ["transport_test"], "tools/steled/transport/sockets/listening_socket.cc",
    ("a client waits for a connection when no descriptor is left", "const int turned_away = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);", "const int turned_away = -1;"),
    ("the socket of another server is removed", "status.st_dev == file_.device && status.st_ino == file_.inode)", "true)"),
    ("two servers that start at once get one path", "flock(descriptor_, LOCK_EX | LOCK_NB) == 0", "true"),
)
plant(
    "steled", ["steled_test --gtest_filter=HttpPagesTest*"], "tools/steled/monitoring/http_pages.cc",
    ("idle connections keep others out", "connections_.size() > limits_.connections_max", "false"),
    ("a late request keeps its connection", "if (is_look) CloseLate();", ""),
    ("a probe waits for slow pages", "connection->awaits_probe ? kProbes : kPages", "kPages"),
    ("a probe that waits is closed first", "!has_response(it) && !it.awaits_probe", "!has_response(it)"),
)
plant(
    "steled", ["steled_test --gtest_filter=DescriptorLimit*"], "tools/steled/descriptor_limit.cc",
    ("the limit of open files is not raised", "setrlimit(RLIMIT_NOFILE, &raised) == 0", "false"),
)
plant(
    "steled", ["steled_test --gtest_filter=RowSender*:SupportsLastScannedKey*"], "tools/steled/services/row_sender.cc",
    ("rows are deleted after the end of the scan", "if (chunker_.has_rows()) {", "if (false) {"),
    ("progress is reported inside a row", " && !chunker_.in_row()) {", ") {"),
    ("a found row is delayed", "  if (is_added && !was_sent_ && IsDue(now)) chunker_.Flush();\n", ""),
)

plant(
    "transport", ["transport_test"], "tools/steled/transport/http2/http2_stream.cc",
    ("a call is started although its client has gone", "!awaited.ok()) {", "false) {"),
)
plant(
    "steled", ["steled_test --gtest_filter=SoftDeletedTables.*"], "tools/steled/state/open_tables.cc",
    ("a restored table counts as deleted", 'if (SoftDeletionMicros(schema).has_value()) schema.SetProperty(kSoftDeletedProperty, "");', ""),
)
plant(
    "steled", ["steled_test --gtest_filter=AutomatedBackup.*"], "tools/steled/backups/automated_backups.cc",
    ("an automated backup of the future holds up the next one", "std::abs(clock_->Now().micros() - last_micros)", "clock_->Now().micros() - last_micros"),
    ("a backup without a record is made again", "unfinished.made_micros = made_micros;", ""),
    ("a failed backup is tried at once", "waited_micros < found->second.pause_micros", "false"),
    ("a stop counts as a failure", "if (absl::IsCancelled(made) && stop.stop_requested()) return absl::OkStatus();", ""),
)

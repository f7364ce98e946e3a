// Sanitizer options of every test program. A failed allocation must return null, so that the tests
// of memory exhaustion see the error instead of an abort.

extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

// stele/requires_cxx20.h: stops the compiler with one clear line if it compiles for an older
// standard. Every public header includes it.
#pragma once

#if __cplusplus < 202002L
#error "Stele needs C++20: compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20"
#endif

// The members of std::string, all of them, of libstdc++ and of libc++: their headers declare them `extern template`
// (that of libstdc++ before C++20), so that those which no caller takes in stand in the library alone. The build makes
// bitcode of this file with either, without which a derivative could not tell what memory they allocate, free and move
// characters in (library.cpp). Their layouts have been the same since GCC 5 and LLVM 3.
//
// No part of the bridge's own code. Where the build's compiler does not find a library, the bitcode for it is empty.

#include <cstdio>
#include <string>

#if defined(_LIBCPP_VERSION) || defined(_GLIBCXX_USE_CXX11_ABI)
template class std::basic_string<char>;
#endif

// What the header of libstdc++ defines and that of libc++ only declares.
#ifdef _LIBCPP_VERSION
template std::string std::operator+(const char *, const std::string &);

// Has no derivative: library.cpp says so of those whose names begin with `given_`.
#define NUMBER(type, format, most)                                                                                     \
  extern "C" [[gnu::noinline]] size_t given_##type##_text(char *text, type value) {                                    \
    const int length = std::snprintf(text, most, format, value);                                                       \
    return length < 0 ? 0 : static_cast<size_t>(length);                                                               \
  }                                                                                                                    \
  std::string std::to_string(type value) {                                                                             \
    char text[most];                                                                                                   \
    return std::string(text, given_##type##_text(text, value));                                                        \
  }

using long_long = long long;
using unsigned_long = unsigned long;
using unsigned_long_long = unsigned long long;
using long_double = long double;
NUMBER(int, "%d", 24)
NUMBER(unsigned, "%u", 24)
NUMBER(long, "%ld", 24)
NUMBER(unsigned_long, "%lu", 24)
NUMBER(long_long, "%lld", 24)
NUMBER(unsigned_long_long, "%llu", 24)
// The largest float has 39 digits before the point, the largest double 309, the largest long double 4,933.
NUMBER(float, "%f", 64)
NUMBER(double, "%f", 328)
NUMBER(long_double, "%Lf", 4944)
#endif

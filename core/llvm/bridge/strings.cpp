// The members of libstdc++'s std::string, all of them: before C++20 its header declares them `extern template`, so that
// those which no caller takes in stand in the library alone. The build makes bitcode of this file, without which a
// derivative could not tell what memory they allocate, free and move characters in (library.cpp). Its layout has been
// the same since GCC 5.
//
// No part of the bridge's own code. Where the build's compiler has another library, there are no such members and the
// bitcode is empty.

#include <string>

#ifdef _GLIBCXX_USE_CXX11_ABI
template class std::basic_string<char>;
#endif

// Command-line options, registered with LLVM from a table that Rust owns.
//
// They exist only in hosts that load the plugin before they read their command line. The library may be loaded twice
// (as a pass plugin and by -load, or under two names); an option that is there already is then taken over instead of
// registered again, which LLVM would answer by aborting.

#include "support.h"

#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace {

cl::Option *find(StringRef name) {
  auto &options = cl::getRegisteredOptions();
  auto it = options.find(name);
  return it == options.end() ? nullptr : it->second;
}

// Options live as long as the process, as LLVM's registry points to them.
template <typename T> void add(const EnzOption &option, T initial) {
  auto *created = new cl::opt<T>(StringRef(*new std::string(enz::text(option.name))),
                                 cl::desc(StringRef(*new std::string(enz::text(option.help)))), cl::init(initial));
  (void)created;
}

} // namespace

void enz_options_register(const EnzOption *options, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const EnzOption &option = options[i];
    if (find(enz::text(option.name)))
      continue;
    switch (option.kind) {
    case ENZ_OPTION_BOOL:
      add<bool>(option, option.initial != 0);
      break;
    case ENZ_OPTION_INT:
      add<int64_t>(option, option.initial);
      break;
    default:
      add<std::string>(option, std::string());
      break;
    }
  }
}

// The casts are right for options registered above, by this copy of the library or another of the same build; the names
// are ours alone.
uint8_t enz_option_number(EnzStr name, int64_t *out) {
  cl::Option *option = find(enz::text(name));
  if (!option || option->getNumOccurrences() == 0)
    return 0;
  if (option->getValueExpectedFlag() == cl::ValueOptional)
    *out = static_cast<cl::opt<bool> *>(option)->getValue() ? 1 : 0;
  else
    *out = static_cast<cl::opt<int64_t> *>(option)->getValue();
  return 1;
}

uint8_t enz_option_text(EnzStr name, EnzTextSink sink, void *context) {
  cl::Option *option = find(enz::text(name));
  if (!option || option->getNumOccurrences() == 0)
    return 0;
  const std::string &value = static_cast<cl::opt<std::string> *>(option)->getValue();
  sink(context, value.data(), value.size());
  return 1;
}

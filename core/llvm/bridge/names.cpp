// Functions and parameters by the names that a user knows: symbols, C++ names with or without what they are in, names
// of Fortran; parameters by their names in LLVM IR or in the debug information.

#include "support.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace {

// `a::f` of `a::f(double) const`.
std::string withoutParameters(StringRef name) {
  int depth = 0;
  for (size_t n = 0; n < name.size(); ++n) {
    if (name[n] == '<')
      ++depth;
    else if (name[n] == '>')
      --depth;
    else if (name[n] == '(' && depth == 0 && !name.substr(n).starts_with("(anonymous"))
      return name.take_front(n).str();
  }
  return name.str();
}

// The procedure of a symbol of flang: `f` of `_QMmodulePf`, `f_` and `_QPf`.
StringRef fortranName(StringRef symbol) {
  if (symbol.starts_with("_Q")) {
    const size_t at = symbol.rfind('P');
    return at == StringRef::npos ? StringRef() : symbol.substr(at + 1);
  }
  return symbol.ends_with("_") ? symbol.drop_back() : StringRef();
}

bool isCalled(const Function &function, StringRef name) {
  const StringRef symbol = function.getName();
  if (fortranName(symbol).equals_insensitive(name) && !fortranName(symbol).empty())
    return true;
  const std::string full = demangle(symbol);
  if (full == symbol)
    return false;
  const std::string plain = withoutParameters(full);
  return full == name || plain == name || StringRef(plain).ends_with(("::" + name).str());
}

} // namespace

EnzValue enz_function_called(EnzHost host, EnzStr raw, EnzTextSink sink, void *context) {
  enz::SinkStream out(sink, context);
  const StringRef name = enz::text(raw);
  if (Function *exact = host->module->getFunction(name); exact && !exact->isDeclaration())
    return enz::in(static_cast<Value *>(exact));
  SmallVector<Function *, 4> found;
  for (Function &function : *host->module)
    if (!function.isDeclaration() && isCalled(function, name))
      found.push_back(&function);
  if (found.size() == 1)
    return enz::in(static_cast<Value *>(found.front()));
  for (const Function &function : *host->module)
    if (!function.isDeclaration() && !function.getName().starts_with("enzyme.") &&
        (found.empty() || is_contained(found, &function)))
      *out << demangle(function.getName()) << "\n";
  return nullptr;
}

void enz_param_name(EnzValue raw, uint32_t index, EnzTextSink sink, void *context) {
  enz::SinkStream out(sink, context);
  const auto *function = enz::as<Function>(raw);
  if (!function || index >= function->arg_size())
    return;
  if (const DISubprogram *program = function->getSubprogram())
    for (const DINode *node : program->getRetainedNodes())
      if (const auto *variable = dyn_cast<DILocalVariable>(node); variable && variable->getArg() == index + 1) {
        *out << variable->getName();
        return;
      }
  *out << function->getArg(index)->getName();
}

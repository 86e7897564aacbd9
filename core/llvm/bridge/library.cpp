// Bodies for functions that stand in shared libraries and link data structures: library.c says which, library.inc is
// what it compiles to. A call in a prepared clone goes to an internal copy named `enzyme.lib.` and the symbol.

#include "support.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace {

constexpr char kText[] =
#include "library.inc"
    ;

// Whether the body may be meant: same parameters and result.
bool fits(const Function &declared, const Function &body) {
  return declared.getFunctionType() == body.getFunctionType();
}

} // namespace

Function *enz::libraryBody(Function &declared) {
  Module &module = *declared.getParent();
  // Iterators to constant nodes are moved as others are.
  std::string symbol = declared.getName().str();
  if (const size_t at = symbol.find("PKSt"); at != std::string::npos)
    symbol.erase(at + 1, 1);
  const std::string name = "enzyme.lib." + symbol;
  if (Function *known = module.getFunction(name))
    return fits(declared, *known) ? known : nullptr;
  if (module.getDataLayout().getPointerSizeInBits(0) != 64)
    return nullptr;
  SMDiagnostic error;
  LLVMContext &context = module.getContext();
  // Text cannot be read while names are thrown away.
  const bool discards = context.shouldDiscardValueNames();
  context.setDiscardValueNames(false);
  const std::unique_ptr<Module> library = parseAssemblyString(kText, error, context);
  context.setDiscardValueNames(discards);
  const Function *body = library ? library->getFunction(symbol) : nullptr;
  if (!body || !fits(declared, *body))
    return nullptr;
  Function *copy = Function::Create(body->getFunctionType(), GlobalValue::InternalLinkage, name, module);
  ValueToValueMapTy map;
  for (unsigned n = 0; n < body->arg_size(); ++n)
    map[body->getArg(n)] = copy->getArg(n);
  SmallVector<ReturnInst *, 4> returns;
  CloneFunctionInto(copy, body, map, CloneFunctionChangeType::DifferentModule, returns);
  copy->setDoesNotThrow();
  copy->setLinkage(GlobalValue::InternalLinkage);
  return copy;
}

bool enz::isLibraryFunction(StringRef name) {
  return name.starts_with("_ZNSt8__detail15_List_node_base") || name.starts_with("_ZSt29_Rb_tree_") ||
         name.starts_with("_ZSt28_Rb_tree_") || name.starts_with("_ZSt18_Rb_tree_");
}

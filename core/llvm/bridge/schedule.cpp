// The functions of checkpoint.c in the user's module: internal, linked on first use.

#include "checkpoint.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace {

constexpr char kText[] =
#include "checkpoint.inc"
    ;

} // namespace

void enz::linkSchedule(EnzOpaqueHost &host) {
  Module &module = *host.module;
  if (module.getFunction("enzyme_checkpoint_new"))
    return;
  SMDiagnostic error;
  LLVMContext &context = module.getContext();
  // Text cannot be read while names are thrown away.
  const bool discards = context.shouldDiscardValueNames();
  context.setDiscardValueNames(false);
  std::unique_ptr<Module> library = parseAssemblyString(kText, error, context);
  context.setDiscardValueNames(discards);
  if (!library)
    return;
  library->setDataLayout(module.getDataLayout());
  library->setTargetTriple(module.getTargetTriple());
  SmallVector<std::string, 8> names;
  for (Function &function : *library)
    if (!function.isDeclaration()) {
      function.setDoesNotThrow();
      if (!function.hasLocalLinkage())
        names.push_back(function.getName().str());
    }
  if (Linker::linkModules(module, std::move(library)))
    return;
  for (const std::string &name : names)
    if (Function *function = module.getFunction(name))
      function->setLinkage(GlobalValue::InternalLinkage);
}

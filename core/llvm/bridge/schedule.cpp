// The functions of checkpoint.c in the user's module: internal, linked on first use.

#include "checkpoint.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"

using namespace llvm;

namespace {

constexpr unsigned char kCompiled[] = {
#include "checkpoint.inc"
};

} // namespace

void enz::linkSchedule(EnzOpaqueHost &host) {
  Module &module = *host.module;
  if (module.getFunction("enzyme_checkpoint_new"))
    return;
  const StringRef bytes(reinterpret_cast<const char *>(kCompiled), sizeof kCompiled);
  Expected<std::unique_ptr<Module>> library =
      parseBitcodeFile(MemoryBufferRef(bytes, "checkpoint"), module.getContext());
  if (!library) {
    consumeError(library.takeError());
    return;
  }
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  // What the compiler of the bridge says of itself and of its target is nothing that holds here.
  for (NamedMDNode &node : make_early_inc_range((*library)->named_metadata()))
    node.eraseFromParent();
  SmallVector<std::string, 8> names;
  for (Function &function : **library) {
    if (!function.isIntrinsic())
      function.setAttributes({});
    if (!function.isDeclaration()) {
      function.setDoesNotThrow();
      if (!function.hasLocalLinkage())
        names.push_back(function.getName().str());
    }
  }
  if (Linker::linkModules(module, std::move(*library)))
    return;
  for (const std::string &name : names)
    if (Function *function = module.getFunction(name))
      function->setLinkage(GlobalValue::InternalLinkage);
}

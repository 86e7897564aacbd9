// Two modules made one: what a frontend gives derivatives to call, in bitcode or text. Only tools that link LLVM use
// this file.

#include "support.h"

#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

// The other module is of the first one's context, whose handler keeps quiet if that of the first does.
uint8_t enz_link_module(EnzHost host, EnzStr bytes, EnzTextSink error, void *context) {
  enz::SinkStream out(error, context);
  const auto buffer = MemoryBuffer::getMemBufferCopy(enz::text(bytes), "<memory>");
  auto other = enz::readModule(buffer->getMemBufferRef(), host->module->getContext(), *out);
  if (!other)
    return 0;
  // What is declared there is of this module's target.
  other->setDataLayout(host->module->getDataLayout());
  other->setTargetTriple(host->module->getTargetTriple());
  if (!Linker::linkModules(*host->module, std::move(other)))
    return 1;
  *out << "the modules define a symbol differently";
  return 0;
}

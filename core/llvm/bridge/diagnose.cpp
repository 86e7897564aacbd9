// Diagnostics handed to LLVM's context, which passes them to the host compiler.
//
// The kind that names a function and a location is the one for which clang maps the location back to its own source
// manager, quotes the line, and falls back to the function's definition where there is no debug information.

#include "support.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

static DiagnosticSeverity severityOf(uint32_t severity) {
  switch (severity) {
  case ENZ_ERROR:
    return DS_Error;
  case ENZ_WARNING:
    return DS_Warning;
  case ENZ_REMARK:
    return DS_Remark;
  default:
    return DS_Note;
  }
}

void enz_diagnose(EnzHost host, uint32_t severity, EnzValue raw, EnzLoc loc, EnzStr message) {
  LLVMContext &context = host->module->getContext();
  const Twine text(enz::text(message));
  if (auto *function = enz::as<Function>(raw)) {
    const DebugLoc place(enz::un(loc));
    context.diagnose(DiagnosticInfoUnsupported(*function, text, DiagnosticLocation(place), severityOf(severity)));
  } else {
    context.diagnose(DiagnosticInfoGeneric(text, severityOf(severity)));
  }
}

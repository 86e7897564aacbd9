// Diagnostics handed to LLVM's context, which passes them to the host compiler.
//
// The kind that names a function and a location is the one for which clang maps the location back to its own source
// manager, quotes the line, and falls back to the function's definition where there is no debug information. What is
// wrong with a function as a whole is told where that begins.

#include "support.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/Signals.h"

#include <atomic>
#include <cstdlib>

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

// A host without a handler of its own (opt) is ended by LLVM in the middle of an error, with its output file open and
// empty. Such files are registered for removal on signals; here they are removed in the same way.
static std::atomic<bool> reporting_error{false};

static void removeOutputs() {
  if (reporting_error)
    sys::RunInterruptHandlers();
}

void enz_diagnose(EnzHost host, uint32_t severity, EnzValue raw, EnzLoc loc, EnzStr message) {
  LLVMContext &context = host->module->getContext();
  const Twine text(enz::text(message));
  if (severity == ENZ_ERROR) {
    static const bool registered = std::atexit(removeOutputs) == 0;
    reporting_error = registered;
  }
  if (auto *function = enz::as<Function>(raw)) {
    DebugLoc place(enz::un(loc));
    if (DISubprogram *whole = function->getSubprogram(); whole && !place)
      place = DILocation::get(context, whole->getLine(), 0, whole);
    context.diagnose(DiagnosticInfoUnsupported(*function, text, DiagnosticLocation(place), severityOf(severity)));
  } else {
    context.diagnose(DiagnosticInfoGeneric(text, severityOf(severity)));
  }
  reporting_error = false;
}

// Modules: reading, writing, verifying, printing, and the managers that tools need for a module of their own.

#include "support.h"

#include "llvm/AsmParser/LLParser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/AutoUpgrade.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

namespace {

// Without a handler LLVM ends the process at the first error.
struct PrintingHandler : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    DiagnosticPrinterRawOStream printer(errs());
    errs() << LLVMContext::getDiagnosticMessagePrefix(info.getSeverity()) << ": ";
    info.print(printer);
    errs() << "\n";
    return true;
  }
};

} // namespace

// For libraries: what is amiss comes back as results do.
struct SilentHandler : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &) override { return true; }
};

struct EnzOwned {
  LLVMContext context;
  std::unique_ptr<Module> module;
  PassBuilder passes;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  EnzOpaqueHost host{};

  bool start(std::unique_ptr<Module> read) {
    module = std::move(read);
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(components);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, components, modules);
    host = EnzOpaqueHost{module.get(), &modules, &functions, &passes, ThinOrFullLTOPhase::None};
    return true;
  }
};

// What is wrong with debug information alone is mended by throwing it away. LLVM's own readers end the process where
// more is wrong, so that is looked for before they look at debug information.
static bool isSound(Module &module, raw_ostream &out) {
  bool wrong_debug_information = false;
  if (verifyModule(module, &out, &wrong_debug_information))
    return false;
  if (wrong_debug_information) {
    module.getContext().diagnose(DiagnosticInfoIgnoringInvalidDebugMetadata(module));
    StripDebugInfo(module);
  }
  return true;
}

static std::unique_ptr<Module> readText(MemoryBufferRef buffer, LLVMContext &context, raw_ostream &out) {
  auto module = std::make_unique<Module>(buffer.getBufferIdentifier(), context);
  SourceMgr sources;
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBuffer(buffer), SMLoc());
  SMDiagnostic problem;
  if (LLParser(buffer.getBuffer(), sources, problem, module.get(), nullptr, context).Run(false)) {
    problem.print(nullptr, out, false);
    return nullptr;
  }
  if (!isSound(*module, out))
    return nullptr;
  UpgradeDebugInfo(*module);
  return module;
}

static std::unique_ptr<Module> readBitcode(MemoryBufferRef buffer, LLVMContext &context, raw_ostream &out) {
  auto told = [&](Error error) {
    out << buffer.getBufferIdentifier() << ": " << toString(std::move(error));
    return nullptr;
  };
  auto module = getLazyBitcodeModule(buffer, context);
  if (!module)
    return told(module.takeError());
  for (Function &function : **module)
    if (Error error = function.materialize())
      return told(std::move(error));
  if (!isSound(**module, out))
    return nullptr;
  if (Error error = (*module)->materializeAll())
    return told(std::move(error));
  return std::move(*module);
}

std::unique_ptr<Module> enz::readModule(MemoryBufferRef buffer, LLVMContext &context, raw_ostream &out) {
  const StringRef bytes = buffer.getBuffer();
  const bool bitcode = isBitcode(bytes.bytes_begin(), bytes.bytes_end());
  std::unique_ptr<Module> module = bitcode ? readBitcode(buffer, context, out) : readText(buffer, context, out);
  return module && !verifyModule(*module, &out) ? std::move(module) : nullptr;
}

static EnzOwned *read(std::unique_ptr<MemoryBuffer> buffer, std::unique_ptr<DiagnosticHandler> handler,
                      EnzTextSink error, void *context) {
  enz::SinkStream out(error, context);
  auto owned = std::make_unique<EnzOwned>();
  owned->context.setDiagnosticHandler(std::move(handler));
  std::unique_ptr<Module> module = enz::readModule(buffer->getMemBufferRef(), owned->context, *out);
  if (!module)
    return nullptr;
  owned->start(std::move(module));
  return owned.release();
}

EnzOwned *enz_read_module(EnzStr path, EnzTextSink error, void *context) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(enz::text(path));
  if (!buffer) {
    enz::SinkStream out(error, context);
    *out << enz::text(path) << ": " << buffer.getError().message();
    return nullptr;
  }
  return read(std::move(*buffer), std::make_unique<PrintingHandler>(), error, context);
}

EnzOwned *enz_parse_module(EnzStr source, EnzTextSink error, void *context) {
  return read(MemoryBuffer::getMemBufferCopy(enz::text(source), "<text>"), std::make_unique<PrintingHandler>(), error,
              context);
}

EnzOwned *enz_parse_quietly(EnzStr bytes, EnzTextSink error, void *context) {
  return read(MemoryBuffer::getMemBufferCopy(enz::text(bytes), "<memory>"), std::make_unique<SilentHandler>(), error,
              context);
}

void enz_owned_drop(EnzOwned *owned) { delete owned; }

EnzHost enz_owned_host(EnzOwned *owned) { return &owned->host; }

uint8_t enz_write_module(EnzHost host, EnzStr path, uint8_t bitcode, EnzTextSink error, void *context) {
  std::error_code code;
  raw_fd_ostream file(enz::text(path), code, bitcode ? sys::fs::OF_None : sys::fs::OF_Text);
  if (!code) {
    if (bitcode)
      WriteBitcodeToFile(*host->module, file);
    else
      host->module->print(file, nullptr);
    file.close();
    code = file.error();
    file.clear_error();
  }
  if (!code)
    return 1;
  enz::SinkStream out(error, context);
  *out << enz::text(path) << ": " << code.message();
  return 0;
}

uint8_t enz_verify_module(EnzHost host, EnzTextSink error, void *context) {
  enz::SinkStream out(error, context);
  return verifyModule(*host->module, &*out) ? 0 : 1;
}

void enz_module_bitcode(EnzHost host, EnzTextSink sink, void *context) {
  SmallVector<char, 0> bytes;
  raw_svector_ostream out(bytes);
  WriteBitcodeToFile(*host->module, out);
  sink(context, bytes.data(), bytes.size());
}

void enz_print_module(EnzHost host, EnzTextSink sink, void *context) {
  enz::SinkStream out(sink, context);
  host->module->print(*out, nullptr);
}

void enz_print_value(EnzValue value, EnzTextSink sink, void *context) {
  enz::SinkStream out(sink, context);
  enz::un(value)->print(*out);
}

void enz_module_names(EnzHost host, EnzStr *name, EnzStr *triple, EnzTextSink layout, void *context) {
  *name = enz::text(StringRef(host->module->getModuleIdentifier()));
  *triple = enz::text(StringRef(host->module->getTargetTriple().str()));
  enz::SinkStream out(layout, context);
  *out << host->module->getDataLayoutStr();
}

size_t enz_module_functions(EnzHost host, EnzValue *out, size_t capacity) {
  size_t n = 0;
  for (Function &function : *host->module) {
    if (n < capacity)
      out[n] = enz::in(static_cast<Value *>(&function));
    ++n;
  }
  return n;
}

size_t enz_module_globals(EnzHost host, EnzValue *out, size_t capacity) {
  size_t n = 0;
  for (GlobalVariable &global : host->module->globals()) {
    if (n < capacity)
      out[n] = enz::in(static_cast<Value *>(&global));
    ++n;
  }
  return n;
}

EnzValue enz_module_function(EnzHost host, EnzStr name) {
  GlobalValue *found = host->module->getNamedValue(enz::text(name));
  return enz::in(dyn_cast_or_null<Function>(found ? enz::resolve(found) : nullptr));
}

EnzValue enz_module_global(EnzHost host, EnzStr name) {
  return enz::in(static_cast<Value *>(host->module->getGlobalVariable(enz::text(name), true)));
}

void enz_module_strip_markers(EnzHost host, const EnzStr *substrings, size_t count) {
  enz::unnameAddresses(*host->module);
  enz::dropSlopes(*host->module);
  // Code of ours that no derivative calls; what others of it call comes after them.
  const auto ours = [](StringRef name) {
    return name.contains(enz::kSpecialised) || name.contains(enz::kVariadic) || name.starts_with("enzyme.lib.");
  };
  for (bool found = true; found;) {
    found = false;
    for (Function &function : make_early_inc_range(*host->module))
      if (function.hasLocalLinkage() && function.use_empty() && ours(function.getName())) {
        host->functions->clear(function, function.getName());
        function.eraseFromParent();
        found = true;
      }
  }
  SmallVector<GlobalValue *, 16> dead;
  auto matches = [&](const GlobalValue &value) {
    if (!value.use_empty())
      return false;
    // Wrappers that preparation made and texts of bodies, where no derivative uses them.
    if (value.hasLocalLinkage() &&
        (value.getName().starts_with("enzyme.abi.") || value.getName().starts_with("enzyme.lib.")))
      return true;
    if (!value.isDeclaration())
      return false;
    for (size_t i = 0; i < count; ++i)
      if (value.getName().contains(enz::text(substrings[i])))
        return true;
    return false;
  };
  for (Function &function : *host->module)
    if (matches(function))
      dead.push_back(&function);
  for (GlobalVariable &global : host->module->globals())
    if (matches(global))
      dead.push_back(&global);
  for (GlobalValue *value : dead) {
    if (auto *function = dyn_cast<Function>(value))
      host->functions->clear(*function, function->getName());
    value->eraseFromParent();
  }
  // Annotation globals are only names; what still looks at one (a sanitizer's check of its load) needs it to exist.
  for (GlobalVariable &global : make_early_inc_range(host->module->globals()))
    if (global.isDeclaration() && global.getName().starts_with("enzyme_") && global.getValueType()->isIntegerTy()) {
      if (global.use_empty()) {
        global.eraseFromParent();
        continue;
      }
      global.setInitializer(Constant::getNullValue(global.getValueType()));
      global.setLinkage(GlobalValue::WeakAnyLinkage);
    }
}

size_t enz_struct_sizes(size_t *out, size_t capacity) {
  const size_t sizes[] = {sizeof(EnzStr),         sizeof(EnzPluginInfo), sizeof(EnzOption),     sizeof(EnzTypeInfo),
                          sizeof(EnzConstInfo),   sizeof(EnzFuncInfo),   sizeof(EnzParamInfo),  sizeof(EnzGlobalInfo),
                          sizeof(EnzInstInfo),    sizeof(EnzLocInfo),    sizeof(EnzPrepare),    sizeof(EnzTripCount),
                          sizeof(EnzArgFact),     sizeof(EnzByteRun),    sizeof(EnzFactSink),   sizeof(EnzFuncSpec),
                          sizeof(EnzMarkerArg),   sizeof(EnzMarkerCall), sizeof(EnzSteadyLoad), sizeof(EnzMarkerNeed),
                          sizeof(EnzRegistration)};
  const size_t n = sizeof(sizes) / sizeof(sizes[0]);
  for (size_t i = 0; i < n && i < capacity; ++i)
    out[i] = sizes[i];
  return n;
}

// Native code in this process: a copy of a module, optimised for this machine, in an ORC JIT of its own.
//
// Most of the time goes to registers: at levels 0 and 1 they are given out as quickly as can be. Lines of the source
// are dropped, since no debugger is told of this code.
//
// The copy goes through bitcode into a context of its own, so that code and module may be used by different threads and
// dropped in any order. Symbols that the module does not define are those of the process. Only tools that link LLVM use
// this file; the plugin never pulls it in.

#include "support.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;

struct EnzJit {
  std::unique_ptr<orc::LLJIT> jit;
  StringMap<std::string> missing;         // what was left out, and what it needs that is not there
  std::shared_ptr<std::string> complaint; // what the code generator says
};

namespace {

// Without a handler LLVM ends the process at the first error, as at assembly that it cannot read.
struct KeepingHandler : DiagnosticHandler {
  explicit KeepingHandler(std::shared_ptr<std::string> complaint) : complaint(std::move(complaint)) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getSeverity() == DS_Error && complaint->empty()) {
      raw_string_ostream out(*complaint);
      DiagnosticPrinterRawOStream printer(out);
      info.print(printer);
    }
    return true;
  }
  std::shared_ptr<std::string> complaint;
};

void optimise(Module &module, TargetMachine &machine, uint32_t speed) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder passes(&machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(components);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, components, modules);
  const OptimizationLevel level = speed == 0   ? OptimizationLevel::O0
                                  : speed <= 2 ? OptimizationLevel::O2
                                               : OptimizationLevel::O3;
  ModulePassManager pipeline =
      speed == 0 ? passes.buildO0DefaultPipeline(level) : passes.buildPerModuleDefaultPipeline(level);
  pipeline.run(module, modules);
}

// Leaves out what cannot be linked, so that the rest can: what uses a symbol that neither the module nor the process
// has.
StringMap<std::string> leaveOut(Module &module) {
  DenseMap<GlobalObject *, std::string> missing;
  StringMap<std::string> names;
  SmallVector<GlobalObject *, 16> work;
  const auto lacks = [&](GlobalObject &object) {
    return object.isDeclaration() && !object.hasExternalWeakLinkage() && !object.getName().starts_with("llvm.") &&
           !sys::DynamicLibrary::SearchForAddressOfSymbol(object.getName().str());
  };
  sys::DynamicLibrary::LoadLibraryPermanently(nullptr);
  for (GlobalObject &object : module.global_objects())
    if (lacks(object)) {
      missing[&object] = object.getName().str();
      work.push_back(&object);
    }
  while (!work.empty()) {
    GlobalObject *object = work.pop_back_val();
    const std::string why = missing[object];
    SmallVector<User *, 16> users(object->users());
    SmallPtrSet<User *, 16> seen;
    while (!users.empty()) {
      User *user = users.pop_back_val();
      if (!seen.insert(user).second)
        continue;
      auto *inst = dyn_cast<Instruction>(user);
      auto *user_object = inst ? inst->getFunction() : dyn_cast<GlobalObject>(user);
      if (!user_object) {
        append_range(users, user->users());
      } else if (missing.try_emplace(user_object, why).second) {
        work.push_back(user_object);
      }
    }
  }
  // Aliases of what is left out go with it; lists of functions that run by themselves are asked for by nobody.
  for (GlobalAlias &alias : make_early_inc_range(module.aliases()))
    if (GlobalObject *object = alias.getAliaseeObject(); object && missing.count(object)) {
      names[alias.getName()] = missing[object];
      alias.replaceAllUsesWith(PoisonValue::get(alias.getType()));
      alias.eraseFromParent();
    }
  for (GlobalObject &object : make_early_inc_range(module.global_objects())) {
    auto left_out = missing.find(&object);
    if (left_out == missing.end())
      continue;
    names[object.getName()] = left_out->second;
    if (object.isDeclaration())
      continue;
    if (object.getName().starts_with("llvm.") && object.use_empty()) {
      object.eraseFromParent();
      continue;
    }
    object.setComdat(nullptr);
    object.setLinkage(GlobalValue::ExternalLinkage);
    if (auto *function = dyn_cast<Function>(&object))
      function->deleteBody();
    else if (auto *variable = dyn_cast<GlobalVariable>(&object))
      variable->setInitializer(nullptr);
  }
  return names;
}

Expected<std::unique_ptr<EnzJit>> make(const Module &given, uint32_t speed) {
  static std::once_flag started;
  std::call_once(started, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
  });
  SmallVector<char, 0> bytes;
  raw_svector_ostream out(bytes);
  WriteBitcodeToFile(given, out);
  auto context = std::make_unique<LLVMContext>();
  auto complaint = std::make_shared<std::string>();
  context->setDiagnosticHandler(std::make_unique<KeepingHandler>(complaint));
  auto copy = parseBitcodeFile(MemoryBufferRef(StringRef(bytes.data(), bytes.size()), "copy"), *context);
  if (!copy)
    return copy.takeError();
  auto target = orc::JITTargetMachineBuilder::detectHost();
  if (!target)
    return target.takeError();
  const Triple &triple = (*copy)->getTargetTriple();
  if (!triple.str().empty() && triple.getArch() != target->getTargetTriple().getArch())
    return createStringError("the module is for " + triple.str() + ", this machine is " +
                             target->getTargetTriple().str());
  target->setCodeGenOptLevel(speed <= 1 ? CodeGenOptLevel::None : CodeGenOptLevel::Default);
  auto machine = target->createTargetMachine();
  if (!machine)
    return machine.takeError();
  (*copy)->setDataLayout((*machine)->createDataLayout());
  (*copy)->setTargetTriple((*machine)->getTargetTriple());
  StripDebugInfo(**copy);
  StringMap<std::string> missing = leaveOut(**copy);
  optimise(**copy, **machine, speed);
  enz::lowerHandlers(**copy);
  auto jit = orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(*target)).create();
  if (!jit)
    return jit.takeError();
  // What is amiss comes back as the result of a lookup.
  (*jit)->getExecutionSession().setErrorReporter([](Error error) { consumeError(std::move(error)); });
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  (*jit)->getMainJITDylib().addGenerator(std::move(*process));
  if (Error error = (*jit)->addIRModule(orc::ThreadSafeModule(std::move(*copy), std::move(context))))
    return std::move(error);
  if (Error error = (*jit)->initialize((*jit)->getMainJITDylib()))
    return std::move(error);
  return std::make_unique<EnzJit>(EnzJit{std::move(*jit), std::move(missing), std::move(complaint)});
}

void tell(Error error, EnzTextSink sink, void *context) {
  enz::SinkStream out(sink, context);
  *out << toString(std::move(error));
}

} // namespace

EnzJit *enz_jit_make(EnzHost host, uint32_t speed, EnzTextSink error, void *context) {
  auto jit = make(*host->module, speed);
  if (jit)
    return jit->release();
  tell(jit.takeError(), error, context);
  return nullptr;
}

uint64_t enz_jit_address(EnzJit *jit, EnzStr name, EnzTextSink error, void *context) {
  if (auto left_out = jit->missing.find(enz::text(name)); left_out != jit->missing.end()) {
    enz::SinkStream out(error, context);
    *out << "'" << enz::text(name) << "' needs '" << left_out->second
         << "', which neither the module nor this process has";
    return 0;
  }
  auto address = jit->jit->lookup(enz::text(name));
  if (!jit->complaint->empty()) {
    // Code of it is not to be trusted, whether there is an address or not.
    if (!address)
      consumeError(address.takeError());
    enz::SinkStream out(error, context);
    *out << *jit->complaint;
    return 0;
  }
  if (address)
    return address->getValue();
  tell(address.takeError(), error, context);
  return 0;
}

void enz_jit_drop(EnzJit *jit) { delete jit; }

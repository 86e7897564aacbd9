// ClangEnzyme: what `clang -fplugin=ClangEnzyme-22.so` loads.
//
// It brings the pass plugin that lies beside it into clang's pipeline, so that no other flag is needed; injects
// <enzyme/enzyme> and the version macros; and reads the source attributes
//
//   enzyme_inactive  enzyme_nofree  enzyme_shouldrecompute  enzyme_elementwise_read  enzyme_sparse_accumulate
//   enzyme_function_like("name")
//
// in the spellings __attribute__((x)), [[enzyme::x]] and [[clang::x]], which become annotations of the functions and
// globals that they stand on. Other hosts that load this file by name (as a pass plugin) get the pass plugin's own
// entry point.
//
// Not handled: header injection for modules that were built without it.

#include <dlfcn.h>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/HeaderSearch.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Sema/ParsedAttr.h"
#include "clang/Sema/Sema.h"
#include "clang/Sema/SemaDiagnostic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace clang;

// As llvm::PassPluginLibraryInfo, version 2; returned in memory.
struct PluginInfo {
  unsigned version;
  const char *name, *text;
  void *callbacks, *before_codegen;
};

extern "C" __attribute__((visibility("default"))) PluginInfo llvmGetPassPluginInfo();

namespace {

// The folder in which this library lies.
std::string folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&folder), &info) || !info.dli_fname)
    return {};
  llvm::SmallString<256> path(info.dli_fname);
  llvm::sys::fs::make_absolute(path);
  return llvm::sys::path::parent_path(path).str();
}

std::string passPlugin() {
  llvm::SmallString<256> path(folder());
#ifdef __APPLE__
  llvm::sys::path::append(path, "LLVMEnzyme-22.dylib");
#else
  llvm::sys::path::append(path, "LLVMEnzyme-22.so");
#endif
  return std::string(path);
}

// Loaded for its options, which must exist before -mllvm is read.
void *library() {
  static void *handle = dlopen(passPlugin().c_str(), RTLD_NOW | RTLD_GLOBAL);
  return handle;
}

class EnzymeAction final : public PluginASTAction {
public:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler, llvm::StringRef) override {
    Preprocessor &preprocessor = compiler.getPreprocessor();
    preprocessor.setPredefines(
        preprocessor.getPredefines() +
        "#define ENZYME_VERSION_MAJOR 0\n#define ENZYME_VERSION_MINOR 1\n#define ENZYME_VERSION_PATCH 0\n");
    llvm::SmallString<256> path(folder());
    llvm::sys::path::append(path, "..", "include");
    if (OptionalDirectoryEntryRef headers = compiler.getFileManager().getOptionalDirectoryRef(path))
      preprocessor.getHeaderSearchInfo().AddSearchPath(
          DirectoryLookup(*headers, SrcMgr::C_System, /*isFramework=*/false),
          /*isAngled=*/true);
    // Where the pass plugin is named as well, clang has its callbacks already.
    const auto &named = compiler.getCodeGenOpts().PassPlugins;
    const bool known = llvm::any_of(named, [](llvm::StringRef name) { return name.contains("Enzyme-22"); });
    const PluginInfo info = llvmGetPassPluginInfo();
    if (!known && info.callbacks)
      compiler.getCodeGenOpts().PassBuilderCallbacks.emplace_back(
          reinterpret_cast<void (*)(llvm::PassBuilder &)>(info.callbacks));
    return std::make_unique<ASTConsumer>();
  }

  bool ParseArgs(const CompilerInstance &, const std::vector<std::string> &) override { return true; }

  ActionType getActionType() override { return AddBeforeMainAction; }
};

FrontendPluginRegistry::Add<EnzymeAction> action("enzyme", "differentiates functions");

// An attribute that is kept as an annotation of its own name.
class Statement : public ParsedAttrInfo {
public:
  Statement(const Spelling *spellings, size_t count, bool has_text) : has_text_(has_text) {
    Spellings = llvm::ArrayRef(spellings, count);
    OptArgs = has_text ? 1 : 0;
  }

  bool diagAppertainsToDecl(Sema &sema, const ParsedAttr &attr, const Decl *decl) const override {
    if (isa<FunctionDecl, VarDecl>(decl))
      return true;
    sema.Diag(attr.getLoc(), diag::warn_attribute_wrong_decl_type_str)
        << attr << attr.isRegularKeywordAttribute() << "functions and variables";
    return false;
  }

  AttrHandling handleDeclAttribute(Sema &sema, Decl *decl, const ParsedAttr &attr) const override {
    std::string word = attr.getAttrName()->getName().str();
    if (word.find("enzyme_") != 0)
      word = "enzyme_" + word;
    if (has_text_) {
      llvm::StringRef text;
      if (attr.getNumArgs() != 1 || !sema.checkStringLiteralArgumentAttr(attr, 0, text))
        return AttributeNotApplied;
      word += "=" + text.str();
    }
    decl->addAttr(AnnotateAttr::CreateImplicit(sema.Context, word, nullptr, 0, attr.getRange()));
    return AttributeApplied;
  }

private:
  bool has_text_;
};

#define ENZYME_STATEMENT(word, has_text)                                                                               \
  struct Statement_##word : Statement {                                                                                \
    static constexpr Spelling kSpellings[] = {                                                                         \
        {ParsedAttr::AS_GNU, "enzyme_" #word},       {ParsedAttr::AS_C23, "enzyme_" #word},                            \
        {ParsedAttr::AS_CXX11, "enzyme_" #word},     {ParsedAttr::AS_CXX11, "enzyme::" #word},                         \
        {ParsedAttr::AS_C23, "enzyme::" #word},      {ParsedAttr::AS_CXX11, "clang::enzyme_" #word},                   \
        {ParsedAttr::AS_C23, "clang::enzyme_" #word}};                                                                 \
    Statement_##word() : Statement(kSpellings, std::size(kSpellings), has_text) {}                                     \
  };                                                                                                                   \
  ParsedAttrInfoRegistry::Add<Statement_##word> add_##word("enzyme_" #word, "")

ENZYME_STATEMENT(inactive, false);
ENZYME_STATEMENT(nofree, false);
ENZYME_STATEMENT(shouldrecompute, false);
ENZYME_STATEMENT(elementwise_read, false);
ENZYME_STATEMENT(sparse_accumulate, false);
ENZYME_STATEMENT(function_like, true);

__attribute__((constructor)) void load() { (void)library(); }

} // namespace

PluginInfo llvmGetPassPluginInfo() {
  using Function = PluginInfo (*)();
  auto *function = library() ? reinterpret_cast<Function>(dlsym(library(), "llvmGetPassPluginInfo")) : nullptr;
  return function ? function() : PluginInfo{2, "Enzyme", "0.1", nullptr, nullptr};
}

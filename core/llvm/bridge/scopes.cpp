// What `restrict` promises of the accesses of a derivative.
//
// Where a call of a function with `restrict` (or `noalias`) parameters was inlined, LLVM keeps the promise as alias
// scopes: an access through another pointer than that of a scope does not meet those through it. It holds for one run
// of the inlined body, whose place a declaration of the scope marks: whoever repeats the body gives each copy scopes of
// its own. (LLVM Language Reference, "noalias" and "alias.scope" metadata, "llvm.experimental.noalias.scope.decl".)
//
// Accesses that a derivative repeats in their place keep the promise, in scopes of the derivative's own. Of shadow
// memory less is known: C lets two `restrict` pointers meet in memory that is only read (C17, 6.7.3.1), and adjoints
// are added to where values were read. But what was written through one of them was not accessed through the other, and
// so are their shadows: each scope is mirrored twice, for the shadows of what was read and of what was written, and no
// promise is made of two that were read.
//
// Of scopes that a comparison at run time has made (disjoint.cpp) nothing follows for shadows, which it does not
// compare.
//
// The declaration stands in the block that runs where the primal's does, in the reverse sweep in the same loops turned
// round. A promise is kept of accesses in a loop around which the declaration stands, where it serves to vectorise or
// to move what is the same throughout; elsewhere, or if the declaration was lost, none is made.

#include "scopes.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace {

// Accesses of one function beyond which compiling takes longer than it gains.
constexpr size_t kMostAccesses = 20000;

// Domains of scopes that a comparison has made, in a function and in its derivatives. The latter may come into loops by
// inlining, and be run again for other memory.
constexpr StringLiteral kLasting = "enzyme.lasting";
constexpr StringLiteral kCompared = "enzyme.compared";

StringRef domainOf(const Metadata *scope) {
  const auto *node = dyn_cast_or_null<MDNode>(scope);
  const MDNode *domain = node ? AliasScopeNode(node).getDomain() : nullptr;
  const auto *name = domain && domain->getNumOperands() > 1 ? dyn_cast<MDString>(domain->getOperand(1)) : nullptr;
  return name ? name->getString() : "";
}

bool isOfLastingDomain(const Metadata *scope) { return domainOf(scope) == kLasting; }

bool isOfComparison(const Metadata *scope) { return isOfLastingDomain(scope) || domainOf(scope) == kCompared; }

} // namespace

MDNode *enz::lastingDomain(LLVMContext &context) {
  return MDBuilder(context).createAnonymousAliasScopeDomain(kLasting);
}

bool enz::wasCompared(const Instruction &access) {
  const auto *declared = dyn_cast<NoAliasScopeDeclInst>(&access);
  const MDNode *scopes = declared ? declared->getScopeList() : access.getMetadata(LLVMContext::MD_alias_scope);
  return scopes && any_of(scopes->operands(), isOfComparison);
}

AAMDNodes enz::lastingScopes(const Instruction &access) {
  const auto filter = [&](unsigned kind) -> MDNode * {
    MDNode *list = access.getMetadata(kind);
    if (!list || all_of(list->operands(), isOfLastingDomain))
      return list;
    SmallVector<Metadata *, 4> kept;
    copy_if(list->operands(), std::back_inserter(kept), isOfLastingDomain);
    return kept.empty() ? nullptr : MDNode::get(access.getContext(), kept);
  };
  AAMDNodes out;
  out.Scope = filter(LLVMContext::MD_alias_scope);
  out.NoAlias = filter(LLVMContext::MD_noalias);
  return out;
}

void enz::Scopes::access(Instruction &made, const Instruction &like, bool mirrored) {
  if (accesses_.size() >= kMostAccesses ||
      !(like.getMetadata(LLVMContext::MD_alias_scope) || like.getMetadata(LLVMContext::MD_noalias)))
    return;
  accesses_.push_back({&made, &like, !mirrored ? Repeated : like.mayWriteToMemory() ? Written : Read});
}

void enz::Scopes::block(BasicBlock &block, const Instruction &end, bool turned) {
  turns_ |= turned;
  for (const Instruction &inst : *end.getParent())
    if (const auto *declaration = dyn_cast<NoAliasScopeDeclInst>(&inst))
      for (const MDOperand &scope : declaration->getScopeList()->operands())
        if (auto *node = dyn_cast_or_null<MDNode>(scope.get())) {
          const auto [at, fresh] = (turned ? turned_ : repeated_).try_emplace(node, &block);
          if (!fresh)
            at->second = nullptr;
        }
}

MDNode *enz::Scopes::mirror(MDNode *scope, Kind kind) {
  MDNode *&known = mirrored_[{scope, kind}];
  if (known)
    return known;
  MDBuilder metadata(scope->getContext());
  const AliasScopeNode node(scope);
  MDNode *&domain = domains_[node.getDomain()];
  if (!domain)
    domain = metadata.createAnonymousAliasScopeDomain(isOfComparison(scope) ? kCompared : StringLiteral("restrict"));
  static constexpr const char *kNames[] = {"", ".shadow.read", ".shadow.written"};
  return known = metadata.createAnonymousAliasScope(domain, (node.getName() + kNames[kind]).str());
}

void enz::Scopes::finish(Function &function) {
  if (accesses_.empty() || (repeated_.empty() && turned_.empty()))
    return;
  LLVMContext &context = function.getContext();
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  MapVector<MDNode *, BasicBlock *> used;

  // The scopes in a list of the primal's that hold for an access of this kind in this loop; all or none of one domain.
  const auto translate = [&](MDNode *list, const Loop *loop, ArrayRef<Kind> kinds, bool whole,
                             SmallVectorImpl<Metadata *> &out) {
    for (const MDOperand &operand : list->operands()) {
      auto *scope = dyn_cast_or_null<MDNode>(operand.get());
      const Places &places = kinds.front() == Repeated || !turns_ ? repeated_ : turned_;
      BasicBlock *at = scope ? places.lookup(scope) : nullptr;
      if (!at || loop->contains(at)) {
        if (whole)
          return false;
        continue;
      }
      for (Kind kind : kinds) {
        if (kind != Repeated && isOfComparison(scope))
          continue;
        out.push_back(mirror(scope, kind));
        used.insert({mirror(scope, kind), at});
      }
    }
    return true;
  };
  const auto add = [&](Instruction &inst, unsigned kind, SmallVectorImpl<Metadata *> &scopes) {
    if (MDNode *own = inst.getMetadata(kind))
      scopes.append(own->op_begin(), own->op_end());
    inst.setMetadata(kind, MDNode::get(context, scopes));
  };
  for (const Access &access : accesses_) {
    const Loop *loop = loops.getLoopFor(access.made->getParent());
    if (!loop)
      continue;
    SmallVector<Metadata *, 8> in, out;
    // An access that may be through one of several pointers is outside of others only if all are known.
    if (MDNode *list = access.like->getMetadata(LLVMContext::MD_alias_scope);
        list && translate(list, loop, access.kind, true, in) && !in.empty())
      add(*access.made, LLVMContext::MD_alias_scope, in);
    if (MDNode *list = access.like->getMetadata(LLVMContext::MD_noalias)) {
      // The pointers are apart if either was written through.
      static constexpr Kind kKinds[] = {Repeated, Read, Written};
      const ArrayRef<Kind> kinds(kKinds);
      const ArrayRef<Kind> apart = access.kind == Repeated ? kinds.take_front()
                                   : access.kind == Read   ? kinds.take_back()
                                                           : kinds.drop_front();
      translate(list, loop, apart, false, out);
      if (!out.empty())
        add(*access.made, LLVMContext::MD_noalias, out);
    }
  }
  for (const auto &[scope, block] : used)
    IRBuilder<>(block->getTerminator()).CreateNoAliasScopeDeclaration(MDNode::get(context, {scope}));
}

bool enz::promisedApart(EnzOpaqueHost &host, const Loop &loop, const Instruction &one, const Instruction &other) {
  // In another iteration scopes that are declared within the loop are of another run of what was inlined.
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &inst : *block)
      if (isa<NoAliasScopeDeclInst>(inst))
        return false;
  const auto around = [](const Instruction &access) {
    MemoryLocation where = MemoryLocation::get(&access);
    where.AATags.TBAA = where.AATags.TBAAStruct = nullptr;
    return MemoryLocation::getBeforeOrAfter(where.Ptr, where.AATags);
  };
  if (!getLoadStorePointerOperand(&one) || !getLoadStorePointerOperand(&other))
    return false;
  BatchAAResults aliases(host.functions->getResult<AAManager>(*loop.getHeader()->getParent()));
  aliases.enableCrossIterationMode();
  return aliases.isNoAlias(around(one), around(other));
}

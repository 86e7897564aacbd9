// Results that a function remembers from its last call, in variables of its own:
//
//   static double last, result;                       stamp, epoch: integers
//   if (x == last) return result;          ->         if (x == last && stamp == epoch) return result;
//   result = f(x);  last = x;                         result = f(x);  last = x;  stamp = epoch;
//
// What was remembered before the derivative began has none. The program that evaluates a function and asks for its
// gradient at the same place would be given zero. So in derivatives only what they remembered themselves counts: the
// epoch grows with every call of a derivative (markers.cpp). Within one, a result that is remembered has its shadow.
//
// Computing again must change nothing: what is passed over may not read what it writes, but for the results themselves,
// nor call what writes. The variables must be known to no others, and the last argument must only be compared. Results
// are floats that are computed, and written nowhere else: a flag that is raised, or a sum that is started anew, for
// each new argument is none.
//
// Not handled: results that are remembered in objects, tables of several, and comparisons other than of equality.
// (Memoisation: Michie, "Memo functions and machine learning", Nature 218, 1968.)

#include "support.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

// Uses of a variable, blocks that are passed over, and calls one behind the other, that are looked at.
constexpr size_t kMostUses = 400;
constexpr size_t kMostBlocks = 400;
constexpr unsigned kMostCalls = 6;
// Values that meet where calls of the function were inlined.
constexpr size_t kMostPhis = 32;

// A place in a variable.
struct Place {
  GlobalVariable *variable = nullptr;
  int64_t offset = 0;
  bool operator==(const Place &other) const { return variable == other.variable && offset == other.offset; }
};

Place placeOf(const Value *address, const DataLayout &layout) {
  APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  const Value *base = address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  return {const_cast<GlobalVariable *>(dyn_cast<GlobalVariable>(base)), offset.getSExtValue()};
}

// Whether all that is done with a variable is to read and write it by its name.
bool isPrivate(const GlobalVariable &variable) {
  if (!variable.hasLocalLinkage() || !variable.hasInitializer() || variable.isConstant())
    return false;
  SmallVector<const Value *, 16> work{&variable};
  for (size_t seen = 0; !work.empty(); ++seen) {
    if (seen > kMostUses)
      return false;
    const Value *value = work.pop_back_val();
    for (const User *user : value->users()) {
      if (isa<GEPOperator>(user)) {
        work.push_back(user);
        continue;
      }
      const auto *load = dyn_cast<LoadInst>(user);
      const auto *store = dyn_cast<StoreInst>(user);
      if (!(load && load->isSimple()) && !(store && store->isSimple() && store->getPointerOperand() == value))
        return false;
    }
  }
  return true;
}

// The integer of this name; null if there is none that is not made, or the program has something else of that name.
GlobalVariable *counter(Module &module, StringRef name, bool make) {
  Type *i64 = Type::getInt64Ty(module.getContext());
  if (GlobalValue *found = module.getNamedValue(name)) {
    auto *known = dyn_cast<GlobalVariable>(found);
    return known && known->getValueType() == i64 && known->hasInternalLinkage() && !known->isConstant() ? known
                                                                                                        : nullptr;
  }
  return make ? new GlobalVariable(module, i64, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                   ConstantInt::get(i64, 0), name)
              : nullptr;
}

bool holdsWhenEqual(const FCmpInst &test) {
  return test.getPredicate() == CmpInst::FCMP_OEQ || test.getPredicate() == CmpInst::FCMP_UEQ;
}

// A comparison of what is asked for with what was asked for last.
struct Question {
  FCmpInst *test;
  Place last;
  Value *asked;
  // Where nothing that is remembered is taken.
  BasicBlock *miss;
  BasicBlock *from;
};

class Kept {
public:
  Kept(EnzOpaqueHost &host, Function &clone)
      : clone_(clone), layout_(clone.getDataLayout()),
        dominators_(host.functions->getResult<DominatorTreeAnalysis>(clone)),
        library_(host.functions->getResult<TargetLibraryAnalysis>(clone)) {}

  bool run() {
    SmallVector<Question, 4> found;
    for (BasicBlock &block : clone_)
      if (auto *branch = dyn_cast<BranchInst>(block.getTerminator()); branch && branch->isConditional())
        if (branch->getSuccessor(0) != branch->getSuccessor(1))
          look(branch->getCondition(), *branch, found);
    for (const Question &question : found) {
      asked_.insert(question.asked);
      for (BasicBlock *block : passedOver(question, found))
        passed_[question.last.variable].insert(block);
    }
    const SmallVector<Question, 4> all(found);
    erase_if(found, [this, &all](const Question &question) { return !isHarmless(question, all); });
    for (const Question &question : found)
      rewrite(question);
    return !found.empty();
  }

private:
  // Parts of a condition that all must hold for the result to be taken, or one of which suffices for it not to be.
  void look(Value *condition, BranchInst &branch, SmallVectorImpl<Question> &found) {
    Value *a = nullptr, *b = nullptr;
    if (match(condition, m_LogicalAnd(m_Value(a), m_Value(b))) ||
        match(condition, m_LogicalOr(m_Value(a), m_Value(b)))) {
      look(a, branch, found);
      look(b, branch, found);
      return;
    }
    auto *test = dyn_cast<FCmpInst>(condition);
    if (!test || !test->isEquality())
      return;
    const bool equal = holdsWhenEqual(*test);
    for (unsigned side : {0, 1}) {
      Value *asked = test->getOperand(1 - side);
      const Place last = isa<Constant>(asked) ? Place{} : askedLast(test->getOperand(side));
      if (last.variable && isPrivate(*last.variable))
        found.push_back({test, last, asked, branch.getSuccessor(equal ? 1 : 0), branch.getParent()});
    }
  }

  // Where a value that is only compared was read, as it is or as one of several that were stored there.
  Place askedLast(Value *value) const {
    Place out;
    SmallSetVector<Value *, 8> work;
    work.insert(value);
    for (size_t i = 0; i < work.size(); ++i) {
      if (work.size() > kMostPhis)
        return {};
      if (auto *phi = dyn_cast<PHINode>(work[i])) {
        for (Value *incoming : phi->incoming_values())
          if (isa<PHINode, LoadInst>(incoming))
            work.insert(incoming);
      } else if (auto *load = dyn_cast<LoadInst>(work[i])) {
        const Place place = placeOf(load->getPointerOperand(), layout_);
        if (place.variable && !out.variable)
          out = place;
      } else {
        return {};
      }
    }
    for (Value *one : work) {
      auto *load = dyn_cast<LoadInst>(one);
      const bool read = load && placeOf(load->getPointerOperand(), layout_) == out;
      if ((read || one == value) &&
          !all_of(one->users(), [](const User *user) { return isa<FCmpInst, PHINode>(user); }))
        return {};
    }
    return out;
  }

  // What is passed over where the result is remembered.
  SmallVector<BasicBlock *, 16> passedOver(const Question &question, ArrayRef<Question> all) const {
    const BasicBlockEdge edge(question.from, question.miss);
    // Of several arguments that are compared one after the other, any leads there.
    const auto asks = [&question, all](const BasicBlock *before) {
      return any_of(all, [&](const Question &one) { return one.from == before && one.miss == question.miss; });
    };
    const bool shared = all_of(predecessors(question.miss), asks);
    SmallVector<BasicBlock *, 16> passed;
    for (BasicBlock &block : clone_)
      if (dominators_.isReachableFromEntry(&block) &&
          (shared ? dominators_.dominates(question.miss, &block) : dominators_.dominates(edge, &block)))
        passed.push_back(&block);
    return passed;
  }

  // Whether a result is written only where the last argument is: where it is passed over, and in other functions that
  // remember.
  bool isResult(const StoreInst &result, const Place &asked) const {
    const Place place = placeOf(result.getPointerOperand(), layout_);
    if (!place.variable)
      return false;
    SmallPtrSet<const Function *, 8> remember;
    forEachStore(*asked.variable, [&](const StoreInst &store) { remember.insert(store.getFunction()); });
    bool only = true;
    forEachStore(*place.variable, [&](const StoreInst &store) {
      const Place other = placeOf(store.getPointerOperand(), layout_);
      const bool apart = other.variable && (other.offset >= place.offset + sizeOf(result) ||
                                            place.offset >= other.offset + sizeOf(store));
      if (other == asked || apart)
        return;
      only &= store.getFunction() == &clone_ ? passed_.lookup(asked.variable).contains(store.getParent())
                                             : remember.contains(store.getFunction());
    });
    return only;
  }

  int64_t sizeOf(const StoreInst &store) const {
    return static_cast<int64_t>(layout_.getTypeStoreSize(store.getValueOperand()->getType()).getKnownMinValue());
  }

  static void forEachStore(const GlobalVariable &variable, function_ref<void(const StoreInst &)> body) {
    SmallVector<const Value *, 8> work{&variable};
    while (!work.empty())
      for (const User *user : work.pop_back_val()->users()) {
        if (isa<GEPOperator>(user))
          work.push_back(user);
        else if (const auto *store = dyn_cast<StoreInst>(user))
          body(*store);
      }
  }

  // Whether computing again changes nothing but the results.
  bool isHarmless(const Question &question, ArrayRef<Question> all) const {
    const SmallVector<BasicBlock *, 16> passed = passedOver(question, all);
    if (passed.empty() || passed.size() > kMostBlocks)
      return false;
    SmallVector<StoreInst *, 16> stores, results;
    SmallPtrSet<const GlobalVariable *, 8> written;
    bool remembers = false;
    for (BasicBlock *block : passed)
      for (Instruction &inst : *block) {
        auto *store = dyn_cast<StoreInst>(&inst);
        if (!store)
          continue;
        if (!store->isSimple())
          return false;
        stores.push_back(store);
        const Value *stored = store->getValueOperand();
        if (!stored->getType()->isFPOrFPVectorTy())
          return false;
        const auto *variable = dyn_cast<GlobalVariable>(getUnderlyingObject(store->getPointerOperand()));
        if (!variable)
          continue;
        if (!isPrivate(*variable))
          return false;
        written.insert(variable);
        if (placeOf(store->getPointerOperand(), layout_) == question.last)
          remembers |= stored == question.asked;
        else
          results.push_back(store);
      }
    // A sum that starts with a constant is computed if something is added to it.
    const auto isStarted = [this, &stores](const StoreInst *store) {
      const Value *at = store->getPointerOperand();
      const Place place = placeOf(at, layout_);
      return !isa<Constant>(store->getValueOperand()) || any_of(stores, [&](const StoreInst *other) {
        const Value *there = other->getPointerOperand();
        return !isa<Constant>(other->getValueOperand()) &&
               (there == at || (place.variable && placeOf(there, layout_) == place));
      });
    };
    if (!all_of(stores, isStarted))
      return false;
    const auto isOther = [this, &question](const StoreInst *store) { return !isResult(*store, question.last); };
    if (!remembers || results.empty() || any_of(results, isOther) || !meetsResults(question, passed, written))
      return false;
    for (BasicBlock *block : passed)
      for (Instruction &inst : *block)
        if (!isa<StoreInst>(inst) && !leavesAlone(inst, stores, passed, written))
          return false;
    return true;
  }

  // Whether what is chosen afterwards between what was computed and something else are results that were remembered,
  // and not whether anything was computed.
  bool meetsResults(const Question &question, ArrayRef<BasicBlock *> passed,
                    const SmallPtrSetImpl<const GlobalVariable *> &written) const {
    const SmallPtrSet<const BasicBlock *, 16> inside(passed.begin(), passed.end());
    for (BasicBlock *block : passed)
      for (BasicBlock *after : successors(block)) {
        if (inside.contains(after))
          continue;
        for (const PHINode &phi : after->phis())
          for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
            if (const Value *value = phi.getIncomingValue(i); !inside.contains(phi.getIncomingBlock(i)) &&
                                                              value != phi.getIncomingValueForBlock(block) &&
                                                              !isRemembered(*value, question, written))
              return false;
      }
    return true;
  }

  // Whether a value was remembered, or computed where others that ask the same compute.
  bool isRemembered(const Value &value, const Question &question,
                    const SmallPtrSetImpl<const GlobalVariable *> &written) const {
    SmallSetVector<const Value *, 8> work;
    work.insert(&value);
    for (size_t i = 0; i < work.size(); ++i) {
      if (work.size() > kMostPhis)
        return false;
      const auto *inst = dyn_cast<Instruction>(work[i]);
      if (asked_.contains(work[i]) || isa<UndefValue>(work[i]) ||
          (inst && passed_.lookup(question.last.variable).contains(inst->getParent())))
        continue;
      if (const auto *phi = dyn_cast_or_null<PHINode>(inst)) {
        work.insert(phi->op_begin(), phi->op_end());
        continue;
      }
      if (inst && isa<InsertElementInst, ExtractElementInst, ShuffleVectorInst>(inst)) {
        for (const Use &part : inst->operands())
          if (part->getType()->isFPOrFPVectorTy())
            work.insert(part);
        continue;
      }
      const auto *load = dyn_cast_or_null<LoadInst>(inst);
      const auto *variable = load ? dyn_cast<GlobalVariable>(getUnderlyingObject(load->getPointerOperand())) : nullptr;
      if (!variable || !written.contains(variable))
        return false;
    }
    return true;
  }

  // Whether an instruction writes nothing and reads nothing that is written where it is, but what was just written.
  bool leavesAlone(Instruction &inst, ArrayRef<StoreInst *> stores, ArrayRef<BasicBlock *> passed,
                   const SmallPtrSetImpl<const GlobalVariable *> &written) const {
    if (!inst.mayReadOrWriteMemory())
      return true;
    if (auto *load = dyn_cast<LoadInst>(&inst)) {
      if (!load->isSimple())
        return false;
      const Value *object = getUnderlyingObject(load->getPointerOperand());
      const auto meets = [object](const StoreInst *store) {
        return getUnderlyingObject(store->getPointerOperand()) == object;
      };
      const auto just = [this, load](const StoreInst *store) {
        return store->getPointerOperand() == load->getPointerOperand() && dominators_.dominates(store, load);
      };
      return none_of(stores, meets) || any_of(stores, just) || isScratch(*object, passed);
    }
    auto *call = dyn_cast<CallInst>(&inst);
    if (!call || !onlyReads(*call, written, kMostCalls))
      return false;
    // What it is given may not be what is written either.
    return none_of(call->args(), [&stores, passed](const Use &arg) {
      const Value *object = arg->getType()->isPointerTy() ? getUnderlyingObject(arg.get()) : nullptr;
      return object && !isScratch(*object, passed) && any_of(stores, [object](const StoreInst *store) {
               return getUnderlyingObject(store->getPointerOperand()) == object;
             });
    });
  }

  // Whether memory of the function's own is used nowhere else.
  static bool isScratch(const Value &object, ArrayRef<BasicBlock *> passed) {
    if (!isa<AllocaInst>(object))
      return false;
    SmallVector<const Value *, 8> work{&object};
    for (size_t seen = 0; !work.empty(); ++seen)
      for (const User *user : work.pop_back_val()->users()) {
        const auto *inst = dyn_cast<Instruction>(user);
        if (seen > kMostUses || !inst)
          return false;
        if (isa<GetElementPtrInst>(inst))
          work.push_back(inst);
        else if (!inst->isLifetimeStartOrEnd() && !is_contained(passed, inst->getParent()))
          return false;
      }
    return true;
  }

  // Whether a call leaves no memory changed, but `errno`, and does not read these variables.
  bool onlyReads(const CallInst &call, const SmallPtrSetImpl<const GlobalVariable *> &written, unsigned depth) const {
    if (call.doesNotAccessMemory() || call.isLifetimeStartOrEnd() || isa<DbgInfoIntrinsic, AssumeInst>(call))
      return true;
    const Function *callee = call.getCalledFunction();
    if (!callee)
      return false;
    LibFunc known;
    if (library_.getLibFunc(*callee, known) && callee->getReturnType()->isFloatingPointTy() &&
        none_of(call.args(), [](const Use &arg) { return arg->getType()->isPointerTy(); }))
      return true;
    if (callee->isDeclaration())
      return call.onlyReadsMemory() && call.onlyAccessesArgMemory();
    if (depth == 0)
      return false;
    return all_of(instructions(*callee), [&](const Instruction &inst) {
      if (const auto *load = dyn_cast<LoadInst>(&inst)) {
        const auto *variable = dyn_cast<GlobalVariable>(getUnderlyingObject(load->getPointerOperand()));
        return load->isSimple() && !(variable && written.contains(variable));
      }
      if (const auto *store = dyn_cast<StoreInst>(&inst))
        return store->isSimple() && isa<AllocaInst>(getUnderlyingObject(store->getPointerOperand()));
      if (const auto *called = dyn_cast<CallInst>(&inst))
        return onlyReads(*called, written, depth - 1);
      return !inst.mayReadOrWriteMemory();
    });
  }

  void rewrite(const Question &question) {
    Module &module = *clone_.getParent();
    Type *i64 = Type::getInt64Ty(module.getContext());
    GlobalVariable *epoch = enz::epochOf(module, /*make=*/true);
    const std::string name =
        ("enzyme.stamp." + question.last.variable->getName() + "." + Twine(question.last.offset)).str();
    GlobalVariable *stamp = counter(module, name, /*make=*/true);
    if (!epoch || !stamp)
      return;
    // Each place that remembers is stamped once.
    if (stamped_.insert(stamp).second)
      for (Instruction &inst : instructions(clone_))
        if (auto *store = dyn_cast<StoreInst>(&inst);
            store && placeOf(store->getPointerOperand(), layout_) == question.last) {
          IRBuilder<> at(store);
          at.CreateStore(at.CreateLoad(i64, epoch), stamp);
        }
    IRBuilder<> at(question.test->getNextNode());
    const bool equal = holdsWhenEqual(*question.test);
    Value *now = at.CreateLoad(i64, epoch), *then = at.CreateLoad(i64, stamp);
    Value *holds = equal ? at.CreateICmpEQ(then, now) : at.CreateICmpNE(then, now);
    Value *both = equal ? at.CreateAnd(holds, question.test) : at.CreateOr(holds, question.test);
    question.test->replaceUsesWithIf(both, [both](const Use &use) { return use.getUser() != both; });
  }

  Function &clone_;
  const DataLayout &layout_;
  const DominatorTree &dominators_;
  const TargetLibraryInfo &library_;
  SmallPtrSet<const GlobalVariable *, 4> stamped_;
  // What is asked for.
  SmallPtrSet<const Value *, 8> asked_;
  // What is passed over, by the variable that has the last argument.
  DenseMap<const GlobalVariable *, SmallPtrSet<const BasicBlock *, 16>> passed_;
};

} // namespace

GlobalVariable *enz::epochOf(Module &module, bool make) { return counter(module, "enzyme.epoch", make); }

bool enz::distrustMemories(EnzOpaqueHost &host, Function &clone) { return Kept(host, clone).run(); }

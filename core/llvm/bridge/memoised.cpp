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
// nor call what writes. The variables must be known to no others, and the last argument must only be compared.
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
    erase_if(found, [this](const Question &question) { return !isHarmless(question); });
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

  // Whether computing again changes nothing but the results.
  bool isHarmless(const Question &question) const {
    const BasicBlockEdge edge(question.from, question.miss);
    SmallVector<BasicBlock *, 16> passed;
    for (BasicBlock &block : clone_)
      if (dominators_.isReachableFromEntry(&block) && dominators_.dominates(edge, &block))
        passed.push_back(&block);
    if (passed.empty() || passed.size() > kMostBlocks)
      return false;
    SmallVector<StoreInst *, 16> stores;
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
        const Place place = placeOf(store->getPointerOperand(), layout_);
        if (const auto *variable = dyn_cast<GlobalVariable>(getUnderlyingObject(store->getPointerOperand()))) {
          if (!isPrivate(*variable))
            return false;
          written.insert(variable);
        }
        remembers |= place == question.last && store->getValueOperand() == question.asked;
      }
    if (!remembers)
      return false;
    for (BasicBlock *block : passed)
      for (Instruction &inst : *block)
        if (!isa<StoreInst>(inst) && !leavesAlone(inst, stores, written))
          return false;
    return true;
  }

  // Whether an instruction writes nothing and reads nothing that is written where it is, but what was just written.
  bool leavesAlone(Instruction &inst, ArrayRef<StoreInst *> stores,
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
      return isa<AllocaInst>(object) || none_of(stores, meets) || any_of(stores, just);
    }
    auto *call = dyn_cast<CallInst>(&inst);
    if (!call || !onlyReads(*call, written, kMostCalls))
      return false;
    // What it is given may not be what is written either.
    return none_of(call->args(), [&stores](const Use &arg) {
      const Value *object = arg->getType()->isPointerTy() ? getUnderlyingObject(arg.get()) : nullptr;
      return object && !isa<AllocaInst>(object) && any_of(stores, [object](const StoreInst *store) {
               return getUnderlyingObject(store->getPointerOperand()) == object;
             });
    });
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
    GlobalVariable *stamp = module.getGlobalVariable(name, /*AllowInternal=*/true);
    if (!stamp)
      stamp = new GlobalVariable(module, i64, /*isConstant=*/false, GlobalValue::InternalLinkage,
                                 ConstantInt::get(i64, 0), name);
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
};

} // namespace

GlobalVariable *enz::epochOf(Module &module, bool make) {
  constexpr StringLiteral name = "enzyme.epoch";
  GlobalVariable *epoch = module.getGlobalVariable(name, /*AllowInternal=*/true);
  if (epoch || !make)
    return epoch;
  Type *i64 = Type::getInt64Ty(module.getContext());
  return new GlobalVariable(module, i64, /*isConstant=*/false, GlobalValue::InternalLinkage, ConstantInt::get(i64, 0),
                            name);
}

bool enz::distrustMemories(EnzOpaqueHost &host, Function &clone) { return Kept(host, clone).run(); }

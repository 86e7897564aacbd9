// Hash tables of libstdc++ (`std::unordered_map` and its kin) with one bucket: it lies in the table itself.
//
//   store ptr (gep table, 48), ptr table            becomes       cell = operator new(8), store null, cell
//                                                                 store ptr cell, ptr table
//
// A table of one bucket, as each is at first, has it as its last member, and a pointer to that as its array of buckets.
// So the array would be of one memory with the tables and, since buckets point to nodes and to the table's head of
// their list, with the nodes: an analysis that tells apart what lies where by its distance from the beginning takes
// bucket n for the nth word behind the member, which in a node is a part of the key or of the value. The library's code
// takes a table for one with a bucket of its own only if the pointer is the member's address, and frees whatever else
// it finds: a table may always have an array of one.
//
// Such a place is known by that address on its way to the table's first word, in a module that asks the library for the
// number of buckets. (`bits/hashtable.h` of GCC 5 and later: `_M_buckets`, `_M_bucket_count`, ... `_M_single_bucket`.)
//
// Invariants: nothing is changed for a table of whose member more is made than an array, what it is compared with, and
// a place for what another's held when tables are moved or exchanged. Not handled: selections of the member or an
// array.

#include "support.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

// Where the member lies in a table on machines with addresses of 64 bits.
constexpr int64_t kMember = 48;
// Where it is said how full the table may be: a float, and a number of 64 bits behind it.
constexpr int64_t kPolicy = 32;
constexpr unsigned kMergeLimit = 16;

// A place in an object, from an address that is not computed from another by a known distance.
struct Place {
  const Value *base;
  int64_t offset;
  bool operator==(const Place &other) const { return base == other.base && offset == other.offset; }
  Place member() const { return {base, offset + kMember}; }
};

// What is to be done for one table.
struct Plan {
  // Stores of the member's address into the table.
  SmallVector<StoreInst *, 2> kept;
  // Incoming values of merges on their way there.
  SmallVector<Use *, 2> merged;
  // Other uses of the address, as what one of the stores has put into the table.
  SmallVector<std::pair<Use *, StoreInst *>, 2> forwarded;
  // All stores of pointers to arrays into the table; stores into the member.
  SmallVector<StoreInst *, 2> stores, emptied, filled;
};

class Tables {
public:
  explicit Tables(Function &function) : function_(function), layout_(function.getParent()->getDataLayout()) {}

  bool run() {
    if (layout_.getPointerSize() != 8 || !asksForBuckets())
      return false;
    for (Instruction &inst : instructions(function_)) {
      if (auto *store = dyn_cast<StoreInst>(&inst); store && store->getValueOperand()->getType()->isPointerTy())
        find(store->getOperandUse(0), place(store->getPointerOperand()));
      // The library's function that makes an array where it is not a part of others.
      if (auto *ret = dyn_cast<ReturnInst>(&inst); ret && makesArrays() && ret->getReturnValue())
        find(ret->getOperandUse(0), {function_.getArg(0), 0});
    }
    if (plans_.empty())
      return false;
    const bool split = splitPolicies();
    dominators_.recalculate(function_);
    // All are judged before the first is changed.
    erase_if(plans_, [&](auto &plan) { return !complete(plan.first, plan.second); });
    for (auto &planned : plans_)
      carryOut(planned.second);
    return split || !plans_.empty();
  }

private:
  // A function that grows tables or makes them with a number of buckets, or what is left of one after inlining.
  bool asksForBuckets() const {
    const Module &module = *function_.getParent();
    return module.getFunction("_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm") ||
           module.getFunction("_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm");
  }

  bool makesArrays() const {
    const StringRef name = function_.getName();
    return name.contains("_Hashtable") && name.contains("_M_allocate_buckets") && function_.arg_size() > 0 &&
           function_.getArg(0)->getType()->isPointerTy();
  }

  Place place(const Value *address) const {
    if (!address->getType()->isPointerTy() || address->getType()->getPointerAddressSpace() != 0)
      return {nullptr, 0};
    APInt offset(layout_.getIndexTypeSizeInBits(address->getType()), 0);
    const Value *base = address->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    return {base, offset.getSExtValue()};
  }

  Plan &planOf(Place table) {
    for (auto &[known, plan] : plans_)
      if (known == table)
        return plan;
    plans_.push_back({table, Plan()});
    return plans_.back().second;
  }

  // How full a table may be is copied as two numbers that are computed with: in a node something else lies where it
  // does in a table.
  bool splitPolicies() {
    const auto isPolicy = [&](const Value *address) {
      return any_of(plans_, [&](const auto &planned) {
        return place(address) == Place{planned.first.base, planned.first.offset + kPolicy};
      });
    };
    SmallVector<MemCpyInst *, 4> copies;
    for (Instruction &inst : instructions(function_))
      if (auto *copy = dyn_cast<MemCpyInst>(&inst); copy && !copy->isVolatile() && isPolicyLong(*copy))
        if (isPolicy(copy->getRawDest()) || isPolicy(copy->getRawSource()))
          copies.push_back(copy);
    for (MemCpyInst *copy : copies) {
      IRBuilder<> builder(copy);
      for (auto [type, offset] : {std::pair<Type *, uint64_t>{builder.getInt32Ty(), 0}, {builder.getInt64Ty(), 8}}) {
        Value *from = builder.CreatePtrAdd(copy->getRawSource(), builder.getInt64(offset));
        Value *to = builder.CreatePtrAdd(copy->getRawDest(), builder.getInt64(offset));
        Value *number = builder.CreateAlignedLoad(type, from, Align(4));
        number = builder.Insert(BinaryOperator::CreateMul(number, ConstantInt::get(type, 1)));
        builder.CreateAlignedStore(number, to, Align(4));
      }
      copy->eraseFromParent();
    }
    return !copies.empty();
  }

  static bool isPolicyLong(const MemCpyInst &copy) {
    const auto *length = dyn_cast<ConstantInt>(copy.getLength());
    return length && length->equalsInt(16);
  }

  // Notes how the member's address gets to `use`, which is the table's first word, if it does.
  void find(Use &use, Place table) {
    SmallPtrSet<const Value *, 8> seen;
    SmallVector<Use *, 8> work = {&use};
    while (!work.empty() && seen.size() < kMergeLimit) {
      Use *next = work.pop_back_val();
      if (auto *phi = dyn_cast<PHINode>(next->get()); phi && seen.insert(phi).second)
        for (Use &incoming : phi->incoming_values())
          work.push_back(&incoming);
      else if (place(next->get()) == table.member()) {
        Plan &plan = planOf(table);
        if (auto *store = dyn_cast<StoreInst>(next->getUser()))
          plan.kept.push_back(store);
        else if (!is_contained(plan.merged, next))
          plan.merged.push_back(next);
      }
    }
  }

  // Adds what else is done with the member; whether each of that is known to go on as it is meant.
  bool complete(Place table, Plan &plan) {
    for (Instruction &inst : instructions(function_))
      if (auto *store = dyn_cast<StoreInst>(&inst); store && place(store->getPointerOperand()) == table)
        plan.stores.push_back(store);
    for (Instruction &inst : instructions(function_))
      for (Use &use : inst.operands())
        if (place(use.get()) == table.member() && !add(use, table, plan))
          return false;
    if (any_of(plan.kept, [&](StoreInst *kept) { return isForgotten(*kept, table); }))
      return false;
    return all_of(plan.filled,
                  [&](StoreInst *filling) { return isMadeIn(*filling->getParent(), plan) || isTaken(*filling, plan); });
  }

  bool add(Use &use, Place table, Plan &plan) {
    auto *user = cast<Instruction>(use.getUser());
    if (place(user) == table.member() || isa<ICmpInst>(user) || is_contained(plan.merged, &use))
      return true;
    // What lies there is only carried to where it may lie as well.
    if (auto *load = dyn_cast<LoadInst>(user))
      return all_of(load->users(), [](const User *reader) { return isa<StoreInst>(reader); });
    StoreInst *kept = lastStore(use, plan);
    if (auto *store = dyn_cast<StoreInst>(user)) {
      const auto *constant = dyn_cast<Constant>(store->getValueOperand());
      if (use.getOperandNo() != StoreInst::getPointerOperandIndex())
        return is_contained(plan.kept, store);
      if (!constant || !constant->isNullValue())
        plan.filled.push_back(store);
      else if (kept)
        plan.forwarded.push_back({&use, kept});
      else
        plan.emptied.push_back(store);
      return true;
    }
    if (kept)
      plan.forwarded.push_back({&use, kept});
    return kept;
  }

  // The store of the member's address after which nothing else is stored there until a use.
  StoreInst *lastStore(const Use &use, const Plan &plan) const {
    auto *user = cast<Instruction>(use.getUser());
    const auto *phi = dyn_cast<PHINode>(user);
    const Instruction *at = phi ? phi->getIncomingBlock(use)->getTerminator() : user;
    for (StoreInst *kept : plan.kept) {
      SmallPtrSet<BasicBlock *, 1> before = {kept->getParent()};
      const auto intervenes = [&](StoreInst *other) {
        if (other == kept)
          return false;
        if (other->getParent() == kept->getParent())
          return kept->comesBefore(other) && (other->getParent() != at->getParent() || other->comesBefore(at));
        if (other->getParent() == at->getParent())
          return other->comesBefore(at);
        return kept->getParent() != at->getParent() && isPotentiallyReachable(other, at, &before, &dominators_);
      };
      if (dominators_.dominates(kept, use) && none_of(plan.stores, intervenes))
        return kept;
    }
    return nullptr;
  }

  // Whether a function may end, or put another array into the table, with nobody having looked at what was stored:
  // where the compiler knew that the array is the member, it left out what frees any other. Tables of callers may be
  // left as they are; what happens after an exception does not count.
  bool isForgotten(StoreInst &kept, Place table) const {
    const auto looks = [&](Instruction &inst) {
      if (auto *load = dyn_cast<LoadInst>(&inst))
        return place(load->getPointerOperand()) == table;
      if (auto *call = dyn_cast<CallBase>(&inst); call && !isa<IntrinsicInst>(call))
        return any_of(call->args(), [&](const Use &arg) { return place(arg.get()) == table; });
      return false;
    };
    SmallPtrSet<BasicBlock *, 16> seen;
    SmallVector<Instruction *, 8> work = {kept.getNextNode()};
    while (!work.empty()) {
      Instruction *at = work.pop_back_val();
      for (; at; at = at->getNextNode()) {
        if (looks(*at))
          break;
        auto *store = dyn_cast<StoreInst>(at);
        if ((store && place(store->getPointerOperand()) == table) || isa<ReturnInst>(at))
          return store || isa<AllocaInst>(table.base);
        if (at->isTerminator())
          for (BasicBlock *next : successors(at->getParent()))
            if (!next->isLandingPad() && seen.insert(next).second)
              work.push_back(&next->front());
      }
    }
    return false;
  }

  static StoreInst *keptIn(const BasicBlock &block, const Plan &plan) {
    for (StoreInst *kept : plan.kept)
      if (kept->getParent() == &block)
        return kept;
    return nullptr;
  }

  // Whether the member is taken for an array in this block.
  static bool isMadeIn(const BasicBlock &block, const Plan &plan) {
    return keptIn(block, plan) || any_of(plan.merged, [&](const Use *use) {
             const auto *phi = dyn_cast<PHINode>(use->getUser());
             return phi && phi->getIncomingBlock(*use) == &block;
           });
  }

  // Whether a member is filled with what lay in another table's, which is there until then: two tables are exchanged.
  bool isTaken(const StoreInst &filling, const Plan &plan) const {
    auto *load = dyn_cast<LoadInst>(filling.getValueOperand());
    if (!load || !plan.merged.empty())
      return false;
    const Place from = place(load->getPointerOperand());
    for (Instruction &inst : instructions(function_))
      if (auto *store = dyn_cast<StoreInst>(&inst); store && place(store->getPointerOperand()) == from)
        if (store->getParent() != load->getParent() || store->comesBefore(load))
          return false;
    const auto *address = dyn_cast<Instruction>(load->getPointerOperand());
    return all_of(plan.kept, [&](StoreInst *kept) { return !address || dominators_.dominates(address, kept); });
  }

  void carryOut(Plan &plan) {
    SmallDenseMap<StoreInst *, Value *, 2> cells;
    for (StoreInst *kept : plan.kept) {
      IRBuilder<> builder(kept);
      Value *cell = makeCell(builder);
      cells[kept] = cell;
      kept->setOperand(0, cell);
      fill(plan, cell, *kept);
      for (StoreInst *filling : plan.filled)
        if (!isMadeIn(*filling->getParent(), plan)) {
          auto *taken = cast<LoadInst>(filling->getValueOperand());
          Value *content = builder.CreateAlignedLoad(taken->getType(), taken->getPointerOperand(), Align(8));
          builder.CreateAlignedStore(content, cell, Align(8));
        }
    }
    // A merge has one value for all edges from one block.
    SmallDenseMap<BasicBlock *, Value *, 2> merged;
    for (Use *use : plan.merged) {
      auto *user = cast<Instruction>(use->getUser());
      auto *phi = dyn_cast<PHINode>(user);
      Instruction *end = phi ? phi->getIncomingBlock(*use)->getTerminator() : user;
      Value *&cell = merged[end->getParent()];
      if (StoreInst *kept = keptIn(*end->getParent(), plan); kept && !cell)
        cell = cells[kept];
      if (!cell) {
        IRBuilder<> builder(end);
        cell = makeCell(builder);
        fill(plan, cell, *cast<Instruction>(cell)->getNextNode());
      }
      use->set(cell);
    }
    for (auto [use, kept] : plan.forwarded)
      use->set(cells[kept]);
    // Nobody looks at what was emptied for a pointer that leads elsewhere now.
    for (StoreInst *emptied : plan.emptied)
      emptied->eraseFromParent();
  }

  // Puts into an array what the member is filled with in the same block, after the later of that and `made`.
  static void fill(const Plan &plan, Value *cell, Instruction &made) {
    for (StoreInst *filling : plan.filled)
      if (filling->getParent() == made.getParent()) {
        Instruction *later = filling->comesBefore(&made) ? &made : filling;
        IRBuilder<> builder(later->getNextNode());
        builder.CreateAlignedStore(filling->getValueOperand(), cell, Align(8));
      }
  }

  // An array of one empty bucket.
  Value *makeCell(IRBuilder<> &builder) {
    if (!builder.getCurrentDebugLocation() && function_.getSubprogram())
      builder.SetCurrentDebugLocation(DILocation::get(function_.getContext(), 0, 0, function_.getSubprogram()));
    PointerType *pointer = builder.getPtrTy();
    FunctionCallee allocate = function_.getParent()->getOrInsertFunction("_Znwm", pointer, builder.getInt64Ty());
    CallInst *cell = builder.CreateCall(allocate, builder.getInt64(8));
    cell->addRetAttr(Attribute::NoAlias);
    builder.CreateAlignedStore(ConstantPointerNull::get(pointer), cell, Align(8));
    return cell;
  }

  Function &function_;
  const DataLayout &layout_;
  DominatorTree dominators_;
  SmallVector<std::pair<Place, Plan>, 2> plans_;
};

} // namespace

bool enz::giveOwnBuckets(Function &function) { return Tables(function).run(); }

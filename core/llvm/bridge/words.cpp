// Words of memory that are now floats, now pointers, as the variants of an `enum` or a union are, on their way through
// registers.
//
// Where variants with different types come together, LLVM merges what their fields hold into one value of either type:
// `phi double [float], [bitcast (ptrtoint pointer)]`. A derivative has no words for that: the shadow of a float is
// added to, that of a pointer is moved. So each such web of merges is taken apart again: beside each value goes
// another that says which of the two it is, and a store of it becomes a store of each, by what that says. A word read
// from memory is read as what it is used as, and once for each use; what is only moved from there is moved as an
// integer, whose bytes the engine tells by all that it knows of the memory, or by their bits when the derivative runs,
// or refuses.
//
// Whether a load is of a float is known if the program wrote it so, which marks say that are made before
// anything is simplified: what LLVM makes of a copy has none.
//
// Not handled: words of other sizes than a pointer's, vectors of words, words that calls pass. They stay as they are.

#include "words.h"
#include "rust.h"
#include "support.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <array>

using namespace llvm;

namespace {

// Lists the marks, of floats and of pointers by turns (those of linked modules follow each other): groups of accesses,
// to which no loop refers. Where passes merge or copy loads, they keep those groups which belong to all of them.
constexpr StringLiteral kMarked = "enzyme.words";
constexpr size_t kWebLimit = 1000;

enum Kind : uint8_t { Float, Pointer, Word, kKinds };

// What the program says that it reads.
Kind statedKind(const LoadInst &load) {
  const NamedMDNode *marks = load.getModule()->getNamedMetadata(kMarked);
  const MDNode *groups = load.getMetadata(LLVMContext::MD_access_group);
  if (!marks || !groups)
    return Word;
  for (unsigned n = 0; n < marks->getNumOperands(); ++n)
    if (const MDNode *mark = marks->getOperand(n); mark == groups || is_contained(groups->operands(), mark))
      return n % 2 == 0 ? Float : Pointer;
  return Word;
}

bool isWord(const Type *type) {
  return type->isDoubleTy() || type->isIntegerTy(64) || (type->isPointerTy() && type->getPointerAddressSpace() == 0);
}

// The operands that an instruction hands on as they are, if it does that.
ArrayRef<Use> handedOn(const Value *value) {
  const auto *inst = dyn_cast<Instruction>(value);
  if (!inst || !isa<PHINode, SelectInst, FreezeInst, BitCastInst, PtrToIntInst, IntToPtrInst>(inst))
    return {};
  return ArrayRef<Use>(inst->op_begin(), inst->op_end()).drop_front(isa<SelectInst>(inst) ? 1 : 0);
}

// What hands on a word as it is.
bool isMerge(const Value *value) {
  if (!isWord(value->getType()))
    return false;
  const auto parts = handedOn(value);
  return !parts.empty() && all_of(parts, [](const Use &part) { return isWord(part->getType()); });
}

bool handsOn(const Instruction *user, const Value *value) {
  return isMerge(user) && any_of(handedOn(user), [&](const Use &part) { return part == value; });
}

// A word in each of the forms that it may have. Those that it has not are zero.
struct Forms {
  Value *kind = nullptr;
  Value *as[kKinds] = {nullptr, nullptr, nullptr};
};

class Web {
public:
  Web(Function &function, Value *root) : function_(function), context_(function.getContext()) { collect(root); }

  ArrayRef<Value *> members() const { return members_.getArrayRef(); }

  bool run() {
    if (members_.size() > kWebLimit || !isMixed() || any_of(members_, isUnsure))
      return false;
    for (Value *member : members_)
      for (Use &use : member->uses())
        if (isLeft(member, use))
          wanted_[isStored(use) ? Word : kindOfType(member->getType())] = true;
    for (Value *member : members_)
      if (!isMerge(member))
        makeLeaf(member);
    makeMerges();
    bool changed = false;
    for (Value *member : members_) {
      SmallVector<Use *, 8> left;
      for (Use &use : member->uses())
        if (isLeft(member, use))
          left.push_back(&use);
      if (left.empty() || !forms_.count(member))
        continue;
      const auto kinds = kindsOf(member);
      for (Use *use : left)
        changed |= replace(*use, kindOfType(member->getType()), forms_.lookup(member), kinds);
    }
    return changed;
  }

  // A load of another type than what it reads: as the program says that, or as a copy that LLVM made.
  static bool isRetyped(const Value *leaf) {
    const auto *load = dyn_cast<LoadInst>(leaf);
    return load && isWord(load->getType()) && kindOf(load) != kindOfType(load->getType());
  }

private:
  using Kinds = std::array<bool, kKinds>;

  void collect(Value *root) {
    SmallVector<Value *, 16> work{root};
    while (!work.empty() && members_.size() <= kWebLimit) {
      Value *value = work.pop_back_val();
      if (!isWord(value->getType()) || (isa<Constant>(value) && value != root) || !members_.insert(value))
        continue;
      if (isMerge(value))
        append_range(work, handedOn(value));
      for (User *user : value->users())
        if (auto *inst = dyn_cast<Instruction>(user); inst && handsOn(inst, value))
          work.push_back(inst);
    }
  }

  static Kind kindOfType(const Type *type) { return type->isDoubleTy() ? Float : type->isPointerTy() ? Pointer : Word; }

  // What a value that is not merged of others is.
  static Kind kindOf(const Value *leaf) {
    if (const auto *load = dyn_cast<LoadInst>(leaf); load && load->isSimple())
      return statedKind(*load);
    return isa<BitCastInst>(leaf) ? Word : kindOfType(leaf->getType());
  }

  // Whether it may be either and has no place behind it where it could be cast.
  static bool isUnsure(const Value *member) { return isa<InvokeInst, CallBrInst>(member) && kindOf(member) == Word; }

  // Whether the web has a pointer and a value of floats, or a word that may be either and is moved.
  bool isMixed() const {
    Kinds types{}, kinds{};
    bool copied = false;
    for (const Value *member : members_) {
      types[kindOfType(member->getType())] = true;
      if (isMerge(member))
        continue;
      kinds[kindOf(member)] = true;
      copied |= isa<LoadInst>(member) && kindOf(member) == Word;
      if (isRetyped(member) &&
          any_of(member->uses(), [&](const Use &use) { return isLeft(member, use) || isMerge(use.getUser()); }))
        return true;
    }
    return (kinds[Float] && (copied || types[Pointer])) || (kinds[Pointer] && (copied || types[Float]));
  }

  Type *typeOf(unsigned kind) const {
    return kind == Float     ? Type::getDoubleTy(context_)
           : kind == Pointer ? static_cast<Type *>(PointerType::getUnqual(context_))
                             : Type::getInt64Ty(context_);
  }

  Value *zero(unsigned kind) const { return Constant::getNullValue(typeOf(kind)); }

  Value *number(Kind kind) const { return ConstantInt::get(Type::getInt8Ty(context_), kind); }

  // The forms of a value that is not merged of others. No float of Rust leads anywhere, and no pointer is computed with
  // as a float; what may be either keeps its bits.
  void makeLeaf(Value *leaf) {
    Forms forms;
    const Kind kind = kindOf(leaf);
    forms.kind = number(kind);
    for (unsigned n = 0; n < kKinds; ++n)
      forms.as[n] = zero(n);
    auto *load = dyn_cast<LoadInst>(leaf);
    for (const unsigned n : {Float, Pointer, Word})
      if (typeOf(n) == leaf->getType())
        forms.as[n] = leaf;
      else if (n == kind && load)
        forms.as[n] = readAgain(*load, typeOf(n));
      else if (kind == Word && wanted_[n])
        forms.as[n] = load && load->isSimple() ? readAgain(*load, typeOf(n)) : castTo(leaf, typeOf(n));
    forms_[leaf] = forms;
  }

  // Read as what it is used as.
  static Value *readAgain(LoadInst &load, Type *type) {
    BasicBlock::iterator next = std::next(load.getIterator());
    auto *again = new LoadInst(type, load.getPointerOperand(), "", false, load.getAlign(), next);
    again->setDebugLoc(load.getDebugLoc());
    return again;
  }

  Value *castTo(Value *leaf, Type *type) {
    BasicBlock::iterator where = function_.getEntryBlock().getFirstInsertionPt();
    if (auto *inst = dyn_cast<Instruction>(leaf)) {
      const auto after = inst->getInsertionPointAfterDef();
      if (!after)
        return Constant::getNullValue(type);
      where = *after;
    }
    IRBuilder<> builder(where->getParent(), where);
    return builder.CreateBitOrPointerCast(
        leaf->getType()->isIntegerTy() ? leaf : builder.CreateBitOrPointerCast(leaf, builder.getInt64Ty()), type);
  }

  Forms formsOf(Value *value) {
    if (const auto found = forms_.find(value); found != forms_.end())
      return found->second;
    // A constant, or a cast of one.
    Forms forms;
    auto *constant = cast<Constant>(value);
    while (auto *cast = dyn_cast<ConstantExpr>(constant)) {
      if (!cast->isCast() || !isWord(cast->getOperand(0)->getType()))
        break;
      constant = cast->getOperand(0);
    }
    const Kind kind = kindOfType(constant->getType());
    forms.kind = number(kind);
    const DataLayout &layout = function_.getDataLayout();
    Constant *bits = kind == Pointer ? ConstantExpr::getPtrToInt(constant, typeOf(Word))
                                     : ConstantFoldCastOperand(Instruction::BitCast, constant, typeOf(Word), layout);
    for (unsigned n = 0; n < kKinds; ++n) {
      Constant *made = n == kind ? constant : nullptr;
      if (!made && bits)
        made = n == Pointer ? ConstantExpr::getIntToPtr(bits, typeOf(n))
                            : ConstantFoldCastOperand(Instruction::BitCast, bits, typeOf(n), layout);
      forms.as[n] = made ? made : zero(n);
    }
    return forms;
  }

  void makeMerges() {
    SmallVector<Instruction *, 16> rest;
    for (Value *member : members_) {
      if (!isMerge(member))
        continue;
      auto *phi = dyn_cast<PHINode>(member);
      if (!phi) {
        rest.push_back(cast<Instruction>(member));
        continue;
      }
      Forms &forms = forms_[phi];
      IRBuilder<> builder(phi);
      forms.kind = builder.CreatePHI(builder.getInt8Ty(), phi->getNumIncomingValues());
      for (unsigned n = 0; n < kKinds; ++n)
        forms.as[n] = builder.CreatePHI(typeOf(n), phi->getNumIncomingValues());
    }
    // Those that are no phis go by what they hand on, in any order that has it.
    for (bool again = true; again;) {
      again = false;
      for (Instruction *merge : rest) {
        if (forms_.count(merge))
          continue;
        const auto parts = handedOn(merge);
        if (any_of(parts, [&](const Use &part) { return !isa<Constant>(part) && !forms_.count(part); }))
          continue;
        Forms made = formsOf(parts[0]);
        if (auto *choice = dyn_cast<SelectInst>(merge)) {
          const Forms other = formsOf(parts[1]);
          IRBuilder<> builder(choice);
          made.kind = builder.CreateSelect(choice->getCondition(), made.kind, other.kind);
          for (unsigned n = 0; n < kKinds; ++n)
            made.as[n] = builder.CreateSelect(choice->getCondition(), made.as[n], other.as[n]);
        }
        forms_[merge] = made;
        again = true;
      }
    }
    for (Value *member : members_)
      if (auto *phi = dyn_cast<PHINode>(member)) {
        const Forms forms = forms_[phi];
        for (unsigned n = 0; n < phi->getNumIncomingValues(); ++n) {
          const Forms part = formsOf(phi->getIncomingValue(n));
          BasicBlock *from = phi->getIncomingBlock(n);
          cast<PHINode>(forms.kind)->addIncoming(part.kind, from);
          for (unsigned k = 0; k < kKinds; ++k)
            cast<PHINode>(forms.as[k])->addIncoming(part.as[k], from);
        }
      }
  }

  // Which kinds of words come to `value`.
  Kinds kindsOf(Value *value) {
    Kinds kinds{};
    SmallPtrSet<Value *, 16> seen;
    SmallVector<Value *, 16> work{value};
    while (!work.empty()) {
      Value *at = work.pop_back_val();
      if (!seen.insert(at).second || isa<UndefValue>(at))
        continue;
      if (isMerge(at))
        append_range(work, handedOn(at));
      else
        kinds[cast<ConstantInt>(formsOf(at).kind)->getZExtValue()] = true;
    }
    return kinds;
  }

  static bool isStored(const Use &use) { return isa<StoreInst>(use.getUser()) && use.getOperandNo() == 0; }

  // Whether a word leaves the web by this use: it is stored, or used as what its type says. Bits that are computed with
  // stay bits.
  bool isLeft(const Value *member, const Use &use) const {
    auto *user = dyn_cast<Instruction>(use.getUser());
    if (!user || !(isMerge(member) || isRetyped(member)) || (handsOn(user, member) && members_.contains(user)))
      return false;
    return isStored(use) ? cast<StoreInst>(user)->isSimple() : isMerge(member) && !member->getType()->isIntegerTy();
  }

  // What none of the words is that come here stays as it is: the program may mean the bits.
  bool replace(Use &use, Kind type, const Forms &forms, const Kinds &kinds) {
    if (isStored(use))
      return replaceStore(*cast<StoreInst>(use.getUser()), forms, kinds);
    if (!kinds[type] && !kinds[Word])
      return false;
    use.set(forms.as[type]);
    return true;
  }

  bool replaceStore(StoreInst &store, const Forms &forms, const Kinds &kinds) {
    SmallVector<Kind, 3> order;
    for (const Kind kind : {Float, Pointer, Word})
      if (kinds[kind])
        order.push_back(kind);
    if (order.empty())
      return false;
    BasicBlock *before = store.getParent();
    const auto put = [&](Kind kind, BasicBlock::iterator where) {
      auto *made = cast<StoreInst>(store.clone());
      made->setOperand(0, forms.as[kind]);
      made->setMetadata(LLVMContext::MD_tbaa, nullptr);
      made->insertBefore(where);
    };
    if (order.size() == 1) {
      put(order[0], store.getIterator());
      store.eraseFromParent();
      return true;
    }
    BasicBlock *after = before->splitBasicBlock(store.getIterator());
    before->getTerminator()->eraseFromParent();
    SmallVector<BasicBlock *, 3> ways;
    for (const Kind kind : order) {
      BasicBlock *way = BasicBlock::Create(context_, "word", &function_, after);
      BranchInst *back = BranchInst::Create(after, way);
      back->setDebugLoc(store.getDebugLoc());
      put(kind, back->getIterator());
      ways.push_back(way);
    }
    IRBuilder<> builder(before);
    builder.SetCurrentDebugLocation(store.getDebugLoc());
    BasicBlock *rest = ways.pop_back_val();
    for (auto [kind, way] : zip(order, ways)) {
      const bool last = way == ways.back();
      BasicBlock *next = last ? rest : BasicBlock::Create(context_, "word.next", &function_, after);
      builder.CreateCondBr(builder.CreateICmpEQ(forms.kind, number(kind)), way, next);
      builder.SetInsertPoint(next);
    }
    store.eraseFromParent();
    return true;
  }

  Function &function_;
  LLVMContext &context_;
  SmallSetVector<Value *, 32> members_;
  MapVector<Value *, Forms> forms_;
  // Whether words are stored, or used as floats or pointers.
  Kinds wanted_{};
};

// Of a word that is read once and used as several things each is read by itself: in one variant it is a float where it
// is put or used, in another an address. Returns whether any was.
bool readForEachUse(LoadInst &load) {
  if (!load.isSimple() || !load.getType()->isIntegerTy(64))
    return false;
  SmallVector<Instruction *, 8> casts, stores;
  for (User *user : load.users()) {
    auto *inst = cast<Instruction>(user);
    if (isa<BitCastInst, IntToPtrInst>(inst) && isWord(inst->getType()))
      casts.push_back(inst);
    else if (auto *store = dyn_cast<StoreInst>(inst); store && store->isSimple() && store->getValueOperand() == &load)
      stores.push_back(store);
  }
  if (stores.empty() || load.hasOneUse())
    return false;
  for (Instruction *store : stores) {
    Instruction *again = load.clone();
    again->insertAfter(load.getIterator());
    store->setOperand(0, again);
  }
  for (Instruction *cast : casts) {
    auto *again =
        new LoadInst(cast->getType(), load.getPointerOperand(), "", false, load.getAlign(), load.getIterator());
    again->setDebugLoc(load.getDebugLoc());
    cast->replaceAllUsesWith(again);
    cast->eraseFromParent();
  }
  if (load.use_empty())
    load.eraseFromParent();
  return true;
}

} // namespace

void enz::markWords(Module &module) {
  if (module.getNamedMetadata(kMarked) || none_of(module, isRust))
    return;
  NamedMDNode *marks = module.getOrInsertNamedMetadata(kMarked);
  for (unsigned n = 0; n < 2; ++n)
    marks->addOperand(MDNode::getDistinct(module.getContext(), {}));
  for (Function &function : module)
    if (isRust(function))
      markWords(function);
}

void enz::markWords(Function &function) {
  const NamedMDNode *marks = function.getParent()->getNamedMetadata(kMarked);
  if (!marks)
    return;
  for (Instruction &inst : instructions(function))
    if (auto *load = dyn_cast<LoadInst>(&inst)) {
      const Type *type = load->getType();
      if (type->isDoubleTy() || type->isPointerTy())
        load->setMetadata(LLVMContext::MD_access_group, marks->getOperand(type->isDoubleTy() ? Float : Pointer));
    }
}

bool enz::splitWords(Function &function) {
  if (!function.getParent()->getNamedMetadata(kMarked))
    return false;
  SmallPtrSet<Value *, 32> seen;
  bool changed = false;
  SmallVector<Instruction *, 32> roots;
  for (BasicBlock &block : function)
    for (Instruction &inst : block)
      if (isMerge(&inst) || Web::isRetyped(&inst))
        roots.push_back(&inst);
  for (Instruction *root : roots) {
    if (seen.contains(root))
      continue;
    Web web(function, root);
    for (Value *member : web.members())
      seen.insert(member);
    changed |= web.run();
  }
  SmallVector<LoadInst *, 32> loads;
  for (Instruction &inst : instructions(function))
    if (auto *load = dyn_cast<LoadInst>(&inst))
      loads.push_back(load);
  for (LoadInst *load : loads)
    changed |= readForEachUse(*load);
  return changed;
}

// Loads that repeat what an earlier iteration has loaded: the value is carried from iteration to iteration instead.
//
// A stencil reads u[i-1], u[i] and u[i+1]. Where u is overwritten later, the reverse sweep would have to keep all three
// in each iteration, although every number is read three times. Carried in registers ("predictive commoning"; Callahan,
// Carr, Kennedy, "Improving register allocation for subscripted variables", PLDI 1990) there is one load left, the
// leading one, and what is kept of it serves all.
//
//   for i: a = u[i-1]; b = u[i]; c = u[i+1]       a0 = u[start-1]; b0 = u[start]
//                                            =>   for i: a = phi(a0, b); b = phi(b0, c); c = u[i+1]
//
// The trailing load at distance d reads in iteration i what the leading one has read in iteration i - d, unless a store
// comes between. A store to the same array, m steps ahead of the trailing load, reaches what that reads in iteration
// i - m: it is harmless if m < 0 or m > d, if m = 0 and it runs after the trailing load, if m = d and it runs before
// the leading one.
//
// The first iterations read before the loop what they would have read themselves. All these loads run in the first
// iteration for sure; what lies between two elements that the program reads is in the same object, so a distance that
// is not read may be bridged.
//
// Not handled: outer loops, steps that are no constants, values of several kinds at one address.

#include "carry.h"
#include "scopes.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/MustExecute.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

// More iterations than this are not bridged.
constexpr int64_t kFarthest = 4;
// Of more loads than this in one loop the rest are left alone.
constexpr size_t kMostLoads = 64;
// Blocks before a loop that are searched for what was loaded there.
constexpr size_t kLongestWay = 8;

struct Reader {
  LoadInst *load;
  const SCEVAddRecExpr *address;
};

struct Carried {
  Reader leading;
  // Trailing loads by their distance from the leading one, from 1 on; some distances may have none.
  SmallVector<SmallVector<Reader, 2>, 4> trailing;
};

class Finder {
public:
  Finder(EnzOpaqueHost &host, Function &function, const enz::StoresInto &stores)
      : host_(host), function_(function), evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        tree_(host.functions->getResult<DominatorTreeAnalysis>(function)), layout_(function.getDataLayout()),
        stores_(stores) {}

  // What can be carried through `loop`, of these loads in it.
  void find(Loop &loop, ArrayRef<LoadInst *> loads, SmallVectorImpl<Carried> &out) {
    safety_.computeLoopSafetyInfo(&loop);
    SmallVector<Reader, 16> readers;
    for (LoadInst *load : loads) {
      const auto *address = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(load->getPointerOperand()));
      const int64_t step = address && address->getLoop() == &loop && address->isAffine() ? stepOf(*address) : 0;
      if (step != 0 && std::abs(step) >= sizeOf(load->getType()) && readers.size() < kMostLoads &&
          tree_.dominates(load->getParent(), loop.getLoopLatch()))
        readers.push_back(Reader{load, address});
    }
    while (!readers.empty()) {
      SmallVector<std::pair<int64_t, Reader>, 8> group;
      const Reader first = readers.front();
      SmallVector<Reader, 16> rest;
      for (const Reader &reader : readers)
        if (const auto distance = stepsBetween(*first.address, *reader.address);
            distance && reader.load->getType() == first.load->getType())
          group.emplace_back(*distance, reader);
        else
          rest.push_back(reader);
      readers = std::move(rest);
      if (auto carried = carry(loop, group))
        out.push_back(std::move(*carried));
    }
  }

private:
  int64_t sizeOf(Type *type) const { return static_cast<int64_t>(layout_.getTypeStoreSize(type).getKnownMinValue()); }

  int64_t stepOf(const SCEVAddRecExpr &address) {
    const auto *step = dyn_cast<SCEVConstant>(address.getStepRecurrence(evolution_));
    return step && step->getAPInt().getSignificantBits() <= 32 ? step->getAPInt().getSExtValue() : 0;
  }

  std::optional<int64_t> bytesBetween(const SCEV *from, const SCEV *to) {
    const auto *difference = dyn_cast<SCEVConstant>(evolution_.getMinusSCEV(to, from));
    if (!difference || difference->getAPInt().getSignificantBits() > 32)
      return std::nullopt;
    return difference->getAPInt().getSExtValue();
  }

  // How many iterations later `from` reaches the address of `to`.
  std::optional<int64_t> stepsBetween(const SCEVAddRecExpr &from, const SCEVAddRecExpr &to) {
    const int64_t step = stepOf(from);
    const auto bytes = bytesBetween(&from, &to);
    if (!bytes || stepOf(to) != step || *bytes % step != 0)
      return std::nullopt;
    return *bytes / step;
  }

  std::optional<Carried> carry(Loop &loop, SmallVectorImpl<std::pair<int64_t, Reader>> &group) {
    stable_sort(group, [](const auto &a, const auto &b) { return a.first > b.first; });
    if (group.front().first == group.back().first)
      return std::nullopt;
    Carried out{group.front().second, {}};
    const int64_t leads = group.front().first;
    if (!safety_.isGuaranteedToExecute(*out.leading.load, &tree_, &loop))
      return std::nullopt;
    for (const auto &[at, reader] : group) {
      const int64_t distance = leads - at;
      if (distance == 0)
        continue;
      if (distance > kFarthest)
        break;
      if (!canCarry(loop, *out.leading.load, reader, distance))
        continue;
      out.trailing.resize(static_cast<size_t>(distance));
      out.trailing.back().push_back(reader);
    }
    if (out.trailing.empty())
      return std::nullopt;
    return out;
  }

  bool canCarry(Loop &loop, const LoadInst &leading, const Reader &reader, int64_t distance) {
    SmallVector<StoreInst *, 8> stores;
    if (!safety_.isGuaranteedToExecute(*reader.load, &tree_, &loop) || !stores_(*reader.load, loop, stores))
      return false;
    const int64_t step = stepOf(*reader.address);
    for (StoreInst *store : stores) {
      if (enz::promisedApart(host_, loop, *reader.load, *store) ||
          enz::areApartIn(host_, function_, loop, *reader.load, *store))
        continue;
      const auto *address = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(store->getPointerOperand()));
      if (!address || address->getLoop() != &loop || !address->isAffine() || stepOf(*address) != step)
        return false;
      const auto bytes = bytesBetween(reader.address, address);
      const TypeSize stored = layout_.getTypeStoreSize(store->getValueOperand()->getType());
      if (!bytes || stored.isScalable())
        return false;
      const auto width = static_cast<int64_t>(stored.getFixedValue());
      const int64_t stride = std::abs(step), within = ((*bytes % stride) + stride) % stride;
      if (within != 0) {
        // Between the elements that are read, in each iteration.
        if (within < sizeOf(reader.load->getType()) || within + width > stride)
          return false;
        continue;
      }
      if (width > stride)
        return false;
      const int64_t ahead = *bytes / step;
      if (ahead < 0 || ahead > distance || (ahead == 0 && runsBefore(*reader.load, *store)) ||
          (ahead == distance && runsBefore(*store, leading)))
        continue;
      return false;
    }
    return true;
  }

  // Whether in each iteration `first` runs before `second`, if that runs.
  bool runsBefore(const Instruction &first, const Instruction &second) const {
    return &first != &second && tree_.dominates(&first, &second);
  }

  EnzOpaqueHost &host_;
  Function &function_;
  ScalarEvolution &evolution_;
  DominatorTree &tree_;
  const DataLayout &layout_;
  const enz::StoresInto &stores_;
  SimpleLoopSafetyInfo safety_;
};

class Writer {
public:
  Writer(EnzOpaqueHost &host, Function &function, enz::Undoing &undoing)
      : undoing_(undoing), evolution_(host.functions->getResult<ScalarEvolutionAnalysis>(function)),
        aliases_(host.functions->getResult<AAManager>(function)), expander_(evolution_, "enzyme.carry") {}

  // Writes one chain; false if an address can't be stated before the loop.
  bool write(Loop &loop, const Carried &carried) {
    BasicBlock *before = loop.getLoopPreheader();
    Instruction *place = before->getTerminator();
    LoadInst *model = carried.leading.load;
    const SCEV *step = carried.leading.address->getStepRecurrence(evolution_);
    SmallVector<const SCEV *, 4> starts;
    const SCEV *start = carried.leading.address->getStart();
    for (size_t i = 0; i < carried.trailing.size(); ++i) {
      start = evolution_.getMinusSCEV(start, step);
      if (isa<SCEVCouldNotCompute>(start) || !expander_.isSafeToExpandAt(start, place))
        return false;
      starts.push_back(start);
    }
    Value *next = model;
    for (const auto &[readers, address] : zip(carried.trailing, starts)) {
      PHINode *phi = existing(loop, *model, next, address);
      if (!phi) {
        auto *first = cast<LoadInst>(model->clone());
        first->setOperand(LoadInst::getPointerOperandIndex(),
                          expander_.expandCodeFor(address, model->getPointerOperandType(), place));
        // What is known of the leading load alone does not hold here: scopes, that the content is defined.
        first->dropUnknownNonDebugMetadata(LLVMContext::MD_tbaa);
        first->setAlignment(Align(1));
        first->setName("carried.first");
        first->insertBefore(place->getIterator());
        phi = PHINode::Create(model->getType(), 2, "carried", loop.getHeader()->begin());
        phi->addIncoming(first, before);
        phi->addIncoming(next, loop.getLoopLatch());
        phi->setDebugLoc(model->getDebugLoc());
      }
      for (const Reader &reader : readers)
        reader.load->replaceAllUsesWith(phi);
      if (!readers.empty() && all_of(readers, [&](const Reader &reader) { return undoing_.canRepeat(reader.load); }))
        undoing_.standsFor(phi, readers.front().load);
      next = phi;
    }
    for (const auto &readers : carried.trailing)
      for (const Reader &reader : readers)
        if (!undoing_.needs(reader.load))
          reader.load->eraseFromParent();
    return true;
  }

private:
  // A phi that carries `next` on already, and starts from what is in memory at `address` before the loop.
  PHINode *existing(Loop &loop, const LoadInst &model, const Value *next, const SCEV *address) {
    for (PHINode &phi : loop.getHeader()->phis()) {
      auto *first = dyn_cast<LoadInst>(phi.getIncomingValueForBlock(loop.getLoopPreheader()));
      if (first && phi.getIncomingValueForBlock(loop.getLoopLatch()) == next && first->isSimple() &&
          first->getType() == model.getType() && evolution_.getSCEV(first->getPointerOperand()) == address &&
          enz::staysUntil(aliases_, *first, *loop.getLoopPreheader()))
        return &phi;
    }
    return nullptr;
  }

  enz::Undoing &undoing_;
  ScalarEvolution &evolution_;
  AAResults &aliases_;
  SCEVExpander expander_;
};

} // namespace

bool enz::staysUntil(AAResults &aliases, const LoadInst &load, const BasicBlock &end) {
  const MemoryLocation where = MemoryLocation::get(&load);
  const BasicBlock *block = &end;
  for (size_t i = 0; block && i < kLongestWay; ++i, block = block->getSinglePredecessor())
    for (const Instruction &inst : reverse(*block)) {
      if (&inst == &load)
        return true;
      if (inst.mayWriteToMemory() && isModSet(aliases.getModRefInfo(&inst, where)))
        return false;
    }
  return false;
}

SmallPtrSet<const LoadInst *, 16> enz::carryLoads(EnzOpaqueHost &host, Function &function, ArrayRef<LoadInst *> loads,
                                                  const StoresInto &stores, Undoing &undoing) {
  auto &loops = host.functions->getResult<LoopAnalysis>(function);
  MapVector<Loop *, SmallVector<LoadInst *, 8>> by_loop;
  for (LoadInst *load : loads)
    if (Loop *loop = loops.getLoopFor(load->getParent()); loop && loop->getLoopPreheader() && loop->getLoopLatch())
      by_loop[loop].push_back(load);
  Finder finder(host, function, stores);
  // All questions come before the first change.
  SmallVector<std::pair<Loop *, Carried>, 4> found;
  for (auto &[loop, members] : by_loop) {
    SmallVector<Carried, 4> some;
    if (members.size() > 1)
      finder.find(*loop, members, some);
    for (Carried &each : some)
      found.emplace_back(loop, std::move(each));
  }
  Writer writer(host, function, undoing);
  SmallPtrSet<const LoadInst *, 16> concerned;
  for (const auto &[loop, carried] : found) {
    if (!writer.write(*loop, carried))
      continue;
    concerned.insert(carried.leading.load);
    for (const auto &readers : carried.trailing)
      for (const Reader &reader : readers)
        concerned.insert(reader.load);
  }
  return concerned;
}

// Tape that a loop of a time step will fill in one go is fetched into the cache while the step computes.
//
// A step which overwrites its state after all of the state was read (rates first, then u += h f(u)) has the tape take
// the old state in the loop that overwrites it: a burst of stores to memory that is in no cache, before and after which
// the program computes and memory rests. Where that is so, each iteration of the largest loop earlier in the step asks
// for its share of the tape (Callahan, Kennedy, Porterfield, "Software prefetching", ASPLOS 1991; there for loads of
// the loop itself).
//
//   for t:  for i: compute f                          for t:  for i: prefetch share i of tape + t n;  compute f
//           for k: tape[t n + k] = u_k;  u_k += ..            for k: tape[t n + k] = u_k;  u_k += ..
//
// A prefetch changes nothing that a program can see, at whatever address. So where the tape may have to grow before it
// is written, its address before that is good enough.
//
// Runs after LLVM's vectoriser, which leaves loops with prefetches alone. Not handled: tapes that are read (hardware
// foresees those: no gain was measured), strides, loops whose number of iterations is not known before, and steps in
// which no nest of loops comes earlier (one loop is too short to be worth the instructions: 6 % were lost in
// lstm_dense).

#include "support.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace {

constexpr uint64_t kLine = 64;
// So much of a small cache at once, and no more, whatever is computed.
constexpr uint64_t kMostLines = 64;
// What one iteration of a burst writes, at most: larger steps are strides.
constexpr uint64_t kLargestStep = 4 * kLine;
constexpr ptrdiff_t kLargestBurst = 40;
// A loop that computes for long enough has as many times the instructions of the one that fills the tape.
constexpr size_t kTimesTheWork = 2;
constexpr unsigned kMostBursts = 16;

// Stores to consecutive places of the tape.
struct Burst {
  Loop *loop;
  const SCEVAddRecExpr *place;
  uint64_t step; // bytes for each iteration
};

// Each iteration of `loop` asks for the next `lines`.
struct Share {
  Loop *loop;
  Value *from, *lines;
};

bool isTape(const Instruction &inst) {
  const MDNode *scopes = inst.getMetadata(LLVMContext::MD_alias_scope);
  return scopes && any_of(scopes->operands(), [](const MDOperand &scope) {
           const auto *node = dyn_cast_or_null<MDNode>(scope.get());
           return node && AliasScopeNode(node).getName() == "tape";
         });
}

// Whether a loop does little but store: one that computes leaves memory the time.
bool isBurst(const Loop &loop) {
  return all_of(*loop.getHeader(),
                [](const Instruction &inst) { return !isa<CallBase>(inst) || isa<IntrinsicInst>(inst); }) &&
         any_of(*loop.getHeader(),
                [](const Instruction &inst) {
                  return isa<StoreInst>(inst) && inst.getOperand(0)->getType()->isVectorTy();
                }) &&
         loop.getHeader()->sizeWithoutDebug() <= kLargestBurst;
}

size_t sizeOf(const Loop &loop) {
  size_t size = 0;
  for (const BasicBlock *block : loop.blocks())
    size += block->sizeWithoutDebug();
  return size;
}

class Prefetch {
public:
  Prefetch(Function &function, LoopInfo &loops, ScalarEvolution &evolution, DominatorTree &dominators)
      : function_(function), loops_(loops), evolution_(evolution), dominators_(dominators),
        expander_(evolution, "ahead") {}

  bool run() {
    collect();
    // Main loops before what is left of them.
    stable_sort(bursts_, [](const Burst &a, const Burst &b) { return a.step > b.step; });
    if (bursts_.size() > kMostBursts)
      bursts_.resize(kMostBursts);
    for (const Burst &burst : bursts_)
      plan(burst);
    // Blocks are split when all is known of the loops.
    for (const Share &share : shares_)
      insert(share);
    return !shares_.empty();
  }

private:
  void collect() {
    for (BasicBlock &block : function_) {
      Loop *loop = loops_.getLoopFor(&block);
      if (!loop || loop->getNumBlocks() > 1 || !loop->getParentLoop() || !isBurst(*loop))
        continue;
      for (Instruction &inst : block)
        if (auto *store = dyn_cast<StoreInst>(&inst); store && isTape(*store))
          add(*loop, *store);
    }
  }

  void add(Loop &loop, StoreInst &store) {
    const auto *place = dyn_cast<SCEVAddRecExpr>(evolution_.getSCEV(store.getPointerOperand()));
    const auto *step = place && place->getLoop() == &loop && place->isAffine()
                           ? dyn_cast<SCEVConstant>(place->getStepRecurrence(evolution_))
                           : nullptr;
    if (!step || !step->getAPInt().isStrictlyPositive() || step->getAPInt().ugt(kLargestStep) ||
        evolution_.isLoopInvariant(place->getStart(), loop.getParentLoop()))
      return;
    // Stores side by side are one burst.
    for (const Burst &known : bursts_)
      if (known.loop == &loop && isa<SCEVConstant>(evolution_.getMinusSCEV(place, known.place)))
        return;
    bursts_.push_back({&loop, place, step->getAPInt().getZExtValue()});
  }

  // The largest loop that runs before `burst` in the same iteration of the loop around; null if none is worth it.
  Loop *findEarlier(const Loop &burst) const {
    Loop *around = burst.getParentLoop(), *best = nullptr;
    LoopBlocksRPO order(around);
    order.perform(&loops_);
    size_t most = kTimesTheWork * sizeOf(burst) - 1;
    for (BasicBlock *block : order) {
      if (block == burst.getHeader())
        return best;
      Loop *loop = loops_.getLoopFor(block);
      if (loop == around || loop->getHeader() != block || loop->getParentLoop() != around || loop->isInnermost() ||
          !loop->isLoopSimplifyForm() || sizeOf(*loop) <= most)
        continue;
      best = loop;
      most = sizeOf(*loop);
    }
    return nullptr;
  }

  // `what`, as it would be at `at` if nothing were decided between; null if it depends on what is computed between.
  const SCEV *early(const SCEV *what, const Instruction &at) const {
    struct Collect {
      const DominatorTree &dominators;
      const Instruction &at;
      ScalarEvolution &evolution;
      ValueToSCEVMapTy replaced{};
      bool follow(const SCEV *part) {
        const auto *unknown = dyn_cast<SCEVUnknown>(part);
        const auto *phi = unknown ? dyn_cast<PHINode>(unknown->getValue()) : nullptr;
        if (!phi || dominators.dominates(phi, &at))
          return true;
        for (Value *value : phi->incoming_values())
          if (auto *inst = dyn_cast<Instruction>(value); !inst || dominators.dominates(inst, &at)) {
            replaced[phi] = evolution.getSCEV(value);
            break;
          }
        return true;
      }
      bool isDone() const { return false; }
    } collect{dominators_, at, evolution_};
    visitAll(what, collect);
    if (!collect.replaced.empty())
      what = SCEVParameterRewriter::rewrite(what, evolution_, collect.replaced);
    return evolution_.dominates(what, at.getParent()) && expander_.isSafeToExpandAt(what, &at) ? what : nullptr;
  }

  // The number of iterations of `loop`, known at `at`.
  const SCEV *iterations(const Loop &loop, Type *type, const Instruction &at) const {
    const SCEV *taken = evolution_.getBackedgeTakenCount(&loop);
    if (isa<SCEVCouldNotCompute>(taken) || evolution_.getTypeSizeInBits(taken->getType()) > 64)
      return nullptr;
    return early(evolution_.getAddExpr(evolution_.getNoopOrZeroExtend(taken, type), evolution_.getOne(type)), at);
  }

  void plan(const Burst &burst) {
    Loop *earlier = findEarlier(*burst.loop);
    if (!earlier)
      return;
    Instruction &before = *earlier->getLoopPreheader()->getTerminator();
    Type *number = Type::getInt64Ty(function_.getContext());
    const SCEV *start = early(burst.place->getStart(), before);
    const SCEV *fills = iterations(*burst.loop, number, before), *runs = iterations(*earlier, number, before);
    // A main loop and what is left of it would ask for the same.
    if (!start || !fills || !runs || !done_.insert({earlier, start}).second)
      return;
    auto known = [&](const SCEV *what) {
      Value *value = expander_.expandCodeFor(what, what->getType(), &before);
      // What is computed early may be poison.
      return IRBuilder<>(&before).CreateFreeze(value);
    };
    IRBuilder<> build(&before);
    Value *from = known(start), *all = known(fills), *in = known(runs);
    all = build.CreateMul(all, build.getInt64(static_cast<uint64_t>(burst.step)));
    in = build.CreateBinaryIntrinsic(Intrinsic::umax, in, build.getInt64(1));
    Value *lines = build.CreateUDiv(build.CreateLShr(all, Log2_64(kLine)), in);
    lines = build.CreateBinaryIntrinsic(Intrinsic::umin, lines, build.getInt64(kMostLines));
    // What is left of the division, and the last line, which is not whole.
    lines = build.CreateAdd(lines, build.getInt64(1));
    shares_.push_back({earlier, from, lines});
  }

  static void insert(const Share &share) {
    BasicBlock *header = share.loop->getHeader(), *latch = share.loop->getLoopLatch();
    BasicBlock *preheader = share.loop->getLoopPreheader();
    IRBuilder<> build(header, header->begin()), next(latch->getTerminator()), before(preheader->getTerminator());
    PHINode *at = build.CreatePHI(share.from->getType(), 2, "ahead");
    Value *bytes = before.CreateMul(share.lines, before.getInt64(kLine));
    at->addIncoming(share.from, preheader);
    at->addIncoming(next.CreatePtrAdd(at, bytes), latch);
    const auto [body, line] = SplitBlockAndInsertSimpleForLoop(share.lines, header->getFirstInsertionPt());
    IRBuilder<> here(&*body);
    Value *place = here.CreatePtrAdd(at, here.CreateMul(line, here.getInt64(kLine)));
    // To be written, into all levels, data.
    here.CreateIntrinsic(Intrinsic::prefetch, {at->getType()},
                         {place, here.getInt32(1), here.getInt32(3), here.getInt32(1)});
  }

  Function &function_;
  LoopInfo &loops_;
  ScalarEvolution &evolution_;
  DominatorTree &dominators_;
  SCEVExpander expander_;
  SmallVector<Burst, 8> bursts_;
  SmallVector<Share, 4> shares_;
  SmallDenseSet<std::pair<Loop *, const SCEV *>, 4> done_;
};

} // namespace

bool enz::prefetchTape(Function &function, LoopInfo &loops, ScalarEvolution &evolution, DominatorTree &dominators) {
  return Prefetch(function, loops, evolution, dominators).run();
}

// Memory that every step of a loop fills before it reads it: work arrays, stages, rates. What a step finds there from
// the step before is of no use, so it is no part of the state that is kept of each step.
//
// Of memory with one base it is asked, for each read of the step, whether writes that come before it in the step have
// filled all of the range that is read; and whether any read through another pointer may be of the same memory. Orders
// come from control flow, ranges from ScalarEvolution; how ranges lie to each other is compared at run time, before the
// loop, since the first and last elements of arrays are often written apart, by statements that do not know of each
// other.
//
// Not handled, so part of the state: what is filled under conditions that change, element by element in an order that
// is no range, or in more than two loops within each other with gaps between the rows; what calls read.
#ifndef ENZYME_TEMPORARIES_H
#define ENZYME_TEMPORARIES_H

#include "extents.h"

namespace enz {

class Temporaries : public Extents {
public:
  using Extents::Extents;

protected:
  // An i1 before the loop, computed at the end of its preheader: whether no step reads what it finds in memory at
  // `base`. Null if that cannot be.
  Value *isTemporary(Value *base);
  // An i1 at the same place: whether all that the loop accesses where no region is known is its state. Null if that is
  // not known of some, or cannot be.
  Value *isInside();

private:
  // An access of a step.
  struct Access {
    Instruction *inst;
    Value *pointer;
    TypeSize size;
    Value *length;
    bool written;
  };
  // What a write fills of its base in each step, or in each iteration of the outermost loop that comes before the read:
  // `bytes` from `low` on, and so on after each `stride`.
  struct Piece {
    const Access *write = nullptr;
    const SCEV *low = nullptr, *bytes = nullptr;
    const Loop *rows = nullptr;
    const SCEV *stride = nullptr, *turns = nullptr;
    Guards guards;
  };
  // From where to where, as numbers of 64 bits.
  struct Span {
    Value *low, *high;
  };

  void list();
  bool isApart(const Access &read, Value *base);
  bool isOfSameElement(const Access &read, Value *base);
  bool comesBefore(const Access &write, const Access &read, const Loop *&apart);
  const SmallPtrSet<BasicBlock *, 16> &behind(BasicBlock *block, const Loop *around);
  bool pieceOf(const Access &write, const Access &read, Piece &out);
  Value *number(const SCEV *what);
  Span spanOf(const SCEV *low, const SCEV *bytes, const Guards &guards);
  Value *reached(Value *from, ArrayRef<Span> spans);
  SmallVector<Piece, 8> piecesFor(const Access &read, Value *base);
  SmallVector<Span, 8> filledBy(SmallVector<Piece, 8> pieces);
  Value *isFilled(Value *base);
  Value *isElsewhere(const Access &read, Value *base);

  bool listed_ = false;
  SmallVector<Access, 32> accesses_;
  // Calls of which it is not known what they read.
  SmallVector<Instruction *, 4> opaque_;
  DenseMap<std::pair<BasicBlock *, const Loop *>, SmallPtrSet<BasicBlock *, 16>> behind_;
};

} // namespace enz

#endif

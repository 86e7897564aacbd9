; What has nothing to turn round is passed over: how often an inner loop of integers ran, which way a branch went.
; grad: @find([0.4, -0.3, 0.7, 0.1, 0.6, 0.2, -0.5, 0.9], i64 1)
; grad: @find([0.4, -0.3, 0.7, 0.1, 0.6, 0.2, -0.5, 0.9], i64 6)
; grad: @arms([0.4, -0.3, 0.7, 0.1], i64 4)
; grad: @left([0.4, -0.3, 0.7, 0.1], i64 1)
; grad: @left([0.4, -0.3, 0.7, 0.1], i64 4)
; grad: @chosen([0.4, -0.3, 0.7, 0.1], i64 4)
; grad: @last([0.4, -0.3, 0.7, 0.1], i64 3)
; grad: @last([0.4, -0.3, 0.7, 0.1], i64 4)
; plan: @find loops not Count
; plan: @arms loops not Entered
; plan: @arms loops not %odd
; plan: @left loops has Entered
; plan: @chosen loops has Entered
; plan: @last kept not Count
; plan: @last kept not Entered

; Which element each iteration takes, an inner loop finds, of which nobody knows how often it runs.
define double @find(ptr %x, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %seed = add i64 %i, 5
  br label %inner
inner:
  %k = phi i64 [ %seed, %outer ], [ %k1, %inner ]
  %bit = and i64 %k, 1
  %even = icmp eq i64 %bit, 0
  %half = lshr i64 %k, 1
  %less = sub i64 %k, 3
  %k1 = select i1 %even, i64 %half, i64 %less
  %go = icmp ugt i64 %k1, 2
  br i1 %go, label %inner, label %latch
latch:
  %at = phi i64 [ %k1, %inner ]
  %p = getelementptr double, ptr %x, i64 %at
  %v = load double, ptr %p
  %w = fmul double %v, %s
  %t = fadd double %w, 0.5
  store double %t, ptr %p
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %outer, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}

; Ways that compute integers alone.
define double @arms(ptr %x, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %seen = phi i64 [ 3, %entry ], [ %seen1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %bit = and i64 %seen, 1
  %odd = icmp ne i64 %bit, 0
  br i1 %odd, label %up, label %down
up:
  %a = mul i64 %seen, 3
  %big = icmp ugt i64 %a, 20
  br i1 %big, label %latch, label %down
down:
  %from = phi i64 [ %a, %up ], [ %seen, %head ]
  %b = add i64 %from, 1
  br label %latch
latch:
  %seen1 = phi i64 [ %a, %up ], [ %b, %down ]
  %j = and i64 %seen1, 3
  %p = getelementptr double, ptr %x, i64 %j
  %v = load double, ptr %p
  %t = fmul double %v, %s
  store double %t, ptr %p
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %head, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}

; One of the ways is no idle one: all three blocks before the merge are turned round.
define double @left(ptr %x, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %seen = phi i64 [ 3, %entry ], [ %seen1, %latch ]
  %p = getelementptr double, ptr %x, i64 %i
  %bit = and i64 %seen, 1
  %odd = icmp ne i64 %bit, 0
  br i1 %odd, label %up, label %down
up:
  %a = mul i64 %seen, 3
  %big = icmp ugt i64 %a, 20
  br i1 %big, label %latch, label %down
down:
  %from = phi i64 [ %a, %up ], [ %seen, %head ]
  %b = add i64 %from, 1
  %u = load double, ptr %p
  %uu = fmul double %u, %u
  store double %uu, ptr %p
  br label %latch
latch:
  %seen1 = phi i64 [ %a, %up ], [ %b, %down ]
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %head, label %done
done:
  %v0 = load double, ptr %x
  %p1 = getelementptr double, ptr %x, i64 1
  %v1 = load double, ptr %p1
  %r = fadd double %v0, %v1
  ret double %r
}

; The ways do nothing, but one number or another comes along them.
define double @chosen(ptr %x, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %seen = phi i64 [ 3, %entry ], [ %seen1, %latch ]
  %s = phi double [ 1.0, %entry ], [ %t, %latch ]
  %p = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %p
  %bit = and i64 %seen, 1
  %odd = icmp ne i64 %bit, 0
  br i1 %odd, label %up, label %down
up:
  %a = mul i64 %seen, 3
  %big = icmp ugt i64 %a, 20
  br i1 %big, label %latch, label %down
down:
  %from = phi i64 [ %a, %up ], [ %seen, %head ]
  %b = add i64 %from, 1
  br label %latch
latch:
  %seen1 = phi i64 [ %a, %up ], [ %b, %down ]
  %w = phi double [ %s, %up ], [ %v, %down ]
  %t = fmul double %v, %w
  store double %t, ptr %p
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %head, label %done
done:
  %r = phi double [ %t, %latch ]
  ret double %r
}

; Left from two places, and nothing but integers in it.
define double @last(ptr %x, i64 %n) {
entry:
  %start = load double, ptr %x
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %two = icmp eq i64 %i, 2
  br i1 %two, label %early, label %latch
latch:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %loop, label %late
early:
  %e = phi i64 [ %i, %loop ]
  br label %done
late:
  %l = phi i64 [ %i1, %latch ]
  br label %done
done:
  %at = phi i64 [ %e, %early ], [ %l, %late ]
  %j = and i64 %at, 3
  %p = getelementptr double, ptr %x, i64 %j
  %v = load double, ptr %p
  %vv = fmul double %v, %start
  %r = fmul double %vv, %v
  ret double %r
}

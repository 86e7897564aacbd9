//! A function as people would write it: pseudo-source for pages and dumps, never read back.
//!
//! Values that are used once, in their own block, and only compute go into the expression that uses them; everything else is an
//! assignment. Loops stay jumps between labels. Each line knows the place in the source that it comes from.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;

use super::{Numbered, print_const};
use crate::{BinOp, BlockId, CastOp, FloatPred, Func, InstId, IntPred, LocId, Module, Op, Type, ValueDef, ValueId};

/// A line of pseudo-source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What stands there, without indentation.
    pub text: String,
    /// A label, which stands further left.
    pub label: bool,
    /// Where it comes from.
    pub loc: Option<LocId>,
}

/// Deepest expression that is written in one line.
const DEPTH: u32 = 6;

/// The function, line by line.
pub fn pseudo(module: &Module, func: &Func) -> Vec<Line> {
    let writer = Writer::new(module, func);
    let mut out = Vec::new();
    for (n, b) in func.blocks.keys().enumerate() {
        if n > 0 {
            out.push(Line { text: format!("{}:", writer.label(b)), label: true, loc: None });
        }
        for i in &func.blocks[b].insts {
            if let Some(text) = writer.line(b, *i) {
                out.push(Line { text, label: false, loc: func.insts[*i].loc });
            }
        }
    }
    out
}

struct Writer<'a> {
    module: &'a Module,
    func: &'a Func,
    numbered: Numbered<'a>,
    /// Values that stand in the expression of their only user, which is this deep.
    inline: BTreeMap<ValueId, u32>,
    blocks: SecondaryMap<BlockId, u32>,
}

/// Operations that may be done anywhere in their block.
fn is_pure(op: &Op) -> bool {
    matches!(
        op,
        Op::FNeg
            | Op::Binary(_)
            | Op::Cast(_)
            | Op::ICmp(_)
            | Op::FCmp(_)
            | Op::Select
            | Op::Freeze
            | Op::Gep { .. }
            | Op::ExtractValue(_)
            | Op::ExtractElement
    )
}

impl<'a> Writer<'a> {
    fn new(module: &'a Module, func: &'a Func) -> Writer<'a> {
        let mut users: BTreeMap<ValueId, Vec<InstId>> = BTreeMap::new();
        let places = func.inst_blocks();
        for (_, i) in func.placed() {
            for v in &func.insts[i].args {
                users.entry(*v).or_default().push(i);
            }
        }
        let mut inline: BTreeMap<ValueId, u32> = BTreeMap::new();
        for (b, i) in func.placed() {
            let inst = &func.insts[i];
            let Some(r) = inst.result.filter(|_| is_pure(&inst.op)) else { continue };
            let depth = inst.args.iter().filter_map(|a| inline.get(a)).max().map_or(1, |d| d + 1);
            match users.get(&r).map(Vec::as_slice) {
                Some([user])
                    if depth < DEPTH && places[*user] == Some(b) && !matches!(func.insts[*user].op, Op::Phi(_)) =>
                {
                    inline.insert(r, depth);
                }
                _ => {}
            }
        }
        let mut blocks = SecondaryMap::new();
        for (n, b) in (0..).zip(func.blocks.keys()) {
            blocks[b] = n;
        }
        Writer { module, func, numbered: Numbered::new(module, func), inline, blocks }
    }

    fn label(&self, b: BlockId) -> String {
        self.func.blocks[b].name.clone().unwrap_or_else(|| format!("b{}", self.blocks[b]))
    }

    fn name(&self, v: ValueId) -> String {
        match self.func.values[v].def {
            ValueDef::Const(c) => {
                let text = print_const(self.module, c);
                short(text.split_once(' ').map_or(text.as_str(), |(_, value)| value))
            }
            ValueDef::Inst(_) | ValueDef::Param(_) => {
                let text = self.numbered.value(v);
                let name = text.rsplit(' ').next().unwrap_or_default().trim_start_matches(['%', '@']).to_owned();
                if name.starts_with(|c: char| c.is_ascii_digit()) { format!("v{name}") } else { name }
            }
        }
    }

    /// A value where it is used.
    fn operand(&self, v: ValueId) -> String {
        match (self.inline.contains_key(&v), self.func.def_inst(v)) {
            (true, Some(i)) => self.expression(i),
            _ => self.name(v),
        }
    }

    /// As an operand of an operator.
    fn factor(&self, v: ValueId) -> String {
        let text = self.operand(v);
        let compound = text.contains(' ') && self.inline.contains_key(&v);
        if compound { format!("({text})") } else { text }
    }

    fn list(&self, values: &[ValueId]) -> String {
        values.iter().map(|v| self.operand(*v)).collect::<Vec<_>>().join(", ")
    }

    fn type_name(&self, v: ValueId) -> String {
        super::print_type(&self.module.ctx.types, self.func.ty(v))
    }

    fn address(&self, i: InstId) -> String {
        let inst = &self.func.insts[i];
        let Some((base, indices)) = inst.args.split_first() else { return String::new() };
        let path: String = indices.iter().map(|v| format!("[{}]", self.operand(*v))).collect();
        format!("&{}{path}", self.factor(*base))
    }

    /// What lies at an address.
    fn place(&self, v: ValueId) -> String {
        let text = self.factor(v);
        let bare = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(&text);
        match bare.strip_prefix('&') {
            Some(place) if self.inline.contains_key(&v) => place.to_owned(),
            _ => format!("*{text}"),
        }
    }

    fn expression(&self, i: InstId) -> String {
        let inst = &self.func.insts[i];
        let a = &inst.args;
        let infix = |op: &str| match a.as_slice() {
            [x, y] => format!("{} {op} {}", self.factor(*x), self.factor(*y)),
            _ => String::new(),
        };
        match &inst.op {
            Op::FNeg => format!("-{}", a.first().map(|x| self.factor(*x)).unwrap_or_default()),
            Op::Binary(op) => infix(operator(*op)),
            Op::ICmp(p) => infix(integer_comparison(*p)),
            Op::FCmp(p) => infix(comparison(*p)),
            Op::Select => match a.as_slice() {
                [c, x, y] => format!("{} ? {} : {}", self.factor(*c), self.factor(*x), self.factor(*y)),
                _ => String::new(),
            },
            Op::Freeze => a.first().map(|x| self.operand(*x)).unwrap_or_default(),
            Op::Cast(op) => {
                let inner = a.first().map(|x| self.factor(*x)).unwrap_or_default();
                match op {
                    CastOp::PtrToInt | CastOp::IntToPtr | CastOp::ZExt | CastOp::SExt => inner,
                    _ => format!("({}) {inner}", inst.result.map(|r| self.type_name(r)).unwrap_or_default()),
                }
            }
            Op::Gep { .. } => self.address(i),
            Op::Load(_) => a.first().map(|p| self.place(*p)).unwrap_or_default(),
            Op::ExtractValue(path) => {
                let path: String = path.iter().map(|n| format!(".{n}")).collect();
                format!("{}{path}", a.first().map(|x| self.factor(*x)).unwrap_or_default())
            }
            Op::ExtractElement => match a.as_slice() {
                [x, n] => format!("{}[{}]", self.factor(*x), self.operand(*n)),
                _ => String::new(),
            },
            Op::Phi(from) => {
                let ways: Vec<String> =
                    a.iter().zip(from).map(|(v, b)| format!("{} from {}", self.operand(*v), self.label(*b))).collect();
                ways.join(", ")
            }
            Op::Call(_) | Op::Invoke { .. } => {
                let callee = self.func.callee(i).map(|c| self.name(c)).unwrap_or_default();
                let callee = callee.trim_start_matches('@');
                // Names of intrinsics are followed by types.
                let bare = match callee.strip_prefix("llvm.") {
                    Some(rest) => rest.split('.').next().unwrap_or(rest),
                    None => callee,
                };
                format!("{bare}({})", self.list(self.func.call_args(i)))
            }
            Op::Alloca { .. } => "stack slot".to_owned(),
            _ => self.numbered.inst(i).trim().to_owned(),
        }
    }

    /// The line of an instruction; none for what stands in others.
    fn line(&self, b: BlockId, i: InstId) -> Option<String> {
        let inst = &self.func.insts[i];
        if inst.result.is_some_and(|r| self.inline.contains_key(&r)) {
            return None;
        }
        let text = match &inst.op {
            Op::Store(_) => match inst.args.as_slice() {
                [v, p] => format!("{} = {}", self.place(*p), self.operand(*v)),
                _ => return None,
            },
            Op::Ret => match inst.args.first() {
                Some(v) => format!("return {}", self.operand(*v)),
                None => "return".to_owned(),
            },
            Op::Br(to) => {
                let next = self.blocks[b] + 1;
                if self.blocks[*to] == next {
                    return None;
                }
                format!("goto {}", self.label(*to))
            }
            Op::CondBr { then_to, else_to } => {
                let c = inst.args.first().map(|c| self.operand(*c)).unwrap_or_default();
                format!("if ({c}) goto {} else goto {}", self.label(*then_to), self.label(*else_to))
            }
            Op::Unreachable => "unreachable".to_owned(),
            Op::Switch { .. } => self.numbered.inst(i).trim().to_owned(),
            _ => {
                let expression = self.expression(i);
                let typed = match inst.result.map(|r| &self.module.ctx.types[self.func.ty(r)]) {
                    Some(Type::Void) | None => return Some(expression),
                    Some(_) => inst.result?,
                };
                let is_text = expression.starts_with('%');
                if is_text { expression } else { format!("{} = {expression}", self.name(typed)) }
            }
        };
        Some(text)
    }
}

/// A number as people write it.
fn short(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(x) if text.contains('e') => format!("{x}"),
        _ => text.to_owned(),
    }
}

fn operator(op: BinOp) -> &'static str {
    match op {
        BinOp::Add | BinOp::FAdd => "+",
        BinOp::Sub | BinOp::FSub => "-",
        BinOp::Mul | BinOp::FMul => "*",
        BinOp::UDiv | BinOp::SDiv | BinOp::FDiv => "/",
        BinOp::URem | BinOp::SRem | BinOp::FRem => "%",
        BinOp::Shl => "<<",
        BinOp::LShr | BinOp::AShr => ">>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
    }
}

fn integer_comparison(p: IntPred) -> &'static str {
    match p {
        IntPred::Eq => "==",
        IntPred::Ne => "!=",
        IntPred::Ugt | IntPred::Sgt => ">",
        IntPred::Uge | IntPred::Sge => ">=",
        IntPred::Ult | IntPred::Slt => "<",
        IntPred::Ule | IntPred::Sle => "<=",
    }
}

fn comparison(p: FloatPred) -> &'static str {
    match p {
        FloatPred::Oeq | FloatPred::Ueq => "==",
        FloatPred::Ogt | FloatPred::Ugt => ">",
        FloatPred::Oge | FloatPred::Uge => ">=",
        FloatPred::Olt | FloatPred::Ult => "<",
        FloatPred::Ole | FloatPred::Ule => "<=",
        FloatPred::One | FloatPred::Une => "!=",
        FloatPred::Ord => "is ordered with",
        FloatPred::Uno => "is not ordered with",
        FloatPred::False => "never",
        FloatPred::True => "always",
    }
}

#[cfg(test)]
mod tests {
    use crate::text::parse_module;

    use super::pseudo;

    #[test]
    fn a_loop_reads_like_source() {
        let text = "define double @f(ptr %x, i64 %n) {\nentry:\n  br label %loop\nloop:\n  \
            %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n  %s = phi double [ 0.0, %entry ], [ %sum, %loop ]\n  \
            %p = getelementptr double, ptr %x, i64 %i\n  %v = load double, ptr %p\n  %q = fmul double %v, %v\n  \
            %sum = fadd double %s, %q\n  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %n\n  \
            br i1 %more, label %loop, label %done\ndone:\n  ret double %sum\n}\n";
        let module = parse_module(text).unwrap();
        let func = module.funcs.values().next().unwrap();
        let lines: Vec<String> = pseudo(&module, func).into_iter().map(|l| l.text).collect();
        let all = lines.join("\n");
        assert!(all.contains("= x[") && all.contains(") goto loop else goto done"), "{all}");
        assert!(lines.iter().any(|l| l.contains(" * ") && l.contains(" + ")), "{all}");
        assert!(!lines.iter().any(|l| l.starts_with("goto loop")), "{all}");
    }

    #[test]
    fn intrinsics_and_numbers_are_short() {
        let text = "declare double @llvm.fmuladd.f64(double, double, double)\ndefine double @f(double %x) {\n  \
            %y = call double @llvm.fmuladd.f64(double %x, double 5.000000e-01, double -0.000000e+00)\n  ret double %y\n}\n";
        let module = parse_module(text).unwrap();
        let func = module.funcs.values().find(|f| !f.is_declaration()).unwrap();
        let lines: Vec<String> = pseudo(&module, func).into_iter().map(|l| l.text).collect();
        assert_eq!(lines, ["y = fmuladd(x, 0.5, -0)", "return y"]);
    }
}

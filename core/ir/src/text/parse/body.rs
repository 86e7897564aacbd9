//! Parses the body of a function.
//!
//! Operands that are not yet defined get a stand-in, and the place to mend is noted; labels are numbered as they are
//! met and turned into blocks at the end. So values and blocks get dense ids in the order of the text.

use std::collections::HashMap;

use cranelift_entity::EntityRef;
use smallvec::smallvec;

use super::{BodyAt, Name, Parser, Res, Tok};
use crate::func::{Args, Func, Inst};
use crate::ids::{BlockId, InstId, TypeId, ValueId};
use crate::op::{FastMath, IntFlags, Op};
use crate::types::Type;

/// An instruction being read.
pub(super) struct Draft<'a> {
    pub op: Op,
    pub args: Args,
    pub ty: TypeId,
    pub fast: FastMath,
    pub ints: IntFlags,
    /// Operands that are not yet defined: position, name, type, token.
    forward: Vec<(usize, Name<'a>, TypeId, usize)>,
}

/// Where an operand is to be mended.
struct Fixup<'a> {
    inst: InstId,
    arg: usize,
    name: Name<'a>,
    ty: TypeId,
    token: usize,
}

/// A function whose body is being read.
pub(super) struct Body<'p, 'a> {
    pub p: &'p mut Parser<'a>,
    pub func: Func,
    void: TypeId,
    locals: HashMap<Name<'a>, ValueId>,
    /// Next number of what has no name.
    next: u32,
    fixups: Vec<Fixup<'a>>,
    labels: HashMap<Name<'a>, u32>,
    /// The block of each label met, and a token that names it.
    label_blocks: Vec<(Option<BlockId>, usize)>,
    /// The block being filled.
    block: Option<BlockId>,
}

impl<'a> Parser<'a> {
    /// Reads a body and puts it into its function.
    pub(super) fn body(&mut self, body: BodyAt) -> Res<()> {
        let func = self.module.funcs[body.func].clone();
        let void = self.intern_type(Type::Void)?;
        self.at = body.at;
        let mut reader = Body {
            p: self,
            func,
            void,
            locals: HashMap::new(),
            next: 0,
            fixups: Vec::new(),
            labels: HashMap::new(),
            label_blocks: Vec::new(),
            block: None,
        };
        reader.parameters(&body.param_names)?;
        reader.blocks()?;
        reader.finish()?;
        let func = reader.func;
        self.module.funcs[body.func] = func;
        Ok(())
    }
}

impl<'a> Body<'_, 'a> {
    fn parameters(&mut self, names: &[Option<usize>]) -> Res<()> {
        for (value, token) in self.func.params.clone().into_iter().zip(names) {
            let name = token.map(|t| self.p.name_of(self.p.token(t)));
            self.define(value, name, token.unwrap_or(0))?;
        }
        Ok(())
    }

    /// The number given, or the next one; numbers only grow.
    fn take_number(&mut self, given: Option<u32>, token: usize) -> Res<u32> {
        let number = given.unwrap_or(self.next);
        if number < self.next || number == u32::MAX {
            return self.p.fail_at(
                token,
                format!("expected number {} or greater (blocks without name are numbered too)", self.next),
            );
        }
        self.next = number + 1;
        Ok(number)
    }

    /// Binds a name, or the next number, to a value.
    fn define(&mut self, value: ValueId, name: Option<Name<'a>>, token: usize) -> Res<()> {
        let name = match name {
            Some(Name::Text(text)) => {
                self.func.value_names.insert(value, text.clone().into_owned());
                Name::Text(text)
            }
            other => Name::Number(self.take_number(other.as_ref().and_then(Parser::as_number), token)?),
        };
        match self.locals.insert(name, value) {
            None => Ok(()),
            Some(_) => self.p.fail_at(token, "value defined twice"),
        }
    }

    fn blocks(&mut self) -> Res<()> {
        self.p.expect(b'{')?;
        loop {
            match self.p.peek() {
                Tok::Label => {
                    let token = self.p.at;
                    let name = self.p.bump_name();
                    self.begin_block(Some(name), token)?;
                }
                Tok::Punct(b'}') => break,
                Tok::Punct(b'#') => {
                    self.p.bump();
                    self.p.bump();
                    if !self.p.is(b'(') {
                        return self.p.unexpected("a debug record");
                    }
                    self.p.skip_group()?;
                }
                Tok::Word if matches!(self.p.text(), "uselistorder" | "uselistorder_bb") => {
                    while !matches!(self.p.peek(), Tok::Punct(b'{') | Tok::Eof) {
                        self.p.bump();
                    }
                    self.p.skip_group()?;
                }
                _ => self.instruction()?,
            }
        }
        if self.block.is_some() {
            return self.p.unexpected("a terminator");
        }
        if self.func.layout.is_empty() {
            return self.p.unexpected("an instruction");
        }
        self.p.expect(b'}')
    }

    fn begin_block(&mut self, name: Option<Name<'a>>, token: usize) -> Res<()> {
        if self.block.is_some() {
            return self.p.fail_at(token, "the block before has no terminator");
        }
        let (name, hint) = match name {
            Some(Name::Text(text)) => {
                let hint = text.clone().into_owned();
                (Name::Text(text), Some(hint))
            }
            other => (Name::Number(self.take_number(other.as_ref().and_then(Parser::as_number), token)?), None),
        };
        let block = self.func.add_block(hint);
        let label = self.label_id(name, token);
        match self.label_blocks.get_mut(label.index()) {
            Some((slot @ None, _)) => *slot = Some(block),
            _ => return self.p.fail_at(token, "label defined twice"),
        }
        self.block = Some(block);
        Ok(())
    }

    /// A stand-in for the block of a label, until all labels are known.
    fn label_id(&mut self, name: Name<'a>, token: usize) -> BlockId {
        let next = self.label_blocks.len() as u32;
        let id = *self.labels.entry(name).or_insert(next);
        if id == next {
            self.label_blocks.push((None, token));
        }
        BlockId::new(id as usize)
    }

    /// `%name` of a block.
    pub(super) fn bare_label(&mut self) -> Res<BlockId> {
        if self.p.peek() != Tok::Local {
            return self.p.unexpected("a label");
        }
        let token = self.p.at;
        let name = self.p.bump_name();
        Ok(self.label_id(name, token))
    }

    /// `label %name`.
    pub(super) fn label(&mut self) -> Res<BlockId> {
        self.p.expect_word("label")?;
        self.bare_label()
    }

    /// An empty instruction without result.
    pub(super) fn draft(&self, op: Op) -> Draft<'a> {
        Draft {
            op,
            args: smallvec![],
            ty: self.void,
            fast: FastMath::empty(),
            ints: IntFlags::empty(),
            forward: Vec::new(),
        }
    }

    /// Appends an operand of type `ty`.
    pub(super) fn operand(&mut self, draft: &mut Draft<'a>, ty: TypeId) -> Res<()> {
        if matches!(self.p.module.ctx.types[ty], Type::Metadata) {
            let c = self.p.metadata_text()?;
            draft.args.push(self.func.constant(c, ty));
            return Ok(());
        }
        if self.p.peek() != Tok::Local {
            let c = self.p.constant(ty)?;
            draft.args.push(self.func.constant(c, ty));
            return Ok(());
        }
        let token = self.p.at;
        let name = self.p.bump_name();
        match self.locals.get(&name) {
            Some(v) => {
                self.check_type(*v, ty, token)?;
                draft.args.push(*v);
            }
            None => {
                draft.forward.push((draft.args.len(), name, ty, token));
                draft.args.push(ValueId::new(0));
            }
        }
        Ok(())
    }

    /// Appends an operand with its type in front.
    pub(super) fn typed_operand(&mut self, draft: &mut Draft<'a>) -> Res<TypeId> {
        let ty = self.p.value_type()?;
        self.operand(draft, ty)?;
        Ok(ty)
    }

    fn check_type(&self, v: ValueId, ty: TypeId, token: usize) -> Res<()> {
        let found = self.func.ty(v);
        if found == ty {
            return Ok(());
        }
        let types = &self.p.module.ctx.types;
        let (found, wanted) = (crate::text::print_type(types, found), crate::text::print_type(types, ty));
        self.p.fail_at(token, format!("value has type '{found}', but '{wanted}' is expected"))
    }

    fn instruction(&mut self) -> Res<()> {
        if self.block.is_none() {
            self.begin_block(None, self.p.at)?;
        }
        let token = self.p.at;
        let name = if self.p.peek() == Tok::Local {
            let name = self.p.bump_name();
            self.p.expect(b'=')?;
            Some(name)
        } else {
            None
        };
        let mut draft = self.operation()?;
        let attached = self.attachments(&mut draft.op)?;
        let is_void = draft.ty == self.void;
        if is_void && name.is_some() {
            return self.p.fail_at(token, "an instruction without result cannot have a name");
        }
        let ends_block = draft.op.is_terminator();
        let inst = Inst {
            op: draft.op,
            args: draft.args,
            ty: draft.ty,
            result: None,
            fast: draft.fast,
            ints: draft.ints,
            loc: attached.loc,
            origin: None,
            scoped: None,
            mem: attached.mem,
        };
        let id = self.func.make_inst(inst, is_void);
        if let Some(b) = self.block {
            self.func.blocks[b].insts.push(id);
        }
        let fixups = draft.forward.into_iter();
        self.fixups.extend(fixups.map(|(arg, name, ty, token)| Fixup { inst: id, arg, name, ty, token }));
        if let Some(result) = self.func.insts[id].result {
            self.define(result, name, token)?;
        }
        if ends_block {
            self.block = None;
        }
        Ok(())
    }

    /// Mends forward references.
    fn finish(&mut self) -> Res<()> {
        for fixup in std::mem::take(&mut self.fixups) {
            let Some(v) = self.locals.get(&fixup.name).copied() else {
                let name = self.p.text_of(self.p.token(fixup.token));
                return self.p.fail_at(fixup.token, format!("'{name}' is not defined"));
            };
            self.check_type(v, fixup.ty, fixup.token)?;
            self.func.insts[fixup.inst].args[fixup.arg] = v;
        }
        let mut blocks = Vec::with_capacity(self.label_blocks.len());
        for (block, token) in &self.label_blocks {
            match block {
                Some(b) => blocks.push(*b),
                None => return self.p.fail_at(*token, "label is not defined"),
            }
        }
        // Every label met has an entry.
        let mut real = |b: BlockId| blocks.get(b.index()).copied().unwrap_or(b);
        for inst in self.func.insts.values_mut() {
            if let Op::Phi(from) = &mut inst.op {
                from.iter_mut().for_each(|b| *b = real(*b));
            }
            if inst.op.is_terminator() {
                inst.op.map_targets(&mut real);
            }
        }
        Ok(())
    }
}

//! Floats that go through streams of bytes in memory, and text beside them that has no derivative.

use std::collections::VecDeque;
use std::io::{BufRead, BufWriter, Cursor, Read, Seek, SeekFrom, Write, copy};

use crate::check::compare;

fn save(to: &mut dyn Write, values: &[f64]) {
    for v in values {
        to.write_all(&v.to_le_bytes()).unwrap();
    }
}

fn load(from: &mut dyn Read, count: usize) -> Vec<f64> {
    let mut word = [0; 8];
    let mut next = || {
        from.read_exact(&mut word).unwrap();
        f64::from_le_bytes(word)
    };
    (0..count).map(|_| next()).collect()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.chunks_exact(8).map(|word| f64::from_le_bytes(word.try_into().unwrap()))
}

fn in_memory() {
    compare("cursor", 5, |x| {
        let mut cursor = Cursor::new(Vec::new());
        for v in x {
            cursor.write_all(&(v * v).to_le_bytes()).unwrap();
        }
        cursor.seek(SeekFrom::Start(8)).unwrap();
        let mut word = [0; 8];
        cursor.read_exact(&mut word).unwrap();
        f64::from_le_bytes(word) * numbers(&cursor.into_inner()).sum::<f64>()
    });
    compare("saved_and_loaded", 5, |x| {
        let mut bytes: Vec<u8> = Vec::new();
        save(&mut bytes, x);
        load(&mut &bytes[..], x.len()).iter().map(|v| v.sin()).sum()
    });
    compare("slice_written", 2, |x| {
        let mut bytes = [0; 16];
        save(&mut &mut bytes[..], x);
        load(&mut &bytes[8..], 1)[0] * x[0]
    });
    compare("buffered", 5, |x| {
        let mut buffered = BufWriter::with_capacity(20, Vec::new());
        save(&mut buffered, x);
        numbers(&buffered.into_inner().unwrap()).map(|v| v * v * v).sum()
    });
    compare("queue", 5, |x| {
        let mut queue: VecDeque<u8> = VecDeque::new();
        save(&mut queue, x);
        load(&mut queue, x.len()).iter().zip(x).map(|(a, b)| a * b).sum()
    });
    compare("parts", 5, |x| {
        let (mut bytes, mut joint, mut all) = (Vec::new(), Vec::new(), Vec::new());
        save(&mut bytes, x);
        (&bytes[..]).take(16).chain(&bytes[24..]).read_to_end(&mut joint).unwrap();
        copy(&mut &bytes[..], &mut all).unwrap();
        numbers(&joint).sum::<f64>() * numbers(&all).map(f64::sin).sum::<f64>()
    });
}

fn beside_text() {
    compare("lines", 6, |x| {
        let text = Cursor::new("1.5 2.5\n3.5 4.5\n0.5 0.25\n");
        let row = |(n, line): (usize, std::io::Result<String>)| {
            let line = line.unwrap();
            let factors: Vec<f64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
            factors[0] * x[n] * x[n] + factors[1] * x[n + 3]
        };
        text.lines().enumerate().map(row).sum()
    });
    compare("discarded", 3, |x| {
        let mut nowhere = std::io::sink();
        for v in x {
            writeln!(nowhere, "{v}").unwrap();
        }
        save(&mut nowhere, x);
        x.iter().map(|v| v * v).sum()
    });
}

pub fn run() {
    in_memory();
    beside_text();
}

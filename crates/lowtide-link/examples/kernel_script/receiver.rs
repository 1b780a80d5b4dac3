//! What the receiver has, and what its acknowledgments say.

use std::fmt;

/// Blocks beside a timestamp option (RFC 2018 §3).
const BLOCKS: usize = 3;

/// An acknowledgment of segments.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledgment {
    /// All segments below are there.
    pub(crate) below: u64,
    /// First and one past the last, the newest first.
    pub(crate) blocks: Vec<(u64, u64)>,
    /// The transmission that caused it.
    pub(crate) by: usize,
    pub(crate) echo: u32,
}

impl fmt::Display for Acknowledgment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ack {} by {}", self.below, self.by)?;
        if !self.blocks.is_empty() {
            f.write_str(" sack")?;
        }
        self.blocks
            .iter()
            .try_for_each(|(start, end)| write!(f, " {start}-{end}"))
    }
}

/// Acknowledges each segment at once.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    sack: bool,
    below: u64,
    /// Above `below`, the newest first.
    blocks: Vec<(u64, u64)>,
    /// TS.Recent (RFC 7323 §4.3).
    recent: u32,
}

impl Receiver {
    pub(crate) fn new(sack: bool) -> Self {
        Self {
            sack,
            ..Self::default()
        }
    }

    pub(crate) fn on_segment(&mut self, segment: u64, timestamp: u32, by: usize) -> Acknowledgment {
        if segment <= self.below {
            self.recent = timestamp;
        }
        let known = |b: &(u64, u64)| (b.0..b.1).contains(&segment);
        if segment >= self.below && !self.blocks.iter().any(known) {
            let mut block = (segment, segment + 1);
            self.blocks.retain(|b| {
                let joins = b.1 == segment || b.0 == segment + 1;
                if joins {
                    block = (block.0.min(b.0), block.1.max(b.1));
                }
                !joins
            });
            if block.0 == self.below {
                self.below = block.1;
            } else {
                self.blocks.insert(0, block);
            }
        }
        let blocks = self.blocks.iter().take(BLOCKS).copied();
        Acknowledgment {
            below: self.below,
            blocks: if self.sack {
                blocks.collect()
            } else {
                Vec::new()
            },
            by,
            echo: self.recent,
        }
    }
}

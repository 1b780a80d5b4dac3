//! Moving data over one stream.

use bytes::Bytes;
use s2n_quic::stream::{Error, ReceiveStream, SendStream};

/// Zeros, handed to a stream at once.
static DATA: [u8; 1 << 16] = [0; 1 << 16];

/// Sends zeros until `count` are sent and acknowledged, or the peer has had enough.
pub(crate) async fn send(to: &mut SendStream, count: Option<u64>) -> Result<(), Error> {
    let mut left = count.unwrap_or(u64::MAX);
    while left > 0 {
        let size = left.min(DATA.len() as u64);
        to.send(Bytes::from_static(&DATA[..size as usize])).await?;
        left -= size;
    }
    to.close().await
}

/// Throws away what comes until the peer ends the stream; `received` is told of each piece.
pub(crate) async fn receive(
    from: &mut ReceiveStream,
    mut received: impl FnMut(u64),
) -> Result<(), Error> {
    let mut chunks: [Bytes; 32] = Default::default();
    loop {
        let (count, is_open) = from.receive_vectored(&mut chunks).await?;
        let bytes: usize = chunks[..count].iter().map(Bytes::len).sum();
        chunks[..count].fill(Bytes::new());
        received(bytes as u64);
        if !is_open {
            return Ok(());
        }
    }
}

/// Reads on until there are `length` bytes; what comes behind them is there, too. `None` where the
/// stream ends before.
pub(crate) async fn read(
    from: &mut ReceiveStream,
    mut read: Vec<u8>,
    length: usize,
) -> Option<Vec<u8>> {
    while read.len() < length {
        read.extend_from_slice(&from.receive().await.ok()??);
    }
    Some(read)
}

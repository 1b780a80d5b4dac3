//! A socket that uses a controller.

use std::net::SocketAddr;
use std::time::Duration;

/// What a flow does now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The controller, by its name in Lowtide.
    pub controller: &'static str,
    /// The socket's own address.
    pub local: SocketAddr,
    /// The other end's.
    pub peer: SocketAddr,
    /// Congestion window, packets.
    pub cwnd: u32,
    /// Packets in flight.
    pub inflight: u32,
    /// Bytes of a full packet.
    pub mss: u32,
    /// Pacing rate, bytes a second.
    pub pacing_rate: u64,
    /// The controller's estimate of the bandwidth, bytes a second; zero before the first.
    pub bandwidth: u64,
    /// The kernel's smoothed RTT.
    pub srtt: Duration,
    /// The controller's minimum RTT, if there is one.
    pub min_rtt: Option<Duration>,
    /// The controller's phase.
    pub phase: &'static str,
    /// No process has the socket any more, as where its network namespace is gone: the kernel ends it when it gives up.
    pub is_orphan: bool,
}

//! What is in the kernel now.

use std::ffi::OsStr;
use std::fs;

use libbpf_rs::query::{MapInfo, MapInfoIter, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{MapCore as _, MapFlags, MapHandle, MapType};

use super::object;
use crate::Known;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// Whether new sockets can choose it.
pub(super) fn is_available(known: &Known) -> bool {
    let available = fs::read_to_string(AVAILABLE).unwrap_or_default();
    available
        .split_whitespace()
        .any(|name| name == known.kernel_name)
}

/// Whether new sockets of this network namespace get it without choosing.
pub(super) fn is_default(known: &Known) -> bool {
    fs::read_to_string(DEFAULT).is_ok_and(|name| name.trim() == known.kernel_name)
}

/// The maps with its flows: one, or more where connections keep what was unloaded.
pub(super) fn flows(known: &Known) -> Vec<MapInfo> {
    let name = format!("{}_flows", known.kernel_name);
    MapInfoIter::default()
        .filter(|map| map.ty == MapType::SkStorage && map.name == OsStr::new(&name))
        .collect()
}

/// Its `idle` as its newest load has it, in [fixed point](crate::Choice), where it has one.
pub(super) fn idle(known: &Known) -> Option<u64> {
    if known.parameters.is_empty() {
        return None;
    }
    let newest = flows(known).into_iter().map(|map| map.id).max()?;
    // The programs of one load share its maps.
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    ProgInfoIter::with_query_opts(options)
        .filter(|program| program.map_ids.contains(&newest))
        .flat_map(|program| program.map_ids)
        .filter_map(|id| MapHandle::from_map_id(id).ok())
        .filter(|map| map.name() == object::IDLE)
        .find_map(|map| map.lookup(&[0; 4], MapFlags::ANY).ok().flatten())
        .and_then(|value| Some(u64::from_ne_bytes(value.try_into().ok()?)))
}

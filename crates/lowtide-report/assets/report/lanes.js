// What is compared, as lines of plots: their order, names and roles.
export const roleNote = { limit: " (limit)", bound: " (bound)", floor: " (best window)", contender: "" };

// Entries as lines: the controllers numbered as in every plot, limit, bounds and floor in grey.
export function lanesOf(link) {
  let index = 0;
  return link.entries.map((entry) => {
    const frame = entry.role !== "contender";
    return { entry, frame, index: frame ? 0 : index++, label: entry.name + roleNote[entry.role] };
  });
}

// What the n-th flow of an entry is called: its controller, where those of the flows differ.
export function flowName(entry, n) {
  return entry.flows[n]?.name ?? `flow ${n + 1}`;
}

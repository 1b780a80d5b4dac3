// Fingers on a plot: two zoom and move its x axis, one moves it while it is zoomed.
export function takesFingers(u) {
  const { over } = u, log = u.scales.x.distr === 3;
  const there = (value) => (log ? Math.log(value) : value), back = (value) => (log ? Math.exp(value) : value);
  const ends = () => {
    const xs = u.data[0];
    return [there(xs[0]), there(xs[xs.length - 1])];
  };
  const shown = () => [there(u.scales.x.min), there(u.scales.x.max)];
  const zoomed = () => {
    const [from, to] = shown(), [first, last] = ends();
    return to - from < (last - first) * 0.999;
  };
  const places = (event) => {
    const left = over.getBoundingClientRect().left;
    return [...event.touches].slice(0, 2).map((touch) => touch.clientX - left).sort((a, b) => a - b);
  };
  let held = null;

  // The values under the fingers stay under them.
  const follow = (at) => {
    const [from, to] = shown(), [first, last] = ends(), width = over.clientWidth;
    let unit = (to - from) / width;
    if (at.length > 1) {
      if (at[1] - at[0] < 12) return;
      unit = (held[1] - held[0]) / (at[1] - at[0]);
    }
    const span = Math.min(Math.max(unit * width, (last - first) / 2000), last - first);
    const start = Math.min(Math.max(held[0] - (at[0] / width) * span, first), last - span);
    u.setScale("x", { min: back(start), max: back(start + span) });
  };
  const hold = (event) => {
    const at = places(event);
    const takes = at.length === 2 || (at.length === 1 && zoomed());
    held = takes ? at.map((place) => there(u.posToVal(place, "x"))) : null;
    if (at.length === 2) event.preventDefault();
  };
  over.addEventListener("touchstart", hold, { passive: false });
  over.addEventListener("touchmove", (event) => {
    const at = places(event);
    if (!held || at.length !== held.length) return;
    // The browser keeps the gesture where it has begun to scroll.
    if (event.cancelable) event.preventDefault();
    follow(at);
  }, { passive: false });
  for (const end of ["touchend", "touchcancel"]) over.addEventListener(end, hold, { passive: false });
}

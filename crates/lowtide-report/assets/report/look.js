// Colours, markers and dashes. Lines differ in colour and in their markers. The first six colours are after Okabe and
// Ito, which the colour-blind can tell apart, darkened or lightened for contrast. Each further one is, of the colours
// with a contrast of 3.2 to the paper, the furthest from all before it (OKLab, at least 0.12).
import { element } from "./decode.js";

const themes = {
  light: {
    ink: "#1c1e21", quiet: "#5c6370", grid: "#e4e6ea", paper: "#ffffff",
    capacity: "rgba(120,130,145,0.22)", capacityEdge: "rgba(90,100,115,0.55)",
    lanes: ["#0072b2", "#d55e00", "#008a63", "#b5488f", "#a87400", "#5b49b8", "#550000", "#002266", "#ee00ff", "#004400",
      "#9977ff", "#770066", "#0000ff", "#992200", "#9900ff", "#ff0066", "#8888aa", "#440099", "#3366ff", "#9900aa",
      "#336600", "#779900", "#334477", "#440055"],
  },
  dark: {
    ink: "#e6e8eb", quiet: "#9aa2ae", grid: "#2a2e35", paper: "#16181b",
    capacity: "rgba(150,160,175,0.20)", capacityEdge: "rgba(170,180,195,0.5)",
    lanes: ["#56b4e9", "#ff8a3d", "#2fc79b", "#e89ac7", "#e3b62f", "#a99bff", "#cc00bb", "#0066ff", "#77ff00", "#aaffff",
      "#777700", "#dd2233", "#8866aa", "#ff55ff", "#008899", "#ffee00", "#9944ff", "#00aa00", "#ff4499", "#ffccbb",
      "#00ffbb", "#bb7755", "#88cc00", "#bbccff"],
  },
};
export const prefersDark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;

// Paper is white.
export function setPrinting(on) {
  printing = on;
}

export function theme() {
  return prefersDark.matches && !printing ? themes.dark : themes.light;
}

// The n-th line's colour; the frames (limit, bound, floor) are grey.
export function colour(lane) {
  const { quiet, lanes } = theme();
  return lane.frame ? quiet : lanes[lane.index % lanes.length];
}

export function withAlpha(hex, alpha) {
  const part = (at) => parseInt(hex.slice(at, at + 2), 16);
  return `rgba(${part(1)},${part(3)},${part(5)},${alpha})`;
}

export const DASHES = { solid: undefined, dashed: [6, 4], dotted: [2, 3] };

// Eight shapes, in turn; colours return after 24 lines.
const SHAPES = ["circle", "square", "up", "diamond", "down", "cross", "plus", "bar"];

export function shape(lane) {
  if (lane.frame) return { limit: "star", bound: "plus", floor: "ring" }[lane.entry.role];
  return SHAPES[lane.index % SHAPES.length];
}

// Draws a marker of radius r around a point.
export function mark(ctx, name, x, y, r) {
  ctx.beginPath();
  const polygon = (...corners) => {
    corners.forEach(([dx, dy], n) => ctx[n ? "lineTo" : "moveTo"](x + dx * r, y + dy * r));
    ctx.closePath();
    ctx.fill();
  };
  const strokes = (...lines) => {
    for (const [ax, ay, bx, by] of lines) {
      ctx.moveTo(x + ax * r, y + ay * r);
      ctx.lineTo(x + bx * r, y + by * r);
    }
    ctx.stroke();
  };
  switch (name) {
    case "square": polygon([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]); break;
    case "up": polygon([0, -1.1], [1.1, 0.9], [-1.1, 0.9]); break;
    case "down": polygon([0, 1.1], [1.1, -0.9], [-1.1, -0.9]); break;
    case "diamond": polygon([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]); break;
    case "cross": strokes([-0.9, -0.9, 0.9, 0.9], [-0.9, 0.9, 0.9, -0.9]); break;
    case "plus": strokes([-1.1, 0, 1.1, 0], [0, -1.1, 0, 1.1]); break;
    case "star": strokes([-1, 0, 1, 0], [-0.5, -0.9, 0.5, 0.9], [-0.5, 0.9, 0.5, -0.9]); break;
    case "bar": strokes([0, -1.2, 0, 1.2]); break;
    case "ring": ctx.arc(x, y, r, 0, 7); ctx.stroke(); break;
    default: ctx.arc(x, y, r, 0, 7); ctx.fill();
  }
}

// A marker as a small picture, for buttons.
export function swatch(lane) {
  const canvas = element("canvas", { width: 36, height: 24, className: "swatch" });
  const ctx = canvas.getContext("2d");
  ctx.strokeStyle = ctx.fillStyle = colour(lane);
  ctx.lineWidth = 3;
  ctx.beginPath();
  ctx.moveTo(0, 12);
  ctx.lineTo(36, 12);
  ctx.stroke();
  mark(ctx, shape(lane), 18, 12, 8);
  return canvas;
}

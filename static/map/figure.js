// The map as plotly understands it: pure functions of the data and of what is chosen.

// The same as in pipeline/plots/palette.py, so that page and picture agree.
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b4fa3", "#8c6d31", "#17807e", "#c0392b", "#5f7f2e", "#4b5fa5"];
export const GREY = "#a9adb2";
const QUESTION = "#c2185b";
const FLAT_LIMIT = 6000; // more circles than these make a browser slow; the rest are drawn when they are found
const LABELS = 40;
const WIDTH = 56;

export const colourOf = (number) => (number === null ? GREY : COLOURS[number % COLOURS.length]);

/** Plotly reads simple markup in its texts; what comes from a document must not be any. */
export const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Lines of about `width` letters, joined for a hover label. */
export function wrapped(text, width = WIDTH) {
  const lines = [""];
  for (const word of text.split(" ")) {
    for (const piece of word.match(new RegExp(`.{1,${width}}`, "gsu")) ?? [""]) {
      if (lines.at(-1) && lines.at(-1).length + piece.length >= width) lines.push("");
      lines[lines.length - 1] += (lines.at(-1) ? " " : "") + piece;
    }
  }
  return lines.map(plain).join("<br>");
}

export const hover = (point) => `<b>${wrapped(point.topic || point.file)}</b><br><i>${wrapped(point.file)}</i><br>${wrapped(point.text)}`;

/** The groups that colours stand for: [{key, number, points}], where number is null for the rest. */
export function groups(data, by) {
  const found = new Map();
  data.points.forEach((point, index) => {
    const key = by === "cluster" ? point.cluster : point.group;
    if (!found.has(key)) found.set(key, []);
    found.get(key).push(index);
  });
  const keys = [...found.keys()].filter((key) => key !== null);
  if (by === "cluster") keys.sort((one, other) => one - other);
  else keys.sort((one, other) => found.get(other).length - found.get(one).length || (one < other ? -1 : 1));
  const result = keys.map((key, number) => ({ key, number, points: found.get(key) }));
  return found.has(null) ? [...result, { key: null, number: null, points: found.get(null) }] : result;
}

/** Traces for plotly. `view`: {deep, by, chosen (a Set of point numbers, or null), place}. */
export function traces(data, view, ink) {
  const step = view.deep ? 1 : Math.max(1, data.points.length / FLAT_LIMIT);
  const drawn = (index) => step === 1 || Math.floor(index / step) !== Math.floor((index - 1) / step);
  const dots = (points, marker, more = {}) => ({ ...coordinates(points.map((index) => data.points[index]), view.deep), customdata: points, mode: "markers", text: points.map((index) => hover(data.points[index])), hovertemplate: "%{text}<extra></extra>", marker, ...more });
  const size = view.deep ? 4 : data.points.length > 2000 ? 5 : 7;
  const opacity = view.chosen || view.place ? 0.25 : 0.85;
  const legend = groups(data, view.by);
  const made = [...legend].reverse().map((group) => dots(group.points.filter(drawn), { size, opacity, color: colourOf(group.number), symbol: symbolOf(group.number) }));
  const all = data.points.map((_, index) => index);
  const ring = { symbol: "circle-open", color: ink, line: { width: 1.2, color: ink } };
  made.push(dots(all.filter((index) => data.points[index].duplicates !== null && drawn(index)), { ...ring, size: size + 5 }, { hoverinfo: "skip", hovertemplate: null }));
  made.push(dots(all.filter((index) => data.points[index].alone), { symbol: view.deep ? "diamond-open" : "x-thin", size: view.deep ? 9 : 10, color: ink, line: { width: 2, color: ink } }));
  if (view.chosen) made.push(dots([...view.chosen], { size: size + 2, color: [...view.chosen].map(colourIn(legend)), line: { width: 1.2, color: ink } }));
  if (view.place?.flat) made.push(...questionTraces(data, view));
  return made;
}

/** Everything of the figure that is not a point. `name(number)` gives the words of a cluster. */
export function layout(data, view, { ink, paper }, name) {
  const bare = { visible: false, showgrid: false, zeroline: false, showspikes: false };
  const labels = view.by === "cluster" ? labelled(data, view, { ink, paper }, name) : [];
  const common = { showlegend: false, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 0, r: 0, t: 0, b: 0 }, hoverlabel: { align: "left", font: { size: 13 } }, font: { color: ink }, uirevision: view.deep ? "deep" : "flat", hovermode: "closest" };
  if (view.deep) return { ...common, scene: { xaxis: bare, yaxis: bare, zaxis: bare, aspectmode: "cube", camera: { eye: { x: 0.95, y: 0.95, z: 0.55 } }, annotations: labels } };
  return { ...common, dragmode: "pan", xaxis: bare, yaxis: { ...bare, scaleanchor: "x" }, annotations: labels };
}

function labelled(data, view, { ink, paper }, name) {
  const taken = [];
  const free = ({ flat: [x, y] }) => view.deep || taken.every(([left, low]) => Math.abs(x - left) > 0.3 || Math.abs(y - low) > 0.1);
  const made = [];
  for (const cluster of data.clusters.slice(0, LABELS)) {
    if (!free(cluster)) continue;
    taken.push(cluster.flat);
    const [x, y, z] = view.deep ? cluster.deep : cluster.flat;
    made.push({ x, y, ...(view.deep ? { z } : {}), text: name(cluster.number).map(plain).slice(0, view.deep ? 1 : 3).join("<br>"), showarrow: false, font: { size: 11, color: ink }, bgcolor: `${paper}90`, borderpad: 1 });
  }
  return made;
}

function questionTraces(data, view) {
  const at = view.deep ? view.place.deep : view.place.flat;
  const near = new Set(view.place.nearest.map((source) => source.chunk_id));
  const ends = data.points.filter((point) => near.has(point.id));
  const star = { symbol: view.deep ? "diamond" : "star", size: view.deep ? 8 : 20, color: QUESTION };
  const own = { flat: at, deep: at };
  const lines = ends.flatMap((point) => [own, point, null]);
  return [
    { ...coordinates(lines, view.deep), mode: "lines", line: { color: QUESTION, width: view.deep ? 3 : 1 }, hoverinfo: "skip" },
    { ...coordinates([own], view.deep), mode: "markers", marker: star, text: [wrapped(view.place.question)], hovertemplate: "%{text}<extra></extra>" },
  ];
}

function coordinates(points, deep) {
  const along = (axis) => points.map((point) => (point ? (deep ? point.deep : point.flat)[axis] : null));
  return deep ? { type: "scatter3d", x: along(0), y: along(1), z: along(2) } : { type: "scatter", x: along(0), y: along(1) };
}

function colourIn(legend) {
  const colours = new Map(legend.flatMap((group) => group.points.map((index) => [index, colourOf(group.number)])));
  return (index) => colours.get(index);
}

const symbolOf = (number) => ["circle", "square", "diamond"][Math.floor((number ?? 0) / COLOURS.length) % 3];

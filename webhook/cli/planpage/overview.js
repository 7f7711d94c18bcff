// The overview: every node as a square, in groups, with what is used and planned there. Marks tell what the selection or
// a clause of a conflict says of each node. The squares of one kind are one path, so thousands of them are drawn at once.
// It is an SVG, not a canvas: colours, contrast, dark and print are rules of the style sheet.

const ZONE = "topology.kubernetes.io/zone";
const STROKES = ["falling", "rising", "level", "upright"]; // of clauses that close nodes, in the order of the conflict
const LISTED = 6; // elements that the line of details names

const byName = new Intl.Collator("en", { numeric: true }).compare;

/** For each node the titles of its pools, without the index of the host, and without pools that have all nodes. */
const titlesOf = plan.nodes.map(() => []);
const whole = []; // titles of pools that have all nodes
poolHosts.forEach((hosts, at) => {
  if (hosts.length === plan.nodes.length) whole.push(plan.poolTitles[at]);
  else for (const [node] of hosts) titlesOf[node].push(plan.poolTitles[at]);
});

/** What nodes can be grouped by: a label in words, and the title of a node's group. */
const groupings = [
  plan.pools.length > whole.length
    ? { label: "HostPool", of: (at) => titlesOf[at].join(", "), none: whole.length ? `only ${whole.join(", ")}` : "no HostPool" }
    : null,
  ...[...new Set(plan.nodes.flatMap(({ labels }) => Object.keys(labels)))]
    .sort((one, other) => (other === ZONE) - (one === ZONE) || byName(one, other))
    .map((key) => ({ label: key.split("/").at(-1), key, of: (at) => plan.nodes[at].labels[key] ?? "", none: `no ${key}` })),
  { label: "nothing", of: () => "", none: "" },
].filter(Boolean);

function groupsBy({ of, none }) {
  const groups = new Map();
  plan.nodes.forEach((_, at) => {
    const title = of(at);
    if (!groups.has(title)) groups.set(title, []);
    groups.get(title).push(at);
  });
  const titles = [...groups.keys()].sort((one, other) => (one === "") - (other === "") || byName(one, other));
  return titles.map((title) => ({ title: title || none, nodes: groups.get(title) }));
}

/** Objects that are refused for something that closes nodes: their title, and what closes which nodes. */
const conflicts = plan.subjects.flatMap((subject) => {
  if (subject.verdict !== "refused") return [];
  const found = subject.conflicts.filter(({ elements }) => elements.length);
  return (found.length ? found : [null]).flatMap((conflict) => {
    const causes = causesOf(conflict, subject.pools);
    const who = found.length > 1 ? `${conflict.elements.join(", ")} of ` : "";
    const title = `${who}${subject.origin} in namespace ${subject.namespace}`;
    return causes.some(({ nodes }) => nodes.length) ? [{ title, causes }] : [];
  });
});

/** What closes nodes in the conflict; of an object that has none with elements, its pools. */
function causesOf(conflict, pools) {
  if (!conflict) {
    return pools.map((at, place) => {
      const able = new Set(nodesOf({ nodes: plan.pools[at].eligible }));
      const title = `not eligible for HostPool ${plan.poolTitles[at]}`;
      return { clause: "", title, nodes: [...plan.nodes.keys()].filter((node) => !able.has(node)), stroke: STROKES[place % STROKES.length] };
    });
  }
  const rules = conflict.closed.map((at) => plan.rules[at]);
  const of = (clause) => [...new Set(rules.filter((rule) => rule.clause === clause).flatMap(nodesOf))];
  const clauses = conflict.clauses.map((clause) => ({ clause, title: "", nodes: of(clause) }));
  clauses.filter(({ nodes }) => nodes.length).forEach((cause, at) => { cause.stroke = STROKES[at % STROKES.length]; });
  const title = rules.filter(({ clause }) => !clause).map(({ reason }) => reason).join(", or ");
  return title ? [...clauses, { clause: "", title, nodes: of(""), stroke: "dot" }] : clauses;
}

const SVG = "http://www.w3.org/2000/svg";

function drawn(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

const overview = {
  layout: null, active: null, pointed: null, shown: new Set(), groups: [], mark: () => null, conflict: null, room: "",
};

const picture = drawn("svg", { class: "picture", "aria-hidden": "true" });
const ring = drawn("rect", { class: "cursor", visibility: "hidden" });
const squares = make("div", {
  className: "squares",
  tabIndex: 0,
  id: "overview",
  attributes: {
    role: "application", "aria-roledescription": "overview", "aria-describedby": "overview-details",
    "aria-label": `Overview of ${counted(plan.nodes.length, "node")}`,
  },
}, picture);
const details = make("p", { className: "details", id: "overview-details" });
const groupBy = make("select", { id: "group-by" },
  groupings.map(({ label, key }, at) => make("option", { value: at, title: key ?? "" }, label)));
const conflictOf = make("select", { id: "conflict-of" },
  conflicts.map(({ title }, at) => make("option", { value: at }, title)));
const causeList = make("fieldset", { className: "causes" });
const overviewTools = make("div", { className: "overview-tools" },
  make("label", {}, "Group by ", groupBy), conflicts.length > 1 ? make("label", {}, "Conflict of ", conflictOf) : null,
  conflicts.length ? causeList : null);
const overviewPart = make("div", { className: "overview" }, overviewTools, squares, details);

/** Boxes to tick for what closes nodes in a conflict: each has the stroke by which its nodes are crossed out. */
function offerCauses(ticked) {
  overview.conflict = conflicts[Number(conflictOf.value) || 0] ?? null;
  if (!overview.conflict) return;
  causeList.replaceChildren(make("legend", {}, `Nodes closed to ${overview.conflict.title}`),
    ...overview.conflict.causes.map(({ clause, title, nodes, stroke }, at) => {
      const name = make("span", {}, clause ? make("code", {}, clause) : title);
      if (!nodes.length) return make("p", {}, name, make("small", {}, " closes no node by itself"));
      return make("label", {}, make("input", { type: "checkbox", checked: ticked, dataset: { cause: at } }),
        glyph(stroke), name, make("small", {}, counted(nodes.length, "node")));
    }));
}

/** A small square with that stroke. */
function glyph(stroke) {
  const svg = drawn("svg", { class: "glyph", width: 14, height: 14, "aria-hidden": "true" });
  svg.append(drawn("path", { class: "ground", d: squarePath(1, 1, 12) }),
    drawn("path", { class: "closing", d: strokePath(stroke, 1, 1, 12) }));
  return svg;
}

const squarePath = (x, y, wide, tall = wide) => `M${x} ${y}h${wide}v${tall}h${-wide}z`;

/** The line by which a square is crossed out. */
function strokePath(stroke, x, y, size) {
  const middle = size / 2;
  return {
    falling: `M${x} ${y}l${size} ${size}`,
    rising: `M${x} ${y + size}l${size} ${-size}`,
    level: `M${x} ${y + middle}h${size}`,
    upright: `M${x + middle} ${y}v${size}`,
    dot: `M${x + middle - 1} ${y + middle - 1}h2v2h-2z`,
    cross: `M${x} ${y}l${size} ${size}M${x} ${y + size}l${size} ${-size}`,
  }[stroke];
}

/** What is ticked of the conflict. */
function tickedCauses() {
  return [...causeList.querySelectorAll("input:checked")].map(({ dataset }) => overview.conflict.causes[dataset.cause]);
}

/** Lay the squares out anew if there is more or less room than before, or if they are grouped by something else. */
function fitOverview(tallest) {
  const wide = Math.floor(squares.clientWidth);
  const room = [wide, tallest, groupBy.value].join();
  if (wide === 0 || overview.room === room) return;
  const from = performance.now();
  overview.room = room;
  overview.groups = groupsBy(groupings[groupBy.value]);
  overview.layout = laidOut(overview.groups, wide, tallest);
  picture.setAttribute("viewBox", `0 0 ${wide} ${overview.layout.height}`);
  picture.setAttribute("width", wide);
  picture.setAttribute("height", overview.layout.height);
  drawOverview(from);
}

/** Draw all squares and their marks. */
function drawOverview(from = performance.now()) {
  if (!overview.layout) return;
  const { size, left, top, heads, order } = overview.layout;
  const ticked = tickedCauses();
  const shut = new Set(ticked.flatMap(({ nodes }) => nodes));
  const paths = { ground: "", faint: "", used: "", planned: "", framed: "", closed: "", near: "", apart: "", here: "", left: "" };
  for (const at of order) {
    const [x, y] = [left[at], top[at]];
    const mark = ticked.length ? null : overview.mark(at)?.kind;
    if (!overview.shown.has(at)) {
      paths.faint += squarePath(x, y, size);
      continue;
    }
    paths.ground += squarePath(x, y, size);
    if (mark === "closed") paths.closed += strokePath("cross", x, y, size);
    else if (!shut.has(at)) paths.framed += filled(paths, at, x, y, size);
    if (mark === "here") paths.here += squarePath(x, y, size);
    if (mark === "together" || mark === "member") paths.near += squarePath(x, y, size);
    if (mark === "apart") paths.apart += squarePath(x, y, size);
    if (ticked.length && !shut.has(at)) paths.left += squarePath(x, y, size);
  }
  const strokes = ticked.map(({ stroke, nodes }) => drawn("path", {
    class: "closing",
    d: nodes.filter((at) => overview.shown.has(at)).map((at) => strokePath(stroke, left[at], top[at], size)).join(""),
  }));
  picture.replaceChildren(
    ...heads.map(({ x, y, text }) => drawn("text", { x, y: y + HEAD - 5 }, text)),
    ...Object.entries(paths).filter(([, d]) => d).map(([name, d]) => drawn("path", { class: name, d })), ...strokes, ring);
  picture.classList.toggle("small", size < 8);
  pointAt(overview.pointed ?? (document.activeElement === squares ? overview.active : null));
  performance.clearMeasures("overview");
  performance.measure("overview", { start: from });
}

/** Add what is used and planned on a node to the paths, from the bottom up; gives its frame if it gets something. */
function filled(paths, at, x, y, size) {
  const fullest = plan.nodes[at].resources.reduce((one, other) => (sum(other) > sum(one) ? other : one), EMPTY);
  const gets = residents[at].length > 0;
  const used = Math.round(size * Math.min(1000, fullest.usedPermille) / 1000);
  const least = gets ? Math.min(size, Math.max(2, size / 4)) : 0; // what is planned is seen even where it is little
  const planned = Math.min(size, Math.max(least, Math.round(size * fullest.plannedPermille / 1000)));
  const usedHeight = Math.min(used, size - planned);
  if (usedHeight) paths.used += squarePath(x, y + size - usedHeight, size, usedHeight);
  if (planned) paths.planned += squarePath(x, y + size - usedHeight - planned, size, planned);
  return gets ? squarePath(x + 0.5, y + 0.5, size - 1) : "";
}

const EMPTY = { usedPermille: 0, plannedPermille: 0 };
const sum = ({ usedPermille, plannedPermille }) => usedPermille + plannedPermille;

/** Put the ring around the square of a node, or take it away, and say what is known of the node. */
function pointAt(at) {
  const { layout } = overview;
  ring.setAttribute("visibility", at === null ? "hidden" : "visible");
  if (at !== null) {
    for (const [key, value] of Object.entries({
      x: layout.left[at] - 1.5, y: layout.top[at] - 1.5, width: layout.size + 3, height: layout.size + 3,
    })) ring.setAttribute(key, value);
  }
  const parts = at === null ? [summary()] : described(at);
  details.replaceChildren(...parts.flatMap((part, place) => [place ? " \u00b7 " : "", make("bdi", {}, part)]));
}

function summary() {
  const groups = overview.groups.length > 1 ? ` in ${counted(overview.groups.length, "group")}` : "";
  const gets = residents.filter((here) => here.length).length;
  return `${counted(plan.nodes.length, "node")}${groups}, ${number.format(gets)} with elements of this plan. `
    + "A square is as full as the fullest resource of its node, and framed if the node gets an element. "
    + "Arrow keys move, Enter opens the node.";
}

/** Name, elements, what is free, where the node is, and what the selection or the conflict says of it, each a text. */
function described(at) {
  const node = plan.nodes[at];
  const names = residents[at].map(([element, count]) => times(elements[element].name, count));
  const more = names.length > LISTED ? ` and ${number.format(names.length - LISTED)} more` : "";
  const here = names.length ? `${counted(names.length, "element")}: ${names.slice(0, LISTED).join(", ")}${more}` : "no element";
  const free = node.resources.map(({ name, amounts }) => `${name} ${amounts[3]} of ${amounts[0]}`).join(", ");
  const causes = tickedCauses().filter(({ nodes }) => nodes.includes(at)).map(({ clause, title }) => clause || title);
  const word = causes.length ? `closed: ${causes.join(", ")}` : overview.mark(at)?.word;
  return [node.name, here, free ? `free: ${free}` : "", poolsOf[at].join(", "), Object.values(node.labels).join(", "),
    node.taints.length ? `taint ${node.taints.join(", ")}` : "", word].filter(Boolean);
}

/** Make a node the active one, and tell of it. */
function goTo(at) {
  overview.active = at;
  overview.pointed = null;
  pointAt(at);
  status.textContent = details.textContent;
}

/** The node that a key leads to, or null. */
function keyed(key) {
  const { layout, groups, active } = overview;
  if (key.startsWith("Arrow")) return beside(layout, active, key);
  const own = groups.findIndex(({ nodes }) => nodes.includes(active));
  const group = { PageUp: groups[own - 1] ?? groups[0], PageDown: groups[own + 1] ?? groups[own] }[key];
  if (group) return group.nodes[0];
  return { Home: layout.order[0], End: layout.order.at(-1) }[key] ?? null;
}

squares.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || overview.active === null) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    select("node", overview.active, squares);
    return;
  }
  const at = keyed(event.key);
  if (at === null) return;
  event.preventDefault();
  goTo(at);
});
squares.addEventListener("focus", () => goTo(overview.active ?? overview.layout?.order[0] ?? null));
squares.addEventListener("blur", () => pointAt(null));

function pointed({ clientX, clientY }) {
  const { left, top } = picture.getBoundingClientRect();
  return nodeUnder(overview.layout, clientX - left, clientY - top);
}

squares.addEventListener("pointermove", (event) => {
  overview.pointed = pointed(event);
  pointAt(overview.pointed ?? (document.activeElement === squares ? overview.active : null));
});
squares.addEventListener("pointerleave", () => {
  overview.pointed = null;
  pointAt(document.activeElement === squares ? overview.active : null);
});
squares.addEventListener("click", (event) => {
  const at = pointed(event);
  if (at === null) return;
  overview.active = at;
  select("node", at, squares);
});
conflictOf.addEventListener("change", () => {
  offerCauses(true);
  drawOverview();
});
causeList.addEventListener("change", () => {
  drawOverview();
  const closed = new Set(tickedCauses().flatMap(({ nodes }) => nodes)).size;
  status.textContent = `${counted(closed, "node")} closed, ${counted(plan.nodes.length - closed, "node")} left`;
});

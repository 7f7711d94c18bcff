// Selection, search, edges and keys: what ties the tables, the boxes and the panel together.

const EDGES = 24; // lines to more nodes than that would hide the boxes; these are marked all the same

const root = document.documentElement;
const panel = document.getElementById("panel");
const status = document.getElementById("status");
const workspace = document.querySelector(".workspace");
const lists = document.querySelector(".lists");
const rows = [...document.querySelectorAll("table.elements tr.element")];
const poolRows = [...document.querySelectorAll("table.pools tbody tr")];

let selection = null;
let opener = null; // what had the focus before the panel took it
let related = () => undefined; // what the selection says of a node: {kind, word, wanted}
let edges = []; // nodes that lines lead to: {node, kind}

// Names become buttons

function buttonIn(holder, kind, at) {
  const name = holder.querySelector(".name");
  if (name) name.replaceWith(picker(kind, at, name.textContent));
}

rows.forEach((tableRow, at) => buttonIn(tableRow, "element", at));
poolRows.forEach((tableRow, at) => buttonIn(tableRow, "pool", at));
for (const article of document.querySelectorAll("#refused article")) {
  for (const name of article.querySelectorAll(".conflict .name")) {
    const at = elementAt[article.dataset.subject].get(name.textContent);
    if (at !== undefined) name.replaceWith(picker("element", at, name.textContent));
  }
}

// Tools above the panes

const search = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: false });
const onlyPlanned = make("input", { type: "checkbox", id: "only-planned" });
const onlyRelated = make("input", { type: "checkbox", id: "only-related" });
const relatedText = make("span");
const relatedLabel = make("label", { hidden: true }, onlyRelated, relatedText);
const counts = make("p", { className: "counts" });
workspace.before(make("search", { className: "tools" },
  make("label", {}, make("span", {}, "Search"), search),
  make("label", {}, onlyPlanned, "only nodes that get something"), relatedLabel, counts));
const nodesPart = document.getElementById("nodes");
nodesPart.querySelector("h2").after(
  make("p", { className: "legend", attributes: { "aria-hidden": "true" } },
    make("span", { className: "bar used" }), "used", make("span", { className: "bar planned" }), "planned",
    make("span", { className: "bar" }), "free"),
  overviewPart);
nodesPart.append(viewport);

function filter() {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const nodes = [...plan.nodes.keys()].filter((at) => matches(wanted, nodeWords[at])
    && (!onlyPlanned.checked || residents[at].length)
    && (relatedLabel.hidden || !onlyRelated.checked || related(at)?.wanted));
  let found = 0;
  rows.forEach((tableRow, at) => {
    const shown = matches(wanted, elementWords[at]);
    tableRow.hidden = !shown;
    found += shown;
  });
  root.classList.toggle("filtered", wanted.length > 0);
  counts.textContent = `${number.format(nodes.length)} of ${counted(plan.nodes.length, "node")}, `
    + `${number.format(found)} of ${counted(rows.length, "element")}`;
  keepReachable(rows);
  viewport.scrollTop = 0;
  showNodes(nodes);
  overview.shown = new Set(nodes);
  drawOverview();
  drawEdges();
}

/** Exactly one button of a list can be reached with Tab; arrow keys lead to the others. */
function keepReachable(list, chosen) {
  const buttons = list.filter((item) => !item.hidden).map((item) => item.querySelector("button"));
  const one = chosen ?? buttons.find((button) => button.tabIndex === 0) ?? buttons[0];
  for (const item of list) item.querySelector("button").tabIndex = item.querySelector("button") === one ? 0 : -1;
}

let waiting = 0;
function filterSoon() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    filter();
    status.textContent = counts.textContent;
  }, 80);
}

// Selection

function select(kind, at, from = document.activeElement) {
  if (!panel.contains(from)) opener = { node: from.closest(".canvas") ? grid.shown[grid.active] : null, from };
  selection = { kind, at };
  relate();
  root.classList.add("selected");
  for (const [list, of] of [[rows, "element"], [poolRows, "pool"]]) {
    list.forEach((item, place) => item.classList.toggle("chosen", of === kind && place === at));
  }
  fillPanel(panel, selection);
  status.textContent = titleOf(selection).join(" ");
  refresh();
  if (!canvas.contains(from)) reveal();
}

const OPEN = { kind: "open", word: "open", wanted: true };
const CLOSED = { kind: "closed", word: "closed", wanted: false };

/** What the selection says of nodes: marks, lines, and which of them a filter may keep. */
function relate() {
  edges = [];
  related = () => undefined;
  const { kind, at } = selection ?? {};
  const text = { element: "only nodes open to", pool: "only hosts of" }[kind];
  relatedLabel.hidden = !text;
  relatedText.textContent = text ? `${text} ${titleOf(selection)[1]}` : "";
  if (kind === "element") relateElement(at);
  if (kind === "node") related = (node) => (node === at ? { kind: "here", word: "selected" } : undefined);
  if (kind === "pool") relatePool(at);
}

function relatePool(at) {
  const marks = new Map(poolHosts[at].map(([node, index]) =>
    [node, { kind: "member", word: index === null ? "host" : `host [${index}]`, wanted: true }]));
  related = (node) => marks.get(node);
  edges = [...marks.keys()].map((node) => ({ node, kind: "member" }));
}

function relateElement(at) {
  const element = elements[at];
  const open = openNodes(element);
  const marks = new Map();
  for (const [other, { kind }] of partnersOf(at)) {
    for (const [node] of hostsOf(elements[other])) marks.set(node, { kind, word: kind, wanted: Boolean(open?.[node]) });
  }
  for (const [node] of hostsOf(element)) marks.set(node, { kind: "here", word: "here", wanted: true });
  related = (node) => marks.get(node) ?? (open ? [CLOSED, OPEN][open[node]] : undefined);
  edges = [...marks].filter(([, { kind }]) => kind !== "here").map(([node, { kind }]) => ({ node, kind }));
}

function refresh() {
  grid.mark = related;
  overview.mark = related;
  if (onlyRelated.checked) filter();
  else drawOverview();
  layOut();
  tendAll();
  drawEdges();
}

/** Scroll to where the selection is, unless some of it is in view. */
function reveal() {
  const { kind, at } = selection;
  const hosts = kind === "element" ? hostsOf(elements[at]).map(([node]) => node) : [at];
  const nodes = kind === "pool" ? poolHosts[at].map(([node]) => node) : hosts;
  const places = nodes.map((node) => grid.shown.indexOf(node)).filter((place) => place >= 0);
  if (places.length && !places.includes(grid.active)) activate(places[0], false);
}

function close() {
  if (panel.hidden) return;
  panel.hidden = true;
  panel.replaceChildren();
  root.classList.remove("selected");
  for (const item of [...rows, ...poolRows]) item.classList.remove("chosen");
  selection = null;
  relate();
  refresh();
  status.textContent = "Details closed";
  const place = opener?.node === null ? -1 : grid.shown.indexOf(opener?.node);
  if (place >= 0) activate(place);
  else (opener?.from.isConnected ? opener.from : search).focus();
}

// Edges

const drawing = document.createElementNS(SVG, "svg");
drawing.setAttribute("class", "edges");
drawing.setAttribute("aria-hidden", "true");
workspace.append(drawing);

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  drawing.append(made);
}

function drawEdges() {
  drawing.replaceChildren();
  if (!selection || edges.length === 0 || edges.length > EDGES) return;
  const room = viewport.getBoundingClientRect();
  const origin = workspace.getBoundingClientRect();
  const inRoom = ({ x, y }) => ({ x: x - origin.left, y: Math.min(Math.max(y, room.top), room.bottom) - origin.top });
  const source = sourceOfEdges();
  if (!source) return;
  for (const { node, kind } of edges) {
    const target = placeOf(node);
    if (!target) continue;
    const from = inRoom(borderPoint(source, target));
    const to = inRoom(borderPoint(target, source));
    shape("line", { class: kind, x1: from.x, y1: from.y, x2: to.x, y2: to.y });
    shape("circle", { class: kind, cx: to.x, cy: to.y, r: 4 });
  }
}

/** Where lines begin: the box of the element's first node, or the edge of the table beside the pool. */
function sourceOfEdges() {
  if (selection.kind === "pool") {
    const { y, height: tall } = poolRows[selection.at].getBoundingClientRect();
    return new DOMRect(lists.getBoundingClientRect().right, y, 0, tall);
  }
  const [first] = hostsOf(elements[selection.at]);
  return first && placeOf(first[0]);
}

/** The point on the border of a rectangle that lies on the way from its centre to that of the other one. */
function borderPoint(one, other) {
  const centre = ({ x, y, width, height: tall }) => ({ x: x + width / 2, y: y + tall / 2 });
  const [from, to] = [centre(one), centre(other)];
  const [wide, high] = [Math.abs(to.x - from.x) || 1e-9, Math.abs(to.y - from.y) || 1e-9];
  const share = Math.min(one.width / 2 / wide, one.height / 2 / high);
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

// Events

document.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.matches(".close")) close();
  else if (button?.matches(".pick")) {
    const box = button.closest(".canvas > li");
    if (box) activate([...grid.boxes].find(([, each]) => each === box)[0], false);
    select(button.dataset.kind, Number(button.dataset.at), button);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const { key, target } = event;
  if (key === "Escape" && !(target === search && search.value)) close();
  else if (canvas.contains(target)) {
    const place = stepped(key);
    if (place === null) return;
    event.preventDefault();
    activate(place);
  } else for (const list of [rows, poolRows]) if (list.some((item) => item.contains(target))) walk(event, list);
});

canvas.addEventListener("focusin", ({ target }) => {
  const found = [...grid.boxes].find(([, box]) => box.contains(target));
  if (!found || found[0] === grid.active) return;
  [grid.active] = found;
  tendAll();
});

/** Arrow keys, Home and End in a table of buttons. */
function walk(event, list) {
  const buttons = list.filter((item) => !item.hidden).map((item) => item.querySelector("button"));
  const at = buttons.indexOf(event.target);
  const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: buttons.length - 1 }[event.key];
  if (to === undefined || !buttons[to]) return;
  event.preventDefault();
  keepReachable(list, buttons[to]);
  buttons[to].focus();
}

search.addEventListener("input", filterSoon);
onlyPlanned.addEventListener("change", filterSoon);
onlyRelated.addEventListener("change", filterSoon);

let frame = 0;
function redraw() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    draw();
    drawEdges();
  });
}
viewport.addEventListener("scroll", redraw, { passive: true });
lists.addEventListener("scroll", redraw, { passive: true });
new ResizeObserver(() => {
  layOut();
  drawEdges();
}).observe(viewport);

/** The overview takes at most half of the pane, or most of a small screen. */
function fit() {
  const tallest = nodesPart.parentElement.clientWidth > nodesPart.clientWidth ? nodesPart.clientHeight / 2 : innerHeight * 0.7;
  fitOverview(Math.max(120, Math.floor(tallest)));
}
groupBy.addEventListener("change", fit);
const fitting = new ResizeObserver(fit);
fitting.observe(nodesPart);
fitting.observe(squares);

root.classList.add("live");
const several = groupings.findIndex((grouping) => groupsBy(grouping).length > 1);
groupBy.value = several < 0 ? groupings.length - 1 : several;
offerCauses(residents.every((here) => !here.length));
keepReachable(poolRows);
filter();

// The boxes of the nodes. Few are laid out by the browser; of many, only those in view exist, each at a computed place.

const FEW = 150; // so many boxes cost nothing, and may grow with their elements
const LETTER = 7.3; // width of a letter in a chip, in pixels
const CHIP = 20; // width of the rest of a chip, and of the gap behind it
const BARS = 3; // resources that a box shows; the panel has all
const UNSHOWN = new Set(["pods", "ephemeral-storage"]); // hardly ever decide where something goes
const GAP = 8;
const NARROWEST = 224;

const canvas = make("ul", { className: "canvas" });
const viewport = make("div", { className: "viewport" }, canvas);
const shownOf = (node) => node.resources.filter(({ name }) => !UNSHOWN.has(name)).slice(0, BARS);
const barCount = plan.nodes.reduce((most, node) => Math.max(most, shownOf(node).length), 1);
const height = 86 + 24 * barCount; // of a box with its name, bars, and two rows of chips or one below its taints
const pitch = height + GAP;
canvas.style.setProperty("--height", `${height}px`);

const grid = { shown: [], columns: 1, width: NARROWEST, active: 0, boxes: new Map(), mark: () => null };

const isFew = () => grid.shown.length <= FEW;

/** Show these nodes (their places), and no others. */
function showNodes(places) {
  const active = grid.shown[grid.active];
  grid.shown = places;
  grid.active = Math.max(0, places.indexOf(active));
  clear();
  canvas.classList.toggle("few", isFew());
  layOut();
}

/** Measure the room, and draw. */
function layOut() {
  const room = canvas.clientWidth;
  const before = grid.width;
  const focused = canvas.contains(document.activeElement);
  grid.columns = Math.max(1, Math.floor((room + GAP) / (NARROWEST + GAP)));
  grid.width = (room - GAP * (grid.columns - 1)) / grid.columns;
  canvas.style.height = isFew() ? "" : `${Math.ceil(grid.shown.length / grid.columns) * pitch}px`;
  if (grid.width !== before && !isFew()) clear();
  draw();
  if (focused && !canvas.contains(document.activeElement)) activate(grid.active);
}

function clear() {
  for (const box of grid.boxes.values()) box.remove();
  grid.boxes.clear();
}

/** Make the boxes in view, and the one with the focus; drop the others. */
function draw() {
  const wanted = isFew() ? [...grid.shown.keys()] : inView();
  const kept = new Set(wanted);
  for (const [place, box] of grid.boxes) {
    if (kept.has(place)) continue;
    if (box.contains(document.activeElement)) wanted.push(place);
    else {
      box.remove();
      grid.boxes.delete(place);
    }
  }
  let next = canvas.firstElementChild;
  for (const place of wanted.sort((one, other) => one - other)) {
    const box = grid.boxes.get(place) ?? boxOf(place);
    if (box === next) next = next.nextElementSibling;
    else canvas.insertBefore(box, next);
    put(box, place);
  }
}

function inView() {
  const first = Math.max(0, Math.floor(viewport.scrollTop / pitch) - 1);
  const last = Math.ceil((viewport.scrollTop + viewport.clientHeight) / pitch) + 1;
  const from = first * grid.columns;
  const count = Math.min(last * grid.columns, grid.shown.length) - from;
  return Array.from({ length: Math.max(0, count) }, (_, step) => from + step);
}

function put(box, place) {
  if (isFew()) return;
  const column = place % grid.columns;
  box.style.width = `${grid.width}px`;
  box.style.transform = `translate(${column * (grid.width + GAP)}px, ${Math.floor(place / grid.columns) * pitch}px)`;
}

function boxOf(place) {
  const at = grid.shown[place];
  const node = plan.nodes[at];
  const title = picker("node", at, node.name, "title");
  const chips = chipsOf(residents[at], node.taints.length ? 1 : 2);
  const box = make("li", {
    className: "node",
    attributes: { "aria-setsize": grid.shown.length, "aria-posinset": place + 1 },
  },
  make("div", { className: "node-head" }, title, make("span", { className: "mark" })),
  make("div", { className: "bars" }, shownOf(node).map(barOf)),
  node.taints.length ? make("div", { className: "taints" }, node.taints.join(", ")) : null,
  chips.length ? make("ul", { className: "chips" }, chips) : null);
  grid.boxes.set(place, box);
  tend(box, place);
  return box;
}

/** The elements of a node: all in a box that may grow, as many as the rows have room for in one that may not. */
function chipsOf(here, rowCount) {
  const room = grid.width - 20;
  const most = Math.floor((room - CHIP) / LETTER);
  const chips = [];
  let rowsLeft = rowCount;
  let left = room;
  for (const [at, count] of here) {
    const button = replicas(at, count, "chip");
    const label = button.textContent;
    if (!isFew()) {
      if (label.length > most) shorten(button, label, most);
      const wide = button.textContent.length * LETTER + CHIP;
      if (wide > left) {
        rowsLeft -= 1;
        left = room;
      }
      const last = chips.length === here.length - 1;
      if (rowsLeft === 0 || (rowsLeft === 1 && !last && wide > left - 70 && chips.length)) break;
      left -= wide;
    }
    chips.push(make("li", {}, button));
  }
  const more = here.length - chips.length;
  if (more) chips.push(make("li", { className: "more" }, `+ ${number.format(more)} more`));
  return chips;
}

/** Names often differ at their ends: what does not fit is left out before that. */
function shorten(button, label, most) {
  button.textContent = `${label.slice(0, Math.ceil(most / 3))}\u2026${label.slice(-Math.floor(most / 2))}`;
  button.title = label;
  button.setAttribute("aria-label", label);
}

function barOf(resource) {
  const bar = make("span", { className: "bar", attributes: { "aria-hidden": "true" } });
  for (const kind of ["used", "planned"]) {
    const part = make("span", { className: kind });
    part.style.width = `${Math.min(1000, resource[`${kind}Permille`]) / 10}%`;
    bar.append(part);
  }
  return make("div", { className: "resource" },
    make("span", { title: resource.name }, resource.name.split("/").at(-1)), make("span", {}, `${resource.amounts[3]} of ${resource.amounts[0]} free`), bar);
}

/** Marks of the selection, and which buttons Tab reaches: those of the active box. */
function tend(box, place) {
  const mark = grid.mark(grid.shown[place]);
  box.className = `node ${mark?.kind ?? ""}`;
  box.querySelector(".mark").textContent = mark?.word ?? "";
  for (const button of box.querySelectorAll("button")) button.tabIndex = place === grid.active ? 0 : -1;
}

function tendAll() {
  for (const [place, box] of grid.boxes) tend(box, place);
}

/** Make a box the active one: scrolled into view, and given the focus if wanted. */
function activate(place, focus = true) {
  grid.active = Math.min(Math.max(0, place), Math.max(0, grid.shown.length - 1));
  if (!isFew()) {
    const top = Math.floor(grid.active / grid.columns) * pitch;
    const bottom = top + pitch - viewport.clientHeight;
    viewport.scrollTop = Math.min(Math.max(viewport.scrollTop, bottom), top);
    draw();
  }
  tendAll();
  const box = grid.boxes.get(grid.active);
  if (isFew()) box?.scrollIntoView({ block: "nearest" });
  if (focus) box?.querySelector("button").focus({ preventScroll: true });
}

/** The place that a key leads to, or null. */
function stepped(key) {
  const page = grid.columns * Math.max(1, Math.floor(viewport.clientHeight / pitch));
  const steps = {
    ArrowLeft: -1, ArrowRight: 1, ArrowUp: -grid.columns, ArrowDown: grid.columns,
    PageUp: -page, PageDown: page, Home: -grid.shown.length, End: grid.shown.length,
  };
  if (!(key in steps)) return null;
  const place = grid.active + steps[key];
  const vertical = key === "ArrowUp" || key === "ArrowDown";
  return vertical && !(place in grid.shown) ? grid.active : place;
}

/** Where a node's box is, in the coordinates of the window; null if the node is not shown. */
function placeOf(at) {
  const place = grid.shown.indexOf(at);
  if (place < 0) return null;
  const box = grid.boxes.get(place)?.getBoundingClientRect();
  if (box) return box;
  const { left, top } = canvas.getBoundingClientRect();
  const column = place % grid.columns;
  return new DOMRect(
    left + column * (grid.width + GAP), top + Math.floor(place / grid.columns) * pitch, grid.width, height);
}

// Where each square of the overview lies. Squares are nodes in groups; groups follow each other in bands, and each fills
// the columns of its band from top to bottom. The squares are as large as the room allows.

const LARGEST = 24; // pixels from one square to the next
const SMALLEST = 4;
const HEAD = 17; // height of the names above the groups of a band
const BELOW = 7; // what is left free below a band
const BESIDE = 10; // and between groups
const LETTER_OF_HEAD = 6.3;
const WIDEST_HEAD = 150; // a longer name is cut, unless its group is wider
const WIDEST_OF_FEW = 280; // where there are few groups
const FEW_GROUPS = 12;
const NAMED_GROUPS = 60; // of more groups no name is shown: there would be no room for squares

/**
 * Lay out groups of {title, nodes} in a room that is so wide, and if possible at most so tall.
 *
 * Gives the pitch of the squares, their sizes, their left and upper edges by the place of the node, the nodes in their
 * order, the heads, and the height.
 */
function laidOut(groups, width, tallest) {
  for (let pitch = LARGEST; ; pitch -= 1) {
    const rowCounts = Array.from({ length: Math.max(1, Math.floor(tallest / pitch)) }, (_, at) => at + 1);
    const tries = rowCounts.map((rowCount) => bandsOf(groups, width, pitch, rowCount));
    const best = tries.reduce((one, other) => (other.height < one.height ? other : one));
    if (best.height <= tallest || pitch === SMALLEST) return placed(groups, pitch, best);
  }
}

/** The runs of columns of all groups, {group, first, count, x, y}, with so many rows in each band. */
function bandsOf(groups, width, pitch, rowCount) {
  const named = groups.length <= NAMED_GROUPS && groups.some(({ title }) => title);
  const head = named ? HEAD : 0;
  const bandHeight = head + rowCount * pitch + BELOW;
  const widest = Math.min(width, groups.length > FEW_GROUPS ? WIDEST_HEAD : WIDEST_OF_FEW);
  const runs = [];
  let [x, y] = [0, 0];
  groups.forEach((group, at) => {
    const columnCount = Math.ceil(group.nodes.length / rowCount);
    const narrowest = named ? Math.min(widthOf(group), widest) : pitch;
    if (x > 0 && x + Math.max(narrowest, Math.min(columnCount, 3) * pitch) > width) [x, y] = [0, y + bandHeight];
    for (let first = 0; first < columnCount;) {
      const room = Math.max(1, Math.floor((width - x) / pitch));
      const count = Math.min(room, columnCount - first);
      runs.push({ group: at, first, count, x, y, wide: Math.max(narrowest, count * pitch) });
      first += count;
      if (first < columnCount) [x, y] = [0, y + bandHeight];
      else x += Math.max(narrowest, count * pitch) + BESIDE;
    }
  });
  return { runs, head, rowCount, height: y + bandHeight };
}

function widthOf({ title, nodes }) {
  return headOf(title, nodes).length * LETTER_OF_HEAD;
}

function headOf(title, nodes) {
  return `${title} \u00b7 ${number.format(nodes.length)}`;
}

function placed(groups, pitch, { runs, head, rowCount, height: tall }) {
  const left = new Int32Array(plan.nodes.length);
  const top = new Int32Array(plan.nodes.length);
  for (const { group: at, first, count, x, y } of runs) {
    const nodes = groups[at].nodes.slice(first * rowCount, (first + count) * rowCount);
    nodes.forEach((node, place) => {
      left[node] = Math.round(x) + Math.floor(place / rowCount) * pitch;
      top[node] = y + head + (place % rowCount) * pitch;
    });
  }
  const heads = head ? runs.map(({ group: at, first, x, y, wide }) => {
    const text = first ? `\u2026 ${groups[at].title}` : headOf(groups[at].title, groups[at].nodes);
    const most = Math.round(wide / LETTER_OF_HEAD);
    return { x: Math.round(x), y, text: text.length > most ? `${text.slice(0, Math.max(1, most - 1))}\u2026` : text };
  }) : [];
  const size = pitch - (pitch < 8 ? 1 : 2);
  return { pitch, size, left, top, heads, height: tall, order: groups.flatMap(({ nodes }) => nodes) };
}

/** The node in the order to which an arrow key leads from another one. */
function beside(layout, at, key) {
  const { left, top, order, pitch } = layout;
  const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let best = null;
  let least = Infinity;
  for (const node of order) {
    const along = (left[node] - left[at]) * right + (top[node] - top[at]) * down;
    const across = Math.abs(right ? top[node] - top[at] : left[node] - left[at]);
    const cost = along + 3 * across;
    if (along <= 0 || cost >= least || (right && across > 0)) continue;
    [best, least] = [node, cost];
  }
  if (best === null && right) best = order[order.indexOf(at) + right] ?? null;
  return best ?? at;
}

/** The node whose square is at that point, or null. */
function nodeUnder({ left, top, order, pitch }, x, y) {
  return order.find((at) => x >= left[at] && x < left[at] + pitch && y >= top[at] && y < top[at] + pitch) ?? null;
}

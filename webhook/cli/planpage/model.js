// The plan, indexed. An element is referred to by its place among the elements of all subjects, which is the order of
// the rows of the table; a node and a pool by their place in the plan.

const plan = JSON.parse(document.getElementById("plan").textContent);
for (const node of plan.nodes) node.resources = node.resources.map((at) => plan.resources[at]);
const elements = plan.subjects.flatMap(
  (subject, at) => subject.elements.map((element) => ({ ...element, subject: at })));
const nodeAt = new Map(plan.nodes.map((node, at) => [node.name, at]));
const number = new Intl.NumberFormat("en");

/** The places of a subject's elements, by name. */
const elementAt = plan.subjects.map(() => new Map());
elements.forEach((element, at) => elementAt[element.subject].set(element.name, at));

/** The nodes of an element: pairs of place and number of replicas. */
function hostsOf(element) {
  const placed = Object.entries(element.placed);
  const named = placed.length || !element.node ? placed : [[element.node, element.replicas]];
  return named.map(([name, count]) => [nodeAt.get(name), count]).filter(([at]) => at !== undefined);
}

/** For each node, the elements on it: pairs of place and number of replicas. */
const residents = plan.nodes.map(() => []);
elements.forEach((element, at) => hostsOf(element).forEach(([node, count]) => residents[node].push([at, count])));

/** The hosts of a pool, pairs of the node's place and the host's index; those of a pool without a size have no index. */
const poolHosts = plan.pools.map((pool) => (pool.size === null
  ? nodesOf({ nodes: pool.eligible }).map((node) => [node, null])
  : pool.hosts.map(({ node, index }) => [nodeAt.get(node), index]).filter(([node]) => node !== undefined)));

/** For each node, the pools it is a host of, as texts. */
const poolsOf = plan.nodes.map((node) => [...node.pools]);
plan.pools.forEach((pool, at) => {
  if (pool.size === null) for (const [node] of poolHosts[at]) poolsOf[node].push(plan.poolTitles[at]);
});

/** "1 node", "3 nodes", "1,200 elements". */
function counted(count, noun) {
  return `${number.format(count)} ${noun}${count === 1 ? "" : "s"}`;
}

function times(name, count) {
  return count === 1 ? name : `${name} \u00d7 ${number.format(count)}`;
}

/** Whether the rule closes the node; its ranges ascend. */
function closes(rule, node) {
  let low = 0;
  let high = rule.nodes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rule.nodes[middle][1] < node) low = middle + 1;
    else high = middle;
  }
  return low < rule.nodes.length && rule.nodes[low][0] <= node;
}

/** The rule that closes the node for the element, or undefined. */
function closingRule(element, node) {
  return (element.closed ?? []).map((at) => plan.rules[at]).find((rule) => closes(rule, node));
}

/** The places of all nodes of a rule. */
function nodesOf(rule) {
  return rule.nodes.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, step) => first + step));
}

/** For each node 1 if no rule closes it for the element, else 0; null if no node was judged. */
function openNodes(element) {
  if (element.closed === null) return null;
  const open = new Uint8Array(plan.nodes.length).fill(1);
  for (const at of element.closed) for (const [first, last] of plan.rules[at].nodes) open.fill(0, first, last + 1);
  return open;
}

/** The other elements of the subject that must be on the same host, or on another one: place -> {kind, clauses}. */
function partnersOf(at) {
  const { name, subject } = elements[at];
  const places = elementAt[subject];
  const partners = new Map();
  const add = (other, kind, clause) => {
    const place = places.get(other);
    if (place === undefined || place === at) return;
    const known = partners.get(place);
    if (known) known.clauses.add(clause);
    else partners.set(place, { kind, clauses: new Set([clause]) });
  };
  for (const { kind, clause, elements: names } of plan.subjects[subject].relations) {
    const one = names.includes(name);
    if (kind === "alone") for (const other of one ? places.keys() : names) add(other, "apart", clause);
    else if (one) for (const other of names) add(other, kind, clause);
  }
  return partners;
}

/** What the search looks at, in lower case. */
const words = (...texts) => texts.join("\n").toLowerCase();
const elementWords = elements.map(({ name, subject, clauses, node, placed }) =>
  words(name, plan.subjects[subject].origin, ...clauses, node, ...Object.keys(placed)));
const nodeWords = plan.nodes.map(({ name, taints }, at) =>
  words(name, ...taints, ...poolsOf[at], ...residents[at].map(([element]) => elementWords[element])));

/** Whether all of these words are in the text. */
function matches(wanted, text) {
  return wanted.every((word) => text.includes(word));
}

/** An element of the page. Texts become text, never markup. */
function make(name, properties = {}, ...content) {
  const { dataset, attributes, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  Object.assign(made.dataset, dataset);
  for (const [key, value] of Object.entries(attributes ?? {})) made.setAttribute(key, value);
  made.append(...content.flat().filter((part) => part !== null && part !== undefined));
  return made;
}

/** A button that selects an element, with the number of its replicas in a place. */
function replicas(at, count, className) {
  return picker("element", at, times(elements[at].name, count), className);
}

/** A button that selects an element, a node or a pool. */
function picker(kind, at, label, className = "") {
  return make("button", { type: "button", className: `pick name ${className}`, dataset: { kind, at } }, label);
}

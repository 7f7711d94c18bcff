// The panel: everything about the selected element, node or pool.

const HELD = "open, but this plan has elements there that it must stay apart from";
const NAMED = 40; // names that a list shows as buttons; a longer one is a text, so that Tab gets past it

/** A heading and what is below it; null without content. */
function part(heading, ...content) {
  const shown = content.flat().filter(Boolean);
  return shown.length ? make("section", {}, make("h3", {}, heading), shown) : null;
}

/** Names of elements or nodes: buttons, or one text if there are many. */
function namesOf(kind, places, note = () => "") {
  const all = kind === "element" ? elements : plan.nodes;
  if (places.length > NAMED) {
    return make("p", { className: "names" }, places.map((at) => all[at].name + note(at)).join(", "));
  }
  const items = places.map((at) => make("li", {}, picker(kind, at, all[at].name), make("small", {}, note(at))));
  return make("ul", { className: "names" }, items);
}

/** A group that opens: its label, its size, and names that are made when it is opened. */
function group(label, places, noun, kind, note) {
  const details = make("details", {},
    make("summary", {}, make("span", {}, label), make("span", { className: "count" }, counted(places.length, noun))));
  details.addEventListener("toggle", () => details.append(namesOf(kind, places, note)), { once: true });
  return details;
}

/** The clause, and what it says of a node that it closes. */
function ruleLabel(rule) {
  return make("span", {}, rule.clause ? make("code", {}, rule.clause) : null, rule.clause ? " " : null, rule.reason);
}

function codes(texts) {
  const items = texts.map((each) => make("li", {}, make("code", {}, each)));
  return items.length ? make("ul", { className: "codes" }, items) : null;
}

function facts(rows) {
  return make("dl", { className: "facts" },
    rows.filter(Boolean).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
}

function elementPanel(at) {
  const element = elements[at];
  const subject = plan.subjects[element.subject];
  const hosts = hostsOf(element);
  const requests = Object.entries(element.requests);
  const partners = partnersOf(at);
  const where = hosts.length
    ? make("ul", { className: "names" }, hosts.slice(0, NAMED).map(([node, count]) =>
      make("li", {}, picker("node", node, times(plan.nodes[node].name, count)))),
    hosts.length > NAMED ? make("li", {}, `and ${counted(hosts.length - NAMED, "other node")}`) : null)
    : "no node";
  return [
    facts([
      ["Of", `${subject.origin} in namespace ${subject.namespace}, ${subject.verdict}`],
      [element.fixed ? "Runs on" : "Goes to", where],
      element.cost === null ? null : ["Cost", number.format(element.cost)],
      element.replicas === 1 ? null : ["Replicas", number.format(element.replicas)],
      requests.length ? ["Requests", requests.map((pair) => pair.join("\u00a0")).join(", ")] : null,
    ]),
    part("Constraints", codes(element.clauses) ?? "none"),
    part("Operators", codes(element.operators.map((operator) => operator.name))),
    part("Streams to other elements", codes(streamsOf(element, subject))),
    part("On one host with", relatives(partners, "together")),
    part("Apart from", relatives(partners, "apart")),
    ...nodesFor(element, partners, new Set(hosts.map(([node]) => node))),
  ];
}

/** The streams that leave the element, each with its share of the traffic. */
function streamsOf(element, subject) {
  return (subject.fusion?.streams ?? []).filter((stream) => stream.elements.includes(element.name)).map((stream) =>
    `${stream.operators.join(" and ")}: ${stream.share || "less than 1"}\u00a0% of the traffic`
    + (stream.betweenNodes ? ", to another node" : ""));
}

/** Partners of a kind, grouped by the clauses that tie them. */
function relatives(partners, kind) {
  const groups = new Map();
  for (const [place, partner] of partners) {
    if (partner.kind !== kind) continue;
    const label = [...partner.clauses].join(" and ");
    groups.set(label, [...(groups.get(label) ?? []), place]);
  }
  return [...groups].map(([label, places]) =>
    opened(group(make("code", {}, label), places, "element", "element"), places));
}

/** Short groups begin open. */
function opened(details, places) {
  details.open = places.length <= 8;
  return details;
}

/** All other nodes: the open ones, those with elements that must stay apart, and the closed ones by rule. */
function nodesFor(element, partners, hosts) {
  if (element.closed === null) return [part("Other nodes", "No node was judged.")];
  const judged = openNodes(element);
  const open = [...plan.nodes.keys()].filter((node) => judged[node] && !hosts.has(node));
  const apart = (node) => residents[node].map(([at]) => at).filter((at) => partners.get(at)?.kind === "apart");
  const held = open.filter((node) => apart(node).length);
  const left = open.filter((node) => !apart(node).length);
  const holders = (node) => ` holds ${apart(node).map((other) => elements[other].name).slice(0, 3).join(", ")}`;
  const rules = element.closed.map((at) => plan.rules[at]);
  return [
    part("Other nodes that are open",
      left.length ? group("every rule lets it go there", left, "node", "node") : null,
      held.length ? group(HELD, held, "node", "node", holders) : null,
      open.length ? null : "none"),
    part("Nodes that are closed", rules.map((rule) => group(ruleLabel(rule), nodesOf(rule), "node", "node")),
      rules.length ? null : "none"),
  ];
}

function nodePanel(at) {
  const node = plan.nodes[at];
  const here = residents[at];
  const open = [];
  const closed = new Map();
  elements.forEach((element, place) => {
    if (element.closed === null || here.some(([other]) => other === place)) return;
    const rule = closingRule(element, at);
    if (!rule) open.push(place);
    else closed.set(`${rule.clause}\n${rule.reason}`, [...(closed.get(`${rule.clause}\n${rule.reason}`) ?? []), place]);
  });
  return [
    make("table", { className: "amounts" }, make("caption", {}, "Resources"),
      make("thead", {}, row("th", "", "offers", "used", "planned", "free")),
      make("tbody", {}, node.resources.map(({ name, amounts }) => row("td", name, ...amounts)))),
    part("Elements here", here.length
      ? make("ul", { className: "names" }, here.map(([element, count]) => make("li", {}, replicas(element, count))))
      : "none"),
    part("Taints", codes(node.taints)),
    part("HostPools", codes(poolsOf[at])),
    part("Other elements that could go here", open.length ? group("no rule closes the node", open, "element", "element")
      : "none"),
    part("Elements for which the node is closed", [...closed].map(([key, places]) => {
      const [clause, reason] = key.split("\n");
      return group(ruleLabel({ clause, reason }), places, "element", "element");
    })),
  ];
}

/** A row of a table whose first cell is its head. */
function row(kind, first, ...cells) {
  const head = kind === "th" && !first ? make("td") : make("th", { scope: "row" }, first);
  return make("tr", {}, head, cells.map((cell) => make(kind, kind === "th" ? { scope: "col" } : {}, cell)));
}

function poolPanel(at) {
  const pool = plan.pools[at];
  const index = new Map(poolHosts[at]);
  const hosts = [...index.keys()];
  const numbered = (node) => (index.get(node) === null ? "" : ` [${index.get(node)}]`);
  const here = [...new Set(hosts.flatMap((node) => residents[node].map(([element]) => element)))].sort((one, other) => one - other);
  const named = here.filter((element) => elements[element].pools.includes(at));
  const others = here.filter((element) => !elements[element].pools.includes(at));
  const able = nodesOf({ nodes: pool.eligible });
  const users = plan.subjects.filter((subject) => subject.pools.includes(at)).map((subject) => subject.origin);
  return [
    facts([
      ["Namespace", pool.namespace], pool.job ? ["Declared by", `Job ${pool.job}`] : null, ["Mode", pool.mode],
      ["Size", pool.size === null ? "none: every eligible node is a host" : number.format(pool.size)],
      ["Eligible", `${number.format(able.length)} of ${counted(plan.nodes.length, "node")}`],
      users.length ? ["Named by", users.join(", ")] : null,
    ]),
    pool.size === null
      ? part("Hosts", able.length ? opened(group("eligible nodes", able, "node", "node"), able) : "no node is eligible")
      : part("Hosts", hosts.length ? opened(group("nodes of the pool", hosts, "host", "node", numbered), hosts) : "none yet"),
    part("Elements on its hosts",
      named.length ? opened(group("name the pool", named, "element", "element"), named) : null,
      others.length ? opened(group("do not name it", others, "element", "element"), others) : null,
      here.length ? null : "none"),
    pool.size === null || !able.length ? null
      : part("Nodes that could be hosts", group("eligible nodes", able, "node", "node")),
  ];
}

const PANELS = { element: elementPanel, node: nodePanel, pool: poolPanel };

function titleOf({ kind, at }) {
  if (kind === "pool") return ["HostPool", plan.poolTitles[at]];
  return kind === "node" ? ["Node", plan.nodes[at].name] : ["Element", elements[at].name];
}

/** Fill the panel and give its heading the focus. */
function fillPanel(panel, selection) {
  const [kind, name] = titleOf(selection);
  const heading = make("h2", { id: "panel-heading", tabIndex: -1 },
    make("small", {}, kind), " ", make("span", { className: "name" }, name));
  const close = make("button", { type: "button", className: "close" }, "Close");
  panel.replaceChildren(make("div", { className: "panel-head" }, heading, close),
    ...PANELS[selection.kind](selection.at).filter(Boolean));
  panel.hidden = false;
  panel.scrollTop = 0;
  heading.focus();
}

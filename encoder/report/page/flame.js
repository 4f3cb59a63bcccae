// SPDX-License-Identifier: MIT
// The flame graph of one report: d3-flame-graph draws it, here are its data, its words and the keyboard. The rule: a
// chain is as wide as its extent, which is never less than what is below it.

const KINDS = {
  other: ['#f2b872', 'works, or calls what is not recorded'],
  lock: ['#f49a95', 'takes a lock'],
  wait: ['#9fc3ef', 'waits for others'],
  sleep: ['#b9bfd0', 'sleeps'],
  io: ['#9ed6ac', 'input and output'],
  recorder: ['#d9d9d9', 'waits for the recorder'],
};
const FOUND = '#f5e663';
const ROW = 20;

let flame = null; // {chart, current: the node that the keyboard is at}

// What fits into a box: without the library's name.
function flameLabel(name) {
  return name.replace(/^[^:]*\.so[^:]*::/, '');
}

// The tree as the library takes it. Nodes come after their parents.
function flameData(report) {
  const kinds = new Map(report.functions.map((f) => [f.name, f.kind]));
  const nodes = [{name: 'all threads', kind: 'other', calls: 0, self_ns: 0, value: 0, children: []}];

  for (const {node, parent, name, calls, self_ns, extent_ns} of report.tree) {
    nodes[node] = {name, kind: kinds.get(name) ?? 'other', calls, self_ns, value: extent_ns, children: []};
    nodes[parent].children.push(nodes[node]);
  }
  nodes[0].value = nodes[0].children.reduce((sum, child) => sum + child.value, 0);
  return nodes[0];
}

function flameWords(node) {
  const all = node.ancestors().at(-1);
  const {name, calls, self_ns, value} = node.data;
  const words = `${name}: ${duration(value)}, ${share(value, all.data.value)} of all`;

  if (node === all) return words;
  return `${words}, ${duration(self_ns)} of its own, ${calls ? several(calls, 'call') : 'not returned'}`;
}

function tellFlame(words) {
  at('flame-details').textContent = words;
}

function drawFlame(report) {
  const place = at('flame');
  const missing = typeof flamegraph === 'undefined';

  flame?.chart.destroy();
  flame = null;
  at('flame-search').value = '';
  tellFlame('');
  place.replaceChildren();
  if (missing || report.tree.length === 0) {
    place.textContent = missing
      ? 'This page was built without the library that draws flame graphs: npm was not there when pftshim was built.'
      : 'There is no call that has returned.';
    return;
  }
  const chart = flamegraph.default()
    .width(place.clientWidth)
    .cellHeight(ROW)
    .inverted(true)
    .minFrameSize(1)
    .resetHeightOnZoom(true)
    .transitionDuration(matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 250)
    .sort((one, other) => other.data.value - one.data.value)
    .getName((node) => flameLabel(node.data.name))
    .setColorMapper((node) => node.highlight ? FOUND : KINDS[node.data.kind][0])
    .setLabelHandler(flameWords)
    .setDetailsHandler((words) => tellFlame(words ?? (flame?.current ? flameWords(flame.current) : '')))
    .setSearchMatch((node, term) => node.data.name.toLowerCase().includes(term.toLowerCase()))
    .setSearchHandler((found, sum, all) => tellFlame(
      `${several(found.length, 'chain')} with that name: ${duration(sum)}, ${share(sum, all)} of all`))
    .onClick((node) => {
      fitFlame();
      markFlame(node);
    });

  flame = {chart, current: null};
  d3.select(place).datum(flameData(report)).call(chart);
  fitFlame();
}

// The library leaves room for rows that are not there.
function fitFlame() {
  const frames = d3.select('#flame').selectAll('g.frame');

  d3.select('#flame svg').attr('height', ROW * (1 + d3.max(frames.data(), (node) => node.depth)));
}

function markFlame(node) {
  flame.current = node;
  d3.select('#flame').selectAll('g.frame').classed('current', (other) => other === node)
    .filter((other) => other === node).each(function () {
      this.scrollIntoView({block: 'nearest', inline: 'nearest'});
    });
  tellFlame(flameWords(node));
}

function searchFlame(term) {
  if (!flame) return;
  if (term) flame.chart.search(term);
  else flame.chart.clear();
  fitFlame();
  if (flame.current) d3.select('#flame').selectAll('g.frame').classed('current', (node) => node === flame.current);
}

function resetFlame() {
  flame?.chart.resetZoom();
}

// The node that an arrow leads to, among those that are drawn.
function flameBeside(node, key) {
  const drawn = (nodes) => (nodes ?? []).filter((one) => one.value > 0);
  const row = node.parent ? drawn(node.parent.children) : [node];
  const place = row.indexOf(node);

  switch (key) {
    case 'ArrowDown': return drawn(node.children)[0];
    case 'ArrowUp': return node.parent;
    case 'ArrowLeft': return row[place - 1];
    case 'ArrowRight': return row[place + 1];
    default: return undefined;
  }
}

function flameKey(event) {
  if (!flame || event.ctrlKey || event.altKey || event.metaKey) return;
  const root = d3.select('#flame').datum();
  const current = flame.current ?? root;

  if (event.key.startsWith('Arrow')) markFlame(flame.current ? flameBeside(current, event.key) ?? current : root);
  else if (event.key === 'Enter') flame.chart.zoomTo(current);
  else if (event.key === 'Escape') resetFlame();
  else return;
  event.preventDefault();
}

function prepareFlame() {
  at('flame').addEventListener('keydown', flameKey);
  at('flame-search').addEventListener('input', (event) => searchFlame(event.target.value));
  at('flame-reset').addEventListener('click', resetFlame);
  at('flame-legend').append(...Object.values(KINDS).map(([colour, words]) => {
    const item = element('li', {}, words);

    item.style.setProperty('--colour', colour);
    return item;
  }));
  new ResizeObserver(() => {
    const width = at('flame').clientWidth;

    if (flame && width !== flame.chart.width()) {
      flame.chart.width(width).update();
      fitFlame();
    }
  }).observe(at('flame'));
}

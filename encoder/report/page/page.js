// SPDX-License-Identifier: MIT
// The page of a report: reads the reports that are embedded, one a process, and shows one of them. The rule: nothing
// is fetched, and a name is never taken for markup.

// ---- what the process was ---------------------------------------------------------------------------

function showFacts(report) {
  const facts = [
    ['Run time', duration(report.run_ns)],
    ['Calls', count(report.calls)],
    ['Threads', count(report.thread_count)],
    ['Functions', count(report.function_count)],
    ['Events', count(report.produced)],
    ['Filtered', count(report.filtered)],
    ['Lost', count(report.dropped)],
  ];
  const probe = report.probe_inside_ns + report.probe_outside_ns;

  if (probe) facts.push(['Probe, a call', duration(probe)]);
  if (report.peak_rss_bytes) {
    facts.push(['Peak memory', `${(report.peak_rss_bytes / 2 ** 20).toFixed(1)} MiB`],
      ['Page faults', count(report.minor_faults + report.major_faults)]);
    if (report.major_faults) facts.push(['From a disk', count(report.major_faults)]);
  }
  at('summary-title').textContent = `${report.process} (${report.pid})`;
  at('command').textContent = report.command_line;
  at('facts').replaceChildren(...facts.map(([term, value]) =>
    element('div', {}, element('dt', {}, term), element('dd', {}, value))));
}

function showNotes(report) {
  const notes = [];
  const cut = (all, shown, words) => {
    if (all > shown) notes.push(`${words}: ${count(shown)} of ${count(all)} are on this page. pft report --format=json has all.`);
  };

  if (report.dropped) notes.push(`${several(report.dropped, 'event')} of ${count(report.produced)} were lost: numbers are too small by what they hold.`);
  if (!report.function_count) notes.push('No call was recorded: PFT_FUNCS selects functions, PFT_MODE=dev records calls between objects.');
  if (report.incomplete) notes.push('Memory ran out while the trace was read: not everything was counted.');
  cut(report.chain_count, report.tree.length, 'Chains of calls, those that took longest');
  cut(report.function_count, report.functions.length, 'Functions, those with the most time of their own');
  cut(report.thread_count, report.threads.length, 'Threads, those that began first');
  at('notes').replaceChildren(...notes.map((note) => element('li', {}, note)));
}

// ---- bottlenecks ------------------------------------------------------------------------------------

function showBottlenecks(report) {
  const advice = new Map(); // suggestion -> places, the worst first

  for (const {suggestion, place} of report.bottlenecks) {
    advice.set(suggestion, [...advice.get(suggestion) ?? [], place]);
  }
  at('bottlenecks').replaceChildren(...report.bottlenecks.map((found) =>
    element('li', {className: found.severity},
      element('h3', {}, element('span', {className: 'severity'}, found.severity), `${found.title}: `,
        named(found.place)),
      element('p', {}, found.evidence),
      element('p', {className: 'hint'}, `${found.description} Threshold: ${found.threshold}.`))));
  if (report.bottlenecks.length === 0) at('bottlenecks').append(element('p', {}, 'None were found in what was recorded.'));
  at('advice').hidden = advice.size === 0;
  at('recommendations').replaceChildren(...[...advice].map(([suggestion, places]) =>
    element('li', {}, `${suggestion} `, named(`(${places.join(', ')})`))));
}

// ---- functions --------------------------------------------------------------------------------------

function addCallers(cell, found) {
  const flag = found.mostly_probe
    ? [element('span', {className: 'probe', title: 'Most of what was seen of it is recording'}, ' *')] : [];
  const callers = element('ul');
  const details = element('details', {
    ontoggle: () => {
      if (callers.childElementCount) return;
      callers.append(...found.callers.map((caller) => element('li', {}, 'called by ', named(caller.name), `: ${several(caller.calls, 'call')}, ${duration(caller.total_ns)}`)));
      if (found.callers.length === 0) callers.append(element('li', {}, 'no recorded function calls it'));
      if (found.not_returned) callers.append(element('li', {}, `${several(found.not_returned, 'call')} did not return`));
      if (found.unwound) callers.append(element('li', {}, `${several(found.unwound, 'call')} ended by an exception or a jump`));
      callers.append(element('li', {}, element('button', {type: 'button', onclick: () => highlight(found.name)},
        'Highlight in the flame graph')));
    },
  }, element('summary', {}, named(found.name, ...flag)), callers);

  cell.append(details);
}

function highlight(name) {
  at('flame-search').value = name;
  searchFlame(name);
  at('flame-title').scrollIntoView();
  at('flame').focus({preventScroll: true});
}

function timeColumn(title, field, tells) {
  return {title, tells, key: (found) => found[field], add: (cell, found) => cell.append(duration(found[field]))};
}

function countColumn(title, field, tells) {
  return {title, tells, key: (found) => found[field], add: (cell, found) => cell.append(count(found[field]))};
}

let functionLines = [];

function showFunctions(report) {
  const own = report.functions.reduce((sum, found) => sum + found.self_corrected_ns, 0);
  const ownTime = timeColumn('Own time', 'self_corrected_ns', 'Without the recorded calls that it made, and without what recording costs');
  const addTime = ownTime.add;

  ownTime.add = (cell, found) => {
    addTime(cell, found);
    cell.className = 'share';
    cell.style.setProperty('--share', `${own ? 100 * found.self_corrected_ns / own : 0}%`);
  };
  functionLines = fillTable(at('functions'), [
    {title: 'Function', text: true, key: (found) => found.name, add: addCallers},
    ownTime,
    timeColumn('As seen', 'self_ns', 'Own time with what recording costs'),
    timeColumn('Total', 'total_corrected_ns', 'With the calls that it made, without what recording costs'),
    countColumn('Calls', 'calls', 'That returned'),
    timeColumn('Mean', 'mean_ns', 'Of one call, as seen'),
    timeColumn('Median', 'p50_ns', 'Half of the calls took no longer'),
    timeColumn('p99', 'p99_ns', '99 of 100 calls took no longer'),
    timeColumn('Longest', 'max_ns', 'The longest call'),
    countColumn('Threads', 'threads', 'That called it'),
  ], report.functions, 1);
  filterFunctions();
}

function filterFunctions() {
  const words = at('functions-filter').value.toLowerCase().split(/\s+/);
  let shown = 0;

  for (const {row, line} of functionLines) {
    const name = row.name.toLowerCase();

    line.hidden = !words.every((word) => name.includes(word));
    shown += !line.hidden;
  }
  at('functions-count').textContent = `${count(shown)} of ${count(functionLines.length)}`;
}

// ---- threads ----------------------------------------------------------------------------------------

const SVG = 'http://www.w3.org/2000/svg';

function svgElement(tag, attributes) {
  const made = document.createElementNS(SVG, tag);

  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// A bar a time slot, in units of slots: as high as the part of the slot in which the thread was there and did not wait.
function strip(report, thread) {
  const slot = thread.slot_ns || 1;
  const length = Math.max((report.begin_ns - report.origin_ns + report.run_ns) / slot, 1e-9);
  const from = Math.max(0, (thread.begin_ns - report.origin_ns) / slot);
  const to = from + thread.life_ns / slot;
  const bars = thread.waiting_ns_by_slot.map((waiting, i) => {
    const left = Math.max(from, i);
    const right = Math.min(to, i + 1);

    if (right <= left) return '';
    const height = Math.min(1, Math.max(0, 1 - waiting / slot / (right - left)));

    return `M${left} 1V${1 - height}H${right}V1Z`;
  });
  const drawn = svgElement('svg', {class: 'strip', viewBox: `0 0 ${length} 1`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': `busy ${share(thread.life_ns - thread.waiting_ns, thread.life_ns)} of its life`});

  drawn.append(svgElement('rect', {class: 'life', x: from, y: 0, width: Math.max(to - from, 0), height: 1}),
    svgElement('path', {class: 'busy', d: bars.join('')}));
  return drawn;
}

function showThreads(report) {
  const end = report.begin_ns - report.origin_ns + report.run_ns;
  at('threads').replaceChildren(...report.threads.map((thread) => element('li', {},
    element('div', {className: 'told'},
      element('strong', {}, named(thread.name || '(no name)')), element('span', {}, `thread ${thread.tid}`),
      element('span', {}, `lived ${duration(thread.life_ns)}`),
      element('span', {}, `busy ${share(thread.life_ns - thread.waiting_ns, thread.life_ns)}`),
      element('span', {}, `waited ${duration(thread.waiting_ns)}`),
      element('span', {}, several(thread.calls, 'call'))),
    strip(report, thread))));
  at('axis').replaceChildren(...[0, 0.25, 0.5, 0.75, 1].map((part) =>
    element('span', {}, part ? duration(part * end) : '0')));
}

// ---- slowest calls ----------------------------------------------------------------------------------

function showSlowest(report) {
  const names = new Map(report.threads.map((thread) => [thread.tid, thread.name]));
  const nameOf = (field) => (cell, call) => cell.append(named(call[field]));

  fillTable(at('slowest'), [
    {title: 'Function', text: true, key: (call) => call.name, add: nameOf('name')},
    timeColumn('Took', 'duration_ns'),
    {title: 'Began at', tells: 'Since the first event', key: (call) => call.begin_ns,
      add: (cell, call) => cell.append(duration(call.begin_ns - report.begin_ns))},
    {title: 'Thread', key: (call) => call.tid, add: (cell, call) => cell.append(`${call.tid} ${names.get(call.tid) ?? ''}`)},
    {title: 'Called by', text: true, key: (call) => call.caller, add: nameOf('caller')},
  ], report.slowest_calls, 1);
}

// ---- all of it --------------------------------------------------------------------------------------

function show(report) {
  document.title = `${report.process} (${report.pid}): pft report`;
  showFacts(report);
  showNotes(report);
  showBottlenecks(report);
  drawFlame(report);
  showFunctions(report);
  showThreads(report);
  showSlowest(report);
}

function start() {
  const reports = [...document.querySelectorAll('script.report')].map((data) => JSON.parse(data.textContent))
    .sort((one, other) => one.begin_ns - other.begin_ns);
  const busiest = reports.reduce((most, report) => report.calls > most.calls ? report : most);
  const choice = at('process');

  choice.append(...reports.map((report, number) => element('option', {value: number},
    `${report.process} (${report.pid}): ${several(report.calls, 'call')}, ${duration(report.run_ns)}`)));
  choice.addEventListener('change', () => show(reports[choice.value]));
  at('switch').hidden = reports.length < 2;
  at('functions-filter').addEventListener('input', filterFunctions);
  prepareFlame();
  choice.value = reports.indexOf(busiest);
  show(busiest);
}

start();

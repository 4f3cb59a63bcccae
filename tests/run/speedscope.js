// SPDX-License-Identifier: MIT
// Lets speedscope's importer of trace events read a file: node speedscope.js BUNDLE TRACE. Prints a line of JSON
// a thread: its name, and how many calls it shows. The bundle is a page's script, so the importer is called by the
// names that it has in it, in the version that the test asks for.
const fs = require('fs');

const entry = 'async function Vy(t)';
const bundle = fs.readFileSync(process.argv[2], 'utf8');
if (bundle.split(entry).length !== 2) throw new Error('this is another version of speedscope');
try {
  (0, eval)(bundle.replace(entry, `globalThis.importTrace = (trace) => (hf(), _f(trace)); ${entry}`));
} catch (error) {
  if (!(error instanceof ReferenceError)) throw error; // the page's own script misses its window
}
for (const profile of importTrace(JSON.parse(fs.readFileSync(process.argv[3], 'utf8'))).profiles) {
  let calls = 0;
  profile.forEachCall(() => calls++, () => {});
  console.log(JSON.stringify({ name: profile.getName(), calls }));
}

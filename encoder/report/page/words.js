// SPDX-License-Identifier: MIT
// Quantities as people read them, and elements of the page. Used by all other scripts. The rule: whatever a trace
// holds becomes text of an element, never markup.

function duration(ns) {
  for (const [name, unit] of [['s', 1e9], ['ms', 1e6], ['us', 1e3]]) {
    if (ns >= unit) return `${threeDigits(ns / unit)} ${name}`;
  }
  return `${Math.round(ns)} ns`;
}

function threeDigits(value) {
  return value < 10 ? (Math.floor(value * 10) / 10).toFixed(1) : count(Math.round(value));
}

function count(number) {
  return number.toLocaleString('en-US');
}

function share(part, whole) {
  const percent = whole > 0 ? 100 * part / whole : 0;

  return `${percent < 10 ? percent.toFixed(1) : Math.round(percent)} %`;
}

function several(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// element('li', {className: 'note'}, 'text', otherElement)
function element(tag, properties = {}, ...inside) {
  const made = Object.assign(document.createElement(tag), properties);

  made.append(...inside);
  return made;
}

// A name that may be broken between its words.
function named(name, ...behind) {
  return element('span', {className: 'name'}, ...name.split(/(?<=::|[_,>])/).flatMap((part) => [part, element('wbr')]), ...behind);
}

function at(id) {
  return document.getElementById(id);
}

// SPDX-License-Identifier: MIT
// A table that a click on a column sorts. A column is {title, key, add(cell, row)}: `key` gives what it is sorted by,
// numbers with the largest first, texts from A on; without one it cannot be sorted by.

function fillTable(table, columns, rows, sortedBy) {
  const body = element('tbody');
  const heads = columns.map((column) => element('th', {scope: 'col'}));
  const shown = rows.map((row) => ({row, line: tableLine(columns, row)}));

  const sort = (number, descending) => {
    const {key} = columns[number];

    shown.sort((one, other) => compare(key(one.row), key(other.row)) * (descending ? -1 : 1));
    body.replaceChildren(...shown.map(({line}) => line));
    heads.forEach((head, i) => {
      if (columns[i].key) head.setAttribute('aria-sort', i !== number ? 'none' : descending ? 'descending' : 'ascending');
    });
  };

  columns.forEach((column, number) => {
    const head = heads[number];

    head.classList.toggle('text', Boolean(column.text));
    if (!column.key) {
      head.append(column.title);
      return;
    }
    head.append(element('button', {
      type: 'button',
      title: column.tells ?? '',
      onclick: () => {
        const now = head.getAttribute('aria-sort');

        sort(number, now === 'none' ? !column.text : now === 'ascending');
      },
    }, column.title));
  });
  table.replaceChildren(element('thead', {}, element('tr', {}, ...heads)), body);
  if (sortedBy === undefined) body.append(...shown.map(({line}) => line));
  else sort(sortedBy, true);
  return shown;
}

function compare(one, other) {
  return typeof one === 'number' ? one - other : one.localeCompare(other, 'en');
}

function tableLine(columns, row) {
  return element('tr', {}, ...columns.map((column) => {
    const cell = element('td', {className: column.text ? 'text' : ''});

    column.add(cell, row);
    return cell;
  }));
}

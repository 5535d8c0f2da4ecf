// Numbers and words for people, and elements made of them.
const kThin = '\u202f';  // between thousands, and before units

const format = {
  metric: (x) => (isNumber(x) ? x.toFixed(4) : '–'),
  count: (x) => Math.round(x).toString().replace(/\B(?=(\d{3})+$)/g, kThin),
  percent: (x) =>
      (x > 0 && x < 0.001 ? `<0.1${kThin}%` : `${(100 * x).toFixed(x < 0.0995 ? 1 : 0)}${kThin}%`),
  percentTick: (x) => `${format.short(100 * x)}${kThin}%`,
  // Three digits, without an exponent where people expect none.
  short: (x) =>
      (!isNumber(x)                                 ? '–' :
           x === 0                                  ? '0' :
           Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4 ? x.toExponential(1) :
                                                      String(+x.toPrecision(3))),
  seconds: (x) => {
    if (!isNumber(x)) return '–';
    if (x < 0.0995) return `${format.short(+(1000 * x).toPrecision(2))}${kThin}ms`;
    if (x < 99.5) return `${x.toFixed(x < 9.95 ? 2 : 1)}${kThin}s`;
    const minutes = Math.floor(Math.round(x) / 60);
    if (minutes < 60) return `${minutes}${kThin}min ${Math.round(x) % 60}${kThin}s`;
    return `${Math.floor(minutes / 60)}${kThin}h ${minutes % 60}${kThin}min`;
  },
  bytes: (x) => {
    const units = ['B', 'kB', 'MB', 'GB', 'TB'];
    let unit = 0;
    while (x >= 999.5 && unit + 1 < units.length) {
      x /= 1000;
      unit += 1;
    }
    return `${unit === 0 ? Math.round(x) : x.toPrecision(3)}${kThin}${units[unit]}`;
  },
  // The same for ticks, whose digits end where they do.
  byteTick: (x) => format.bytes(x).replace(/(\.\d*?)0+(?=\D)/, '$1').replace(/\.(?=\D)/, ''),
  secondTick: (x, most) =>
      (most < 600 ? `${format.short(x)}${kThin}s` :
           most < 36000 ? `${format.short(x / 60)}${kThin}min` :
                          `${format.short(x / 3600)}${kThin}h`),
  // Of a weight in equal shares.
  shares: (x) => `${format.short(x)}×`,
};

function isNumber(x) {
  return typeof x === 'number' && Number.isFinite(x);
}
function plusMinus(mean, deviation, text) {
  return deviation > 0 ? `${text(mean)} ± ${text(deviation)}` : text(mean);
}
function plural(count, noun) {
  return `${format.count(count)} ${noun}${count === 1 ? '' : 's'}`;
}
function mean(values) {
  return values.reduce((sum, x) => sum + x, 0) / values.length;
}
function color(index) {
  return `var(--c${index % 8})`;
}
// Colours repeat after eight, and some readers see few of them: lines differ in their dashes too.
function dash(index) {
  return ['', '7 3', '2 3', '9 3 2 3', '4 4', '12 3', '2 5', '6 2 2 2 2 2'][index % 8];
}

// el('p', {class: 'note'}, 'some', el('b', {}, 'text')): text stays text, whatever it holds.
function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}
function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

// Buttons of which one is pressed.
function choice(label, options, current, choose) {
  const buttons = options.map(
      ([value, text]) =>
          el('button', {
            type: 'button',
            'aria-pressed': String(value === current),
            onclick: () => {
              buttons.forEach(
                  (button, i) =>
                      button.setAttribute('aria-pressed', String(options[i][0] === value)));
              choose(value);
            },
          },
             text));
  return el(
      'div', {class: 'choice', role: 'group', 'aria-label': label}, el('span', {}, label),
      ...buttons);
}
function selection(label, options, current, choose) {
  const select = el(
      'select', {onchange: () => choose(select.value)},
      ...options.map(([value, text]) => el('option', {value, selected: value === current}, text)));
  return el('label', {}, label, select);
}

// rows: [{header, cells: [{content, number, best}]}], a cell for every column but the first.
function table(columns, rows, caption) {
  const kindOf = (cell) => [cell.number && 'number', cell.best && 'best'].filter(Boolean).join(' ');
  const head = columns.map((column, i) => {
    const cell = i > 0 ? rows[0].cells[i - 1] : {};
    return el('th', {scope: 'col', class: cell.number ? 'number' : false}, column);
  });
  const body = rows.map(({header, cells}) => {
    const content = cells.map((cell, i) => {
      const attributes = {'data-label': columns[i + 1], class: kindOf(cell) || false};
      return el('td', attributes, el('span', {}, cell.content));
    });
    return el('tr', {}, el('th', {scope: 'row'}, header), ...content);
  });
  return el(
      'table', {class: 'stack', 'aria-label': caption}, el('thead', {}, el('tr', {}, ...head)),
      el('tbody', {}, ...body));
}

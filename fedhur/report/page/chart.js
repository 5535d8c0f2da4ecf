// What all charts share: a place that they fit, a tooltip, and a cursor for pointer and keys.
const tooltip = {
  node: document.getElementById('tooltip'),
  // lines: [{label, value, color}]; x and y are of the window.
  show(title, lines, x, y) {
    fill(
        this.node, el('b', {}, title),
        ...lines.map(
            (line) =>
                el('div', {class: 'row'}, el('span', {}, line.label), el('span', {}, line.value))));
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    const left = x + 14 + box.width > window.innerWidth - 8 ? x - 14 - box.width : x + 14;
    const top = y + 14 + box.height > window.innerHeight - 8 ? y - 14 - box.height : y + 14;
    this.node.style.left = `${Math.max(8, Math.min(left, window.innerWidth - 8 - box.width))}px`;
    this.node.style.top = `${Math.max(8, top)}px`;
  },
  hide() {
    this.node.hidden = true;
  },
};
window.addEventListener('scroll', () => tooltip.hide(), {passive: true});

// Calls draw() now and whenever the element gets another width.
function onWidth(element, draw) {
  let last = 0;
  const check = () => {
    const width = element.clientWidth;
    if (width === last || width === 0) return;
    last = width;
    tooltip.hide();
    draw(width);
  };
  new ResizeObserver(() => requestAnimationFrame(check)).observe(element);
  check();
}

// An SVG in `parent`, drawn by draw(svg, width, data) for the data of the last update(data, label).
function makeChart(parent, height, draw) {
  const box = el('div', {class: 'chart'});
  parent.append(box);
  const svg = d3.select(box).append('svg').attr('role', 'img').attr('tabindex', 0);
  let data = null;
  const redraw = (width) => {
    if (!data || !width) return;
    const tall = typeof height === 'function' ? height(data, width) : height;
    svg.attr('width', width).attr('height', tall).attr('viewBox', `0 0 ${width} ${tall}`);
    svg.selectAll('*').remove();
    draw(svg, width, tall, data);
  };
  onWidth(box, redraw);
  return {
    update(next, label) {
      data = next;
      svg.attr('aria-label', label);
      redraw(box.clientWidth);
    },
  };
}

// marks: [{x, y, title, lines}] in the svg's units. The pointer takes the one that pick(x, y) says,
// arrow keys go through all of them; show(mark or null) may draw the cursor.
function addCursor(svg, marks, pick, show = () => {}) {
  const node = svg.node();
  if (node.cursorEvents) node.cursorEvents.abort();
  const events = new AbortController();
  node.cursorEvents = events;
  let current = -1;
  const goTo = (index, event) => {
    current = index;
    const mark = marks[index] || null;
    show(mark);
    if (!mark) {
      tooltip.hide();
      return;
    }
    const box = node.getBoundingClientRect();
    tooltip.show(
        mark.title, mark.lines, event ? event.clientX : box.left + mark.x,
        event ? event.clientY : box.top + mark.y);
  };
  const listen = (type, action) => node.addEventListener(type, action, {signal: events.signal});
  const follow = (event) => {
    const box = node.getBoundingClientRect();
    goTo(pick(event.clientX - box.left, event.clientY - box.top), event);
  };
  listen('pointermove', follow);
  listen('pointerdown', follow);
  listen('pointerleave', () => goTo(-1));
  listen('blur', () => goTo(-1));
  listen('keydown', (event) => {
    const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
    if (event.key === 'Escape')
      goTo(-1);
    else if (event.key === 'Home')
      goTo(0);
    else if (event.key === 'End')
      goTo(marks.length - 1);
    else if (event.key in steps)
      goTo(Math.max(0, Math.min(marks.length - 1, current + steps[event.key])));
    else
      return;
    event.preventDefault();
  });
}
function nearest(marks, x) {
  let best = -1;
  marks.forEach((mark, i) => {
    if (best < 0 || Math.abs(mark.x - x) < Math.abs(marks[best].x - x)) best = i;
  });
  return best;
}

// add(svg, 'line', {x1: 0, x2: 9}, 'text'): one more element, as a selection of D3.
function add(parent, tag, attributes = {}, text = undefined) {
  const element = parent.append(tag);
  for (const [name, value] of Object.entries(attributes)) element.attr(name, value);
  return text === undefined ? element : element.text(text);
}
let numClips = 0;
// A group of which only this rectangle is to be seen.
function clipped(svg, left, top, right, bottom) {
  numClips += 1;
  const id = `clip-${numClips}`;
  add(add(svg, 'clipPath', {id}), 'rect',
      {x: left, y: top, width: Math.max(0, right - left), height: bottom - top});
  return add(svg, 'g', {'clip-path': `url(#${id})`});
}
function axisBottom(svg, scale, y, ticks, text) {
  const axis = d3.axisBottom(scale).tickSize(4).tickPadding(6).tickFormat(text || null);
  add(svg, 'g', {class: 'axis', transform: `translate(0,${y})`})
      .call(Array.isArray(ticks) ? axis.tickValues(ticks) : axis.ticks(ticks));
}
// Lines across the whole chart in place of an axis.
function axisLeft(svg, scale, left, right, ticks, text) {
  const axis = d3.axisLeft(scale).ticks(ticks).tickSize(left - right).tickPadding(8);
  add(svg, 'g', {class: 'axis', transform: `translate(${left},0)`})
      .call(axis.tickFormat(text || null));
}
function axisName(svg, text, x, y, anchor = 'end') {
  add(svg, 'text', {x, y, 'text-anchor': anchor}, text);
}

// entries: [{label, index, value, kind: 'line' or 'box'}]
function legend(entries) {
  const sample = (entry) => {
    const isLine = entry.kind === 'line';
    const svg = d3.create('svg').attr('width', isLine ? 22 : 12).attr('height', 12);
    svg.attr('aria-hidden', 'true');
    if (isLine) {
      const line = {x2: 22, y1: 6, y2: 6, stroke: color(entry.index), 'stroke-width': 2.5};
      add(svg, 'line', {...line, 'stroke-dasharray': dash(entry.index)});
    } else {
      add(svg, 'rect', {width: 12, height: 12, rx: 2, fill: color(entry.index)});
    }
    return svg.node();
  };
  return el('ul', {class: 'legend'}, ...entries.map((entry) => {
    const value = entry.value ? el('span', {class: 'value'}, entry.value) : null;
    return el('li', {}, sample(entry), el('span', {}, entry.label), value);
  }));
}

// Who helps whom: the weights of all pairs of clients as a picture.
const darkScheme = window.matchMedia('(prefers-color-scheme: dark)');
const kMostDoublings = 3;  // colours end at an eighth and at eight equal shares

// Blue below an equal share, red above, by doublings.
function weightColor() {
  const stops = darkScheme.matches ? ['#8ec5f4', '#3a76ad', '#222830', '#b5552f', '#ffb999'] :
                                     ['#2166ac', '#92c5de', '#f4f4f2', '#f4a582', '#b2182b'];
  const places = [-1, -0.5, 0, 0.5, 1].map((part) => part * kMostDoublings);
  const scale = d3.scaleLinear().domain(places).range(stops).clamp(true);
  return (shares) => scale(shares > 0 ? Math.log2(shares) : -kMostDoublings);
}

// Rows and columns by number, or by how much the others draw on them.
function orderOf(weights, mode) {
  const order = weights.map((_, i) => i);
  if (mode === 'number') return order;
  const drawn = order.map((col) => mean(weights.map((row, i) => (i === col ? 0 : row[col]))));
  return order.sort((a, b) => drawn[b] - drawn[a] || a - b);
}

// A pixel per cell.
function paintWeights(weights, order) {
  const picture = document.createElement('canvas');
  picture.width = order.length;
  picture.height = order.length;
  const paint = picture.getContext('2d');
  const colorOf = weightColor();
  order.forEach((target, row) => order.forEach((candidate, col) => {
    paint.fillStyle = colorOf(weights[target][candidate]);
    paint.fillRect(col, row, 1, 1);
  }));
  return picture;
}

function ramp() {
  const colorOf = weightColor();
  const stops = d3.range(-kMostDoublings, kMostDoublings + 0.01, 0.25).map((d) => colorOf(2 ** d));
  const bar = el('div', {class: 'ramp'});
  bar.style.background = `linear-gradient(to right, ${stops.join(', ')})`;
  const ticks = ['⅛', '¼', '½', '1', '2', '4', '8'].map((tick) => el('span', {}, tick));
  return el('div', {'aria-hidden': 'true'}, bar, el('div', {class: 'ramp-ticks'}, ...ticks));
}

const heatView = {
  order: 'number'
};  // lasts when the live page draws another round

// What no target has for itself, level by level.
function commonText(levels) {
  const known = levels.filter((level) => level.common !== null);
  if (known.length === 0) return '';
  const shares = known.map(
      ({label, common}) => (levels.length > 1 ? `${label}: ` : '') + format.percent(common));
  return ` Common to all targets: ${shares.join(', ')}. This is the share of the variance of the
      weights, around an equal share, that the mean row explains.`;
}

function createHeatMap(body, relations) {
  const {levels, clients, clients_per_block: size} = relations;
  if (!(heatView.level < levels.length)) heatView.level = levels.length - 1;
  const view = Object.assign(heatView, {row: -1, col: -1});
  const canvas = el('canvas', {role: 'img', tabindex: 0});
  const key = el('div');
  let order = [];
  let picture = null;

  const show = () => {
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = `${canvas.clientWidth}px`;
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    canvas.height = canvas.width;
    const paint = canvas.getContext('2d');
    paint.imageSmoothingEnabled = false;
    paint.drawImage(picture, 0, 0, canvas.width, canvas.height);
    if (view.row < 0) return;
    const cell = canvas.width / order.length;
    paint.strokeStyle = darkScheme.matches ? '#fff' : '#000';
    paint.lineWidth = 2 * ratio;
    paint.strokeRect(view.col * cell, view.row * cell, cell, cell);
  };
  const draw = () => {
    const {label, weights, own} = levels[view.level];
    order = orderOf(weights, view.order);
    picture = paintWeights(weights, order);
    fill(key, ramp());
    canvas.setAttribute(
        'aria-label',
        `
        Weights of ${weights.length} by ${weights.length} rows and columns of clients,
        ${label}. Mean weight of oneself: ${format.shares(own)} an equal
        share. Arrow keys go from cell to cell.`
            .replace(/\s+/g, ' ')
            .trim());
    show();
  };

  const nameOf = (block) => {
    const [first, last] = [block * size + 1, Math.min((block + 1) * size, clients)];
    return last > first ? `clients ${first}–${last}` : `client ${first}`;
  };
  const goTo = (row, col, event) => {
    const within = (i) => Math.max(-1, Math.min(order.length - 1, i));
    [view.row, view.col] = [within(row), within(col)];
    show();
    if (view.row < 0 || view.col < 0) {
      tooltip.hide();
      return;
    }
    const [target, candidate] = [order[view.row], order[view.col]];
    const shares = levels[view.level].weights[target][candidate];
    const isOwn = target === candidate && size === 1;
    const title =
        isOwn ? `${nameOf(target)}, of itself` : `${nameOf(target)}, of ${nameOf(candidate)}`;
    const lines = [
      {label: 'weight', value: format.percent(shares / clients)},
      {label: 'in equal shares', value: format.shares(shares)},
    ];
    const box = canvas.getBoundingClientRect();
    const middle = (i) => ((i + 0.5) * box.width) / order.length;
    tooltip.show(
        title, lines, event ? event.clientX : box.left + middle(view.col),
        event ? event.clientY : box.top + middle(view.row));
  };
  const follow = (event) => {
    const box = canvas.getBoundingClientRect();
    const cell = box.width / order.length;
    goTo(
        Math.floor((event.clientY - box.top) / cell), Math.floor((event.clientX - box.left) / cell),
        event);
  };
  canvas.addEventListener('pointermove', follow);
  canvas.addEventListener('pointerdown', follow);
  canvas.addEventListener('pointerleave', () => goTo(-1, -1));
  canvas.addEventListener('blur', () => goTo(-1, -1));
  canvas.addEventListener('keydown', (event) => {
    const steps = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]};
    if (!(event.key in steps)) return;
    const [down, right] = view.row < 0 ? [1, 1] : steps[event.key];
    goTo(Math.max(0, view.row + down), Math.max(0, view.col + right));
    event.preventDefault();
  });
  darkScheme.onchange = draw;

  const choose = (name) => (value) => {
    view[name] = value;
    draw();
  };
  const contents = levels.map((level, i) => [i, `${i + 1}: ${level.contents}`]);
  const orders = [['number', 'By number'], ['drawn', 'Most drawn on first']];
  body.append(
      el('div', {class: 'controls'},
         levels.length > 1 ? choice('Level', contents, view.level, choose('level')) : null,
         choice('Clients', orders, view.order, choose('order'))),
      el('div', {class: 'heat'}, el('div', {class: 'axis-name y'}, 'target'), canvas, el('div'),
         el('div', {class: 'axis-name'}, 'candidate'), el('div'), key),
      el('p', {class: 'note'},
         `
      A row is a target, a column a candidate: how much of what the target receives comes from the
      candidate, in equal shares (1: all ${format.count(clients)} clients alike)${
             relations.has_hierarchy ? ', on the mean over the groups of the level' :
                                       ''}. The diagonal is what
      clients take of their own.${commonText(levels)}${
             size > 1 ? ` Every cell is the mean over ${size} × ${size} clients.` : ''}`));
  onWidth(canvas, () => (picture ? show() : draw()));
}

// Where time and bytes went: stacked bars, a row per group.
const kRow = 46;  // pixels

// data: {title, rows: [{label, segments: [{name, value, index}]}], text, tick}
function drawBars(svg, width, height, data) {
  const [left, right] = [2, width - 24];
  const totals =
      data.rows.map((row) => row.segments.reduce((sum, segment) => sum + segment.value, 0));
  const x = d3.scaleLinear().domain([0, Math.max(...totals) || 1]).range([left, right]);
  const marks = [];
  data.rows.forEach((row, i) => {
    const top = i * kRow;
    add(svg, 'text', {class: 'strong', x: left, y: top + 14}, row.label)
        .append('tspan')
        .attr('class', 'muted')
        .attr('dx', 8)
        .text(data.text(totals[i]));
    let from = 0;
    for (const segment of row.segments) {
      const [begin, end] = [x(from), x(from + segment.value)];
      from += segment.value;
      const gap = end - begin > 3 ? 1 : 0;
      const box = {x: begin, y: top + 20, width: end - begin - gap, height: 18};
      add(svg, 'rect', {...box, fill: color(segment.index)});
      const share = format.percent(segment.value / (totals[i] || 1));
      const lines = [
        {label: segment.name, value: data.text(segment.value)},
        {label: 'of all', value: share},
      ];
      marks.push({x: (begin + end) / 2, y: top + 29, begin, end, top, title: row.label, lines});
    }
  });
  const tick = (value) => (value === 0 ? '0' : data.tick(value, x.domain()[1]));
  axisBottom(svg, x, height - 26, Math.min(6, Math.max(2, width / 90)), tick);
  const isAt = (mark, px, py) =>
      px >= mark.begin && px <= mark.end && py >= mark.top + 16 && py <= mark.top + 42;
  addCursor(svg, marks, (px, py) => marks.findIndex((mark) => isAt(mark, px, py)));
}

// update(data, names) with the names of all segments.
function barFigure(parent) {
  const heading = el('h3');
  const key = el('div');
  const figure = el('figure', {}, heading, key);
  parent.append(figure);
  const chart = makeChart(figure, (data) => data.rows.length * kRow + 32, drawBars);
  return (data) => {
    heading.textContent = data.title;
    const isAlone = data.rows.length === 1;
    fill(key, legend(data.rows[0].segments.map((segment) => ({
                                                 label: segment.name,
                                                 index: segment.index,
                                                 value: isAlone ? data.text(segment.value) : '',
                                               }))));
    const said = data.rows.map((row) => {
      const parts = row.segments.map((segment) => `${segment.name} ${data.text(segment.value)}`);
      return `${row.label}: ${parts.join(', ')}`;
    });
    chart.update(data, `${data.title}. ${said.join('. ')}.`);
  };
}

function inOrder(names, order) {
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length - 1.5);
  return [...names].sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}

// A row per group that has begun, of the means of pick(run): {name: value}. All rows have the same
// segments.
function toBars(pick, order, rest) {
  const begun = groups.filter((group) => group.runs.some((run) => run.rounds.length > 0));
  const rows = begun.map((group) => ({label: group.label, values: meansByKey(group, pick)}));
  const keys = rows.flatMap(({values}) => Object.keys(values).filter((name) => values[name] > 0));
  const names = inOrder(new Set(keys), order);
  // What has no name of its own is grey.
  const segmentsOf = (values) => names.map(
      (name, i) =>
          ({name: words(name), value: values[name] || 0, index: name === 'other' ? 7 : i}));
  return {...rest, rows: rows.map(({label, values}) => ({label, segments: segmentsOf(values)}))};
}

function createTime(body) {
  const view = {mode: 'run'};
  const order = ['local_training', 'query', 'server', 'fine_tuning', 'evaluation', 'other'];
  const modes = [['run', 'Whole run'], ['round', 'Per round']];
  const controls = el('div', {class: 'controls'});
  body.append(controls);
  const figure = barFigure(body);
  body.append(el('p', {class: 'note'}, `
      Wall-clock time of the simulation, in which all clients share one machine. Other is loading,
      checkpoints and the like.${hasSeeds ? ' Means over seeds.' : ''}`));
  const secondsPer = (run) => {
    const seconds = secondsOf(run);
    const parts = view.mode === 'round' ? run.rounds.length : 1;
    return Object.fromEntries(
        Object.entries(seconds).map(([phase, value]) => [phase, value / parts]));
  };
  const update = () => {
    const title = view.mode === 'run' ? 'Time by phase, whole run' : 'Time by phase, per round';
    const data = toBars(secondsPer, order, {title, text: format.seconds, tick: format.secondTick});
    if (data.rows.length > 0) figure(data);
  };
  controls.append(choice('Of', modes, view.mode, (mode) => {
    view.mode = mode;
    update();
  }));
  return update;
}

function createTraffic(body) {
  const panels = el('div', {class: 'panels'});
  const order = ['start', 'train', 'query', 'finetune', 'update', 'mix'];
  const titles = {up: 'Up, from clients to server', down: 'Down, from server to clients'};
  const figures = Object.keys(titles).map((direction) => [direction, barFigure(panels)]);
  body.append(panels, el('p', {class: 'note'}, `
      Bytes on the wire by kind of message, per client and round: means over clients and rounds.
      Evaluation is not counted.`));
  return () => {
    for (const [direction, figure] of figures) {
      const data = toBars((run) => bytesOf(run, direction), order, {
        title: titles[direction],
        text: format.bytes,
        tick: format.byteTick,
      });
      if (data.rows.length > 0) figure(data);
    }
  };
}

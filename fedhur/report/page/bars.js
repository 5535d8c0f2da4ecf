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

// A row per group that has begun, all with the same segments.
function toBars({names, colors, groups: shown, values}, rest) {
  const segmentsOf = (row) => row.map((value, i) => ({name: names[i], value, index: colors[i]}));
  const rows = values.map((row, i) => ({label: groups[shown[i]].label, segments: segmentsOf(row)}));
  return {...rest, rows};
}

function createTime(body) {
  const modes = [['seconds', 'Whole run'], ['round_seconds', 'Per round']];
  const titles = {
    seconds: 'Time by phase, whole run',
    round_seconds: 'Time by phase, per round',
  };
  let mode = 'seconds';
  const controls = el('div', {class: 'controls'});
  body.append(controls);
  const figure = barFigure(body);
  body.append(el('p', {class: 'note'}, `
      Wall-clock time of the simulation, in which all clients share one machine. Other is loading,
      checkpoints and the like.${hasSeeds ? ' Means over seeds.' : ''}`));
  const update = () => {
    const texts = {title: titles[mode], text: format.seconds, tick: format.secondTick};
    const data = toBars(report[mode], texts);
    if (data.rows.length > 0) figure(data);
  };
  controls.append(choice('Of', modes, mode, (next) => {
    mode = next;
    update();
  }));
  return update;
}

function createTraffic(body) {
  const panels = el('div', {class: 'panels'});
  const titles = {up: 'Up, from clients to server', down: 'Down, from server to clients'};
  const figures = Object.keys(titles).map((direction) => [direction, barFigure(panels)]);
  body.append(panels, el('p', {class: 'note'}, `
      Bytes on the wire by kind of message, per client and round: means over clients and rounds.
      Evaluation is not counted.`));
  return () => {
    for (const [direction, figure] of figures) {
      const texts = {title: titles[direction], text: format.bytes, tick: format.byteTick};
      const data = toBars(report[direction], texts);
      if (data.rows.length > 0) figure(data);
    }
  };
}

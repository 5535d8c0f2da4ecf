// For whom and for which items the recommendations are good, at the best rounds.
// data: {bins: [{label, size, title, few}], series: [{label, index, values}], text, tick, xName,
// asColumns}; a value is {mean, deviation} or null.
function drawBins(svg, width, height, data) {
  const margin = {top: 12, right: 12, bottom: 58, left: 50};
  const bottom = height - margin.bottom;
  const x =
      d3.scaleBand().domain(data.bins.map((_, i) => i)).range([margin.left, width - margin.right]);
  const values = data.series.flatMap((series) => series.values.filter(Boolean));
  const top = Math.max(...values.map((value) => value.mean + value.deviation), 1e-9);
  const y = d3.scaleLinear().domain([0, Math.min(1, top)]).nice(5).range([bottom, margin.top]);
  axisLeft(svg, y, margin.left, width - margin.right, 5, data.tick);
  axisName(svg, data.xName, width - margin.right, height - 4);
  const center = (i) => x(i) + x.bandwidth() / 2;
  const isTight = x.step() < 62;
  data.bins.forEach((bin, i) => {
    const line = isTight && i % 2 === 1 ? 31 : 17;
    add(svg, 'text', {class: 'strong middle', x: center(i), y: bottom + line}, bin.label);
    if (!isTight) add(svg, 'text', {class: 'middle', x: center(i), y: bottom + 33}, bin.size);
  });

  const room = Math.min(x.bandwidth() * 0.7, (data.asColumns ? 44 : 7) * data.series.length);
  const step = room / data.series.length;
  data.series.forEach((series, s) => {
    const offset = (s + 0.5) * step - room / 2;
    const points = series.values.map(
        (value, i) => value && {x: center(i) + offset, few: data.bins[i].few, ...value});
    if (data.asColumns) {
      drawColumns(svg, points, y, step, series.index);
    } else {
      drawDots(svg, points, y, series.index, data.series.length > 1);
    }
    for (const p of points.filter((point) => point && point.deviation > 0)) {
      const [low, high] = [Math.max(0, p.mean - p.deviation), p.mean + p.deviation];
      const stroke = data.asColumns ? 'var(--ink)' : color(series.index);
      add(svg, 'line', {x1: p.x, x2: p.x, y1: y(low), y2: y(high), stroke, 'stroke-width': 1.5});
    }
  });
  const marks = data.bins.map((bin, i) => {
    const here = data.series.filter((series) => series.values[i]);
    const lines = here.map(
        ({label, values: own}) =>
            ({label, value: plusMinus(own[i].mean, own[i].deviation, data.text)}));
    return {x: center(i), y: margin.top + 30, title: bin.title, lines};
  });
  addCursor(svg, marks, (px) => nearest(marks, px));
}
function drawDots(svg, points, y, index, isDashed) {
  const stroke = color(index);
  const line = d3.line().defined(Boolean).x((p) => p.x).y((p) => y(p.mean));
  const pattern = isDashed ? dash(index) : '';
  add(svg, 'path',
      {class: 'line', stroke, 'stroke-dasharray': pattern, opacity: 0.55, d: line(points)});
  for (const p of points.filter(Boolean)) {
    const kind = p.few ? {class: 'ring'} : {fill: stroke};
    add(svg, 'circle', {cx: p.x, cy: y(p.mean), r: 4, stroke, ...kind});
  }
}
function drawColumns(svg, points, y, width, index) {
  for (const p of points.filter(Boolean)) {
    const box = {x: p.x - width / 2 + 1, y: y(p.mean), height: y(0) - y(p.mean)};
    add(svg, 'rect', {...box, width: Math.max(1, width - 2), fill: color(index)});
  }
}

function binFigure(parent, title, data, note) {
  const figure = el('figure', {}, el('h3', {}, title));
  parent.append(figure);
  const said = data.series.map((series) => {
    const parts = data.bins.map((bin, i) => {
      const value = series.values[i];
      return `${bin.label} ${value ? data.text(value.mean) : 'none'}`;
    });
    return `${series.label}: ${parts.join(', ')}`;
  });
  makeChart(figure, 260, drawBins).update(data, `${title}. ${said.join('. ')}.`);
  figure.append(el('figcaption', {}, note));
}

// A chart of the model as drawBins() takes it.
function toBins({bins, groups: shown, values}, rest) {
  const valueOf = (value) => value && {mean: value[0], deviation: value[1]};
  const series = values.map((row, i) => ({
                              label: groups[shown[i]].label,
                              index: shown[i],
                              values: row.map(valueOf),
                            }));
  return {bins, series, ...rest};
}

function createUsers(body) {
  const {activity, popularity, headline} = report.inside;
  const place = el('div');
  const panels = el('div', {class: 'panels'});
  const draw = (i) => {
    place.replaceChildren();
    binFigure(
        place, `Test ${activity[i].title} by activity of users`,
        toBins(activity[i], {text: format.metric, tick: null, xName: 'training rows of a user'}), `
        Users by how many training rows they have; each bin is twice as wide as the one before. A
        hollow dot is the mean of fewer than ten users.`);
  };
  const options = activity.map(({title}, i) => [i, title]);
  const controls = el('div', {class: 'controls'}, selection('Metric', options, headline, draw));
  body.append(controls, groupLegend('line'), place, panels);
  draw(headline);
  const shares = {
    asColumns: true,
    text: format.percent,
    tick: format.percentTick,
    xName: 'items, by training rows'
  };
  for (const chart of popularity) binFigure(panels, chart.title, toBins(chart, shares), chart.note);
}

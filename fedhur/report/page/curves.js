// Numbers by round: a line per group, with a band where there are several seeds.

// data: {series: [{label, index, points: [{x, y, low, high}], dots: [{x, y}]}], best, text, from};
// what lies below `from` is cut off.
function drawCurves(svg, width, height, data) {
  const drawn = data.series.filter((series) => series.points.length > 0);
  const points = drawn.flatMap((series) => series.points);
  if (points.length === 0) {
    axisName(svg, 'No round is finished yet.', width / 2, height / 2, 'middle');
    addCursor(svg, [], () => -1);
    return;
  }
  const margin = {top: 14, right: 14, bottom: 42, left: 52};
  const bottom = height - margin.bottom;
  const dots = drawn.flatMap((series) => series.dots);
  const last = Math.max(2, ...points.map((p) => p.x), ...dots.map((p) => p.x));
  const x = d3.scaleLinear().domain([1, last]).range([margin.left, width - margin.right]);
  const values = [...points.flatMap((p) => [p.low, p.high]), ...dots.map((p) => p.y)];
  const high = Math.max(...values);
  const low = Math.max(data.from, Math.min(...values));
  const slack = (high - low || Math.abs(high) || 1) * 0.06;
  const y = d3.scaleLinear().domain([low - slack, high + slack]).range([bottom, margin.top]);
  axisLeft(svg, y, margin.left, width - margin.right, 5);
  axisBottom(svg, x, bottom, Math.min(8, last - 1, width / 70), format.count);
  axisName(svg, 'round', width - margin.right, height - 2);
  const rule = (parent, at) =>
      add(parent, 'line', {class: 'rule', x1: x(at), x2: x(at), y1: margin.top, y2: bottom});
  if (data.best) {
    rule(svg, data.best);
    const isLate = x(data.best) > width / 2;
    axisName(
        svg, `best round ${data.best}`, x(data.best) + (isLate ? -5 : 5), bottom - 6,
        isLate ? 'end' : 'start');
  }

  const inner = clipped(svg, margin.left, margin.top - 8, width - margin.right + 8, bottom);
  for (const series of drawn) {
    const stroke = color(series.index);
    const line = d3.line().x((p) => x(p.x)).y((p) => y(p.y));
    const band = d3.area().x((p) => x(p.x)).y0((p) => y(p.low)).y1((p) => y(p.high));
    add(inner, 'path', {class: 'band', fill: stroke, d: band(series.points)});
    const pattern = data.series.length > 1 ? dash(series.index) : '';
    const d = line(series.points);
    add(inner, 'path', {class: 'line', stroke, 'stroke-dasharray': pattern, d});
    if (series.points.length === 1) {  // a line of one point is not to be seen
      const [only] = series.points;
      add(inner, 'circle', {cx: x(only.x), cy: y(only.y), r: 3.5, fill: stroke});
    }
    for (const dot of series.dots) {
      add(inner, 'circle', {class: 'ring', cx: x(dot.x), cy: y(dot.y), r: 4, stroke});
    }
  }

  const rounds = [...new Set(points.map((p) => p.x))].sort((a, b) => a - b);
  const marks = rounds.map((round) => {
    const here = drawn.map((series) => ({series, p: series.points.find((p) => p.x === round)}))
                     .filter((entry) => entry.p);
    const lines = here.map(
        ({series, p}) => ({label: series.label, value: plusMinus(p.y, p.high - p.y, data.text)}));
    const top = Math.min(...here.map((entry) => y(entry.p.y)));
    return {x: x(round), y: top, round, here, title: `Round ${round}`, lines};
  });
  const cursor = add(svg, 'g');
  addCursor(svg, marks, (px) => nearest(marks, px), (mark) => {
    cursor.selectAll('*').remove();
    if (!mark) return;
    rule(cursor, mark.round);
    for (const {series, p} of mark.here) {
      if (p.y < low - slack) continue;
      add(cursor, 'circle', {cx: mark.x, cy: y(p.y), r: 4, fill: color(series.index)});
    }
  });
}

function describeCurves(name, data) {
  const parts = data.series.filter((series) => series.points.length > 0).map((series) => {
    const [first, last] = [series.points[0], series.points[series.points.length - 1]];
    return `${series.label} from ${data.text(first.y)} in round ${first.x} to ${
        data.text(last.y)} in round ${last.x}`;
  });
  return `${name} by round: ${parts.join('; ') || 'no round yet'}.`;
}

// A figure with a title and curves; update() draws them from the present data. `current()` tells
// {name, curve, text, marksBest, isCloseUp}.
function curveFigure(parent, height, current, note) {
  const title = el('h3');
  const figure = el('figure', {}, title);
  parent.append(figure);
  const chart = makeChart(figure, height, drawCurves);
  if (note) figure.append(el('figcaption', {}, note));
  return () => {
    const {name, curve, text, marksBest, isCloseUp} = current();
    title.textContent = name;
    const series = curve.series.map(
        ({points, bests}, index) => ({
          label: groups[index].label,
          index,
          points: points.map(([x, y, spread = 0]) => ({x, y, low: y - spread, high: y + spread})),
          dots: marksBest && hasSeveral ? bests.map(([x, y]) => ({x, y})) : [],
        }));
    const values = series.flatMap((one) => one.points.map((p) => p.y));
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const data = {
      text,
      series,
      best: marksBest ? report.best_round : 0,
      from: isCloseUp && values.length > 0 ? high - (high - low) / 4 : -Infinity,
    };
    chart.update(data, describeCurves(name, data));
  };
}

function groupLegend(kind) {
  if (!isComparison) return '';
  return legend(groups.map(({label, runs}, index) => {
    const seeds = runs.length > 1 ? ` (${runs.length} seeds)` : '';
    return {label: label + seeds, index, kind};
  }));
}

function createQuality(body) {
  const view = {metric: '', range: isComparison ? 'top' : 'all'};
  const controls = el('div', {class: 'controls'});
  const panels = el('div', {class: 'panels'});
  const meaning = el('span');
  const marks = hasSeveral ? ' Circles are the best rounds of single runs.' : '';
  body.append(controls, groupLegend('line'), panels, el('p', {class: 'note'}, meaning, `
      Means over users, whose lists are ranked among all items. The best round is chosen by the
      validation split.${seedsNote}${marks}`));
  const isShown = ({label}) => label === view.metric;
  const figures = [['Validation', 'valid'], ['Test', 'test']].map(
      ([split, part]) => curveFigure(panels, 270, () => ({
                                                    name: `${split} ${view.metric}`,
                                                    curve: report[part].find(isShown),
                                                    text: format.metric,
                                                    marksBest: true,
                                                    isCloseUp: view.range === 'top',
                                                  })));
  const draw = () => {
    const {label, note} = report.valid.find(isShown);
    meaning.textContent = note ? `${label}: ${note}` : '';
    figures.forEach((update) => update());
  };
  const choose = (key) => (value) => {
    view[key] = value;
    draw();
  };
  let offered = '';
  return () => {
    const labels = report.valid.map(({label}) => label);
    if (labels.join() !== offered) {
      offered = labels.join();
      if (!labels.includes(view.metric)) view.metric = labels[report.headline];
      const options = labels.map((label) => [label, label]);
      const ranges = [['all', 'All'], ['top', 'Top quarter']];
      fill(
          controls, selection('Metric', options, view.metric, choose('metric')),
          choice('Range', ranges, view.range, choose('range')));
    }
    draw();
  };
}

// The quality of one round each.
function createOutcome(body) {
  const parts = [['validation', 'valid'], ['test', 'test']];
  const columns = groups.flatMap(
      ({label}) => parts.map(([split]) => isComparison ? `${label}, ${split}` : split));
  const rows = report.valid.map(
      ({label}, metric) => ({
        header: label,
        cells: groups.flatMap((_, group) => parts.map(([, part]) => {
          const [point] = report[part][metric].series[group].points;
          return {
            content: point ? plusMinus(point[1], point[2] || 0, format.metric) : '–',
            number: true
          };
        })),
      }));
  body.append(
      table(['', ...columns], rows, 'Quality by metric'),
      el('p', {class: 'note'},
         `
      Means over users, whose lists are ranked among all items. There is one round, so there is
      nothing to choose by the validation split.${
             hasSeeds ? ' Mean ± standard deviation over seeds.' : ''}`));
}

function createMeasures(body) {
  const panels = el('div', {class: 'panels small'});
  const note = `What the server noted in every round.${seedsNote}`;
  body.append(groupLegend('line'), panels, el('p', {class: 'note'}, note));
  let figures = [];
  let offered = null;
  return () => {
    const names = report.measures.map(({label}) => label).join();
    if (names !== offered) {
      offered = names;
      panels.replaceChildren();
      figures = report.measures.map((measure, i) => {
        const {label, note: text} = measure;
        const current = () => ({name: label, curve: report.measures[i], text: format.short});
        return curveFigure(panels, 190, current, text);
      });
    }
    figures.forEach((update) => update());
  };
}

// How the weights between clients are spread.

// data: {edges, levels: [{label, index, shares, own}]}: shares of the weights by bin.
function drawSpread(svg, width, height, data) {
  const margin = {top: 26, right: 14, bottom: 42, left: 46};
  const bottom = height - margin.bottom;
  const used = data.edges.map((_, bin) => data.levels.some((level) => level.shares[bin] > 0));
  const first = Math.max(1, used.indexOf(true));  // bin 0 is told in words
  const bins = d3.range(first, Math.max(first, used.lastIndexOf(true)) + 1);
  const endOf = (bin) => data.edges[bin] * Math.SQRT2;
  const own = data.levels.map((level) => level.own).filter((shares) => shares > 0);
  const low = Math.min(data.edges[first], 0.5, ...own);
  const high = Math.max(endOf(bins[bins.length - 1]), 2, ...own);
  const x = d3.scaleLog().base(2).domain([low, high]).range([margin.left, width - margin.right]);
  const most = Math.max(...data.levels.flatMap((level) => level.shares.slice(1)), 0.01);
  const y = d3.scaleLinear().domain([0, most]).nice(4).range([bottom, margin.top]);
  axisLeft(svg, y, margin.left, width - margin.right, 4, format.percentTick);
  const octaves = d3.range(Math.ceil(Math.log2(low)), Math.floor(Math.log2(high)) + 1);
  const step = Math.ceil(octaves.length / Math.max(3, width / 60));
  const ticks = octaves.filter((octave) => octave % step === 0).map((octave) => 2 ** octave);
  axisBottom(svg, x, bottom, ticks, (v) => (v < 1 ? `1/${Math.round(1 / v)}` : String(v)));
  axisName(svg, 'weight in equal shares', width - margin.right, height - 2);
  const rule = (at) =>
      add(svg, 'line', {class: 'rule', x1: at, x2: at, y1: margin.top, y2: bottom});
  rule(x(1));
  for (const level of data.levels) {
    const stroke = color(level.index);
    const steps = bins.flatMap(
        (bin) => [data.edges[bin], endOf(bin)].map((shares) => [x(shares), y(level.shares[bin])]));
    const pattern = data.levels.length > 1 ? dash(level.index) : '';
    add(svg, 'path', {class: 'line', stroke, 'stroke-dasharray': pattern, d: d3.line()(steps)});
    if (level.own > 0) {
      const transform = `translate(${x(level.own)},${margin.top - 4})`;
      add(svg, 'path', {d: 'M0,0l-5,-9h10z', transform, fill: stroke});
    }
  }
  const marks = bins.map((bin) => {
    const [from, to] = [data.edges[bin], endOf(bin)].map(format.shares);
    const lines =
        data.levels.map(({label, shares}) => ({label, value: format.percent(shares[bin])}));
    const middle = x(data.edges[bin] * 2 ** 0.25);
    return {x: middle, y: margin.top, title: `${from} to ${to} an equal share`, lines};
  });
  const cursor = rule(0).attr('visibility', 'hidden');
  addCursor(svg, marks, (px) => nearest(marks, px), (mark) => {
    cursor.attr('visibility', mark ? 'visible' : 'hidden');
    if (mark) cursor.attr('x1', mark.x).attr('x2', mark.x);
  });
}

function createSpread(body, relations) {
  const levels =
      relations.levels.map(({label, own, shares}, index) => ({label, index, own, shares}));
  const ownText = (level) => `own ${format.shares(level.own)}`;
  body.append(legend(levels.map((level) => ({
                                  label: level.label,
                                  index: level.index,
                                  kind: levels.length > 1 ? 'line' : 'box',
                                  value: ownText(level),
                                }))));
  const figure = el('figure');
  body.append(figure);
  const said = levels.map((level) => `${level.label}: ${ownText(level)}`);
  makeChart(figure, 260, drawSpread)
      .update(
          {edges: relations.bins_from, levels},
          `Weights given to other clients by size, in equal shares. ${said.join('. ')}.`);
  const zeros = levels.filter((level) => level.shares[0] > 0.0005)
                    .map((level) => format.percent(level.shares[0]));
  figure.append(el(
      'figcaption', {},
      `
      Share of all pairs of different clients by the weight that one gives to the other, two bins to
      a doubling. The dotted line is an equal share; triangles are the mean weight of oneself.${
          zeros.length > 0 ? ` Left out are weights of nearly zero: ${zeros.join(', ')}.` : ''}`));
}

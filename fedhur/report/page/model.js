// What the page knows: runs, grouped where they differ in nothing but the seed.
const report = JSON.parse(document.getElementById('data').textContent);
const evaluationKinds = ['evaluate', 'keep'];  // messages that are no part of a method

function metricKey(name) {
  const [kind, k] = name.split('@');
  const order = ['ndcg', 'recall', 'mrr', 'precision', 'f1'].indexOf(kind);
  return [Number(k) || 0, order < 0 ? 9 : order];
}
function byMetricKey(a, b) {
  const [ka, oa] = metricKey(a);
  const [kb, ob] = metricKey(b);
  return ka - kb || oa - ob;
}
function metricLabel(name) {
  const [kind, k] = name.split('@');
  const names = {ndcg: 'NDCG', recall: 'Recall', mrr: 'MRR', precision: 'Precision', f1: 'F1'};
  return `${names[kind] || kind}${k ? `@${k}` : ''}`;
}
function metricNames() {
  const names = new Set();
  for (const run of report.runs)
    for (const round of run.rounds) Object.keys(round.valid).forEach((name) => names.add(name));
  return [...names].sort(byMetricKey);
}
function headlineMetric() {
  const names = metricNames();
  return names.includes('ndcg@10') || names.length === 0 ? 'ndcg@10' : names[0];
}

// The method, and what sets the group apart from others of the same method.
function labelOf(runs, all) {
  const first = report.runs[runs[0]];
  const rivals =
      all.filter((group) => group !== runs && report.runs[group[0]].method === first.method);
  if (rivals.length === 0) return first.method;
  const own = report.differences.filter(
      (difference) =>
          rivals.some((group) => difference.values[group[0]] !== difference.values[runs[0]]));
  if (own.length === 0 || own.length > 2) return first.name;
  const settings = own.map(
      (difference) =>
          `${difference.key.split('.').pop()} ${difference.values[runs[0]].replace(/"/g, '')}`);
  return `${first.method}, ${settings.join(', ')}`;
}
const groups = report.groups.map(
    (runs, index) =>
        ({index, runs: runs.map((i) => report.runs[i]), label: labelOf(runs, report.groups)}));
const isComparison = groups.length > 1;
const hasSeeds = groups.some((group) => group.runs.length > 1);
const hasSeveral = isComparison || hasSeeds;
const seedsNote = hasSeeds ? ' Lines are means over seeds, bands one standard deviation.' : '';

// Mean and deviation of pick(run) over the runs of a group that have it.
function summarize(group, pick) {
  const values = group.runs.map(pick).filter(isNumber);
  return values.length === 0 ?
      null :
      {mean: mean(values), deviation: deviation(values), count: values.length};
}

// A point per round that all runs of the group have reached; beyond it a mean would jump.
function curve(group, pick) {
  const length = Math.min(...group.runs.map((run) => run.rounds.length));
  const points = [];
  for (let i = 0; i < length; i += 1) {
    const values = group.runs.map((run) => pick(run.rounds[i])).filter(isNumber);
    if (values.length < group.runs.length) continue;
    const center = mean(values);
    const spread = deviation(values);
    points.push(
        {x: group.runs[0].rounds[i].round, y: center, low: center - spread, high: center + spread});
  }
  return points;
}

// Seconds by phase over a whole run. What no phase claims (loading, checkpoints) is "other".
function secondsOf(run) {
  const sums = {};
  for (const round of run.rounds) {
    for (const [phase, seconds] of Object.entries(round.seconds))
      sums[phase] = (sums[phase] || 0) + seconds;
  }
  const known = Object.values(sums).reduce((sum, x) => sum + x, 0);
  const total = run.result.seconds.total;
  if (isNumber(total) && total > known) sums.other = total - known;
  return sums;
}
// Bytes per client and round by message kind.
function bytesOf(run, direction) {
  const sums = {};
  for (const round of run.rounds) {
    for (const [kind, bytes] of Object.entries(round.bytes)) {
      if (!evaluationKinds.includes(kind)) sums[kind] = (sums[kind] || 0) + bytes[direction];
    }
  }
  for (const kind of Object.keys(sums))
    sums[kind] /= run.rounds.length * Math.max(1, run.result.clients);
  return sums;
}
// pick(run) is an object of numbers; the means of each of its keys.
function meansByKey(group, pick) {
  const all = group.runs.filter((run) => run.rounds.length > 0).map(pick);
  const keys = [...new Set(all.flatMap((numbers) => Object.keys(numbers)))];
  return Object.fromEntries(
      keys.map((key) => [key, mean(all.map((numbers) => numbers[key] || 0))]));
}

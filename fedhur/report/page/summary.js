// The beginning and the end of the page: what was run, what came out, with which settings.
function stateOf(run) {
  if (run.finished) return ['finished', ''];
  const done = run.rounds.length === 0 ? 'before its first round' :
                                         `after round ${run.rounds[run.rounds.length - 1].round}`;
  const sittings = run.manifest.sittings || [];
  const hasStopped = sittings.length > 0 && sittings[sittings.length - 1].end;
  if (report.live && !hasStopped) return [`live: round ${run.rounds.length + 1}`, 'open'];
  return [`${hasStopped ? 'stopped' : 'not finished:'} ${done}`, 'open'];
}
function sizeOf(run) {
  const {users, items, clients} = run.result;
  return [
    plural(users, 'user'), plural(items, 'item'), clients > 0 ? plural(clients, 'client') : null
  ].filter(Boolean)
      .join(', ');
}
function tile(value, label) {
  return el('div', {class: 'tile'}, el('b', {}, value), el('span', {}, label));
}

function tilesOfRun(run) {
  const {result} = run;
  if (run.rounds.length === 0) return [];
  const names = ['ndcg', 'recall', 'mrr']
                    .map(
                        (kind) => Object.keys(result.test)
                                      .filter((name) => name.startsWith(`${kind}@`))
                                      .sort(byMetricKey))
                    .map((all) => all.find((name) => name.endsWith('@10')) || all[0])
                    .filter(Boolean);
  return [
    ...names.map((name) => tile(format.metric(result.test[name]), `test ${metricLabel(name)}`)),
    tile(`${result.best_round} of ${result.rounds}`, 'best round'),
    tile(format.seconds(result.seconds.total), 'in all'),
    tile(format.bytes(result.bytes_per_client_round.up), 'up per client and round'),
    tile(format.bytes(result.bytes_per_client_round.down), 'down per client and round'),
  ];
}

function comparisonTable() {
  const all = [...new Set(report.runs.flatMap((run) => Object.keys(run.result.test)))];
  const cutoff = (name) => metricKey(name)[0];
  const names = all.filter((name) => cutoff(name) === cutoff(headlineMetric())).sort(byMetricKey);
  const test = (name) => (run) => run.result.test[name];
  const best = (name) =>
      Math.max(...groups.map((group) => summarize(group, test(name))?.mean ?? 0));
  const metricCell = (group, name) => {
    const sum = summarize(group, test(name));
    if (!sum) return {content: '–', number: true};
    const spread = sum.deviation > 0 ? el('small', {}, ` ± ${format.metric(sum.deviation)}`) : '';
    const content = el('span', {}, format.metric(sum.mean), spread);
    return {content, number: true, best: isComparison && sum.mean === best(name)};
  };
  const others = [
    ['best round', (run) => run.result.best_round, format.short],
    ['time', (run) => run.result.seconds.total, format.seconds],
    ['up', (run) => run.result.bytes_per_client_round.up, format.bytes],
    ['down', (run) => run.result.bytes_per_client_round.down, format.bytes],
  ];
  const rows = groups.map((group) => ({
                            header: group.label,
                            cells: [
                              {content: group.runs.map((run) => run.seed).join(', ')},
                              ...names.map((name) => metricCell(group, name)),
                              ...others.map(([, pick, text]) => {
                                const sum = summarize(group, pick);
                                return {content: sum ? text(sum.mean) : '–', number: true};
                              }),
                            ],
                          }));
  const columns = ['', 'seeds', ...names.map(metricLabel), ...others.map(([name]) => name)];
  return table(columns, rows, 'Results by group of runs');
}

function drawTop() {
  const first = report.runs[0];
  const isOne = report.runs.length === 1;
  const datasets = [...new Set(report.runs.map((run) => run.result.data))];
  const methods = [...new Set(report.runs.map((run) => run.method))];
  const title = `${methods.length > 3 ? plural(methods.length, 'method') : methods.join(', ')} on ${
      datasets.join(', ')}`;
  document.title = `${title} · fedhur`;
  const open = report.runs.filter((run) => !run.finished).length;
  const [state, kind] = isOne ? stateOf(first) :
      open > 0                ? [`${open} of ${report.runs.length} runs not finished`, 'open'] :
                                ['all runs finished', ''];
  const lead = isOne ? `${first.name}: seed ${first.seed}, ${sizeOf(first)}, started ${
                           format.time(first.manifest.start)}` :
                       `${plural(report.runs.length, 'run')}; ${sizeOf(first)}`;
  fill(
      document.getElementById('top'), el('h1', {}, title),
      el('p', {class: 'lead'}, el('span', {class: `badge ${kind}`, id: 'state'}, state), lead),
      ...report.warnings.map(
          (warning) =>
              el('p', {class: 'warning', role: 'note'},
                 `${warning[0].toUpperCase()}${warning.slice(1)}.`)),
      isOne ? el('div', {class: 'tiles'}, ...tilesOfRun(first)) : null);
}

function createResults(body) {
  const place = el('div');
  const notes = [
    'On the test split, at the best round of each run, which is chosen by the validation split.',
    hasSeeds ? 'Mean ± standard deviation over seeds.' : '',
    isComparison ? 'The best of a column is green.' : '',
    'Traffic is per client and round.',
  ];
  body.append(place, el('p', {class: 'note'}, notes.join(' ')));
  return () => fill(place, comparisonTable());
}

// Settings that several groups have and that differ between them.
function differenceTable() {
  const firsts = report.groups.map((group) => group[0]);
  const valuesOf = (difference) => firsts.map((run) => difference.values[run]);
  const shared = report.differences.filter(
      (difference) => new Set(valuesOf(difference).filter((value) => value !== '-')).size > 1);
  if (shared.length === 0) return el('p', {}, 'They differ only in settings that one of them has.');
  const rows = shared.map((difference) => ({
                            header: el('code', {}, difference.key),
                            cells: valuesOf(difference).map((content) => ({content})),
                          }));
  return table(['', ...groups.map((group) => group.label)], rows, 'Settings that differ');
}

function settingsOf(group) {
  const {settings} = group.runs[0];
  const keys = Object.keys(settings);
  if (keys.length === 0) {
    return [el('p', {class: 'note'}, 'They were written by another version and cannot be read.')];
  }
  const list = el('ul', {class: 'settings', 'aria-label': `Settings of ${group.label}`});
  const show = (wanted) => {
    const found = keys.filter((key) => `${key} ${settings[key]}`.toLowerCase().includes(wanted));
    const lines =
        found.map((key) => el('li', {}, el('code', {}, key), el('code', {}, settings[key])));
    fill(list, ...lines);
  };
  const search = el('input', {
    type: 'search',
    placeholder: 'Search settings',
    'aria-label': `Search the settings of ${group.label}`,
    oninput: () => show(search.value.toLowerCase()),
  });
  show('');
  return [el('div', {class: 'controls'}, search), list];
}

function createSettings(body) {
  if (isComparison) {
    body.append(el('h3', {}, 'What differs'), differenceTable());
    for (const group of groups) {
      body.append(
          el('details', {}, el('summary', {}, `All of ${group.label}`), ...settingsOf(group)));
    }
  } else {
    body.append(...settingsOf(groups[0]));
  }
  body.append(el('p', {class: 'note'}, `
      Complete: fedhur train --config on the config.toml of a run repeats it bit for bit.`));
}

function factsOf(run) {
  const {manifest, result} = run;
  const threads = new Set((manifest.sittings || []).map((sitting) => sitting.threads));
  return {
    seed: run.seed,
    version: manifest.version,
    compiler: [manifest.compiler, manifest.build].filter(Boolean).join(', '),
    CPU: manifest.cpu,
    threads: [...threads].join(', '),
    started: format.time(manifest.start),
    ended: format.time(manifest.end),
    'peak memory': result.peak_rss_mb > 0 ? `${format.count(result.peak_rss_mb)}${kThin}MB` : '–',
    data: result.data,
    interactions: isNumber(manifest.interactions) ? format.count(manifest.interactions) : '–',
    'data SHA-256': manifest.data_sha256,
  };
}

// What is the same for all runs is said once.
function createEnvironment(body) {
  const place = el('div');
  body.append(place, el('p', {class: 'note'}, `
      Same seed, build and machine give the same results to the last bit, for any number of threads.
      The hash is of the data file as stored.`));
  return () => {
    const facts = report.runs.map(factsOf);
    const names = Object.keys(facts[0]);
    const isCommon = (name) => facts.every((own) => own[name] === facts[0][name]);
    const common = names.filter(isCommon).flatMap(
        (name) => [el('dt', {}, name), el('dd', {}, String(facts[0][name] ?? '–'))]);
    const differing = names.filter((name) => !isCommon(name));
    const rows = report.runs.map(
        (run, i) => ({
          header: run.name,
          cells: differing.map((name) => ({content: String(facts[i][name] ?? '–')})),
        }));
    const rest = differing.length > 0 ? table(['run', ...differing], rows, 'Runs') : null;
    fill(place, el('dl', {}, ...common), rest);
  };
}

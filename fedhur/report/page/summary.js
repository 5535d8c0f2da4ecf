// The beginning and the end of the page: what was run, what came out, with which settings.
const report = JSON.parse(document.getElementById('data').textContent);
const {groups} = report;  // of runs that differ in nothing but the seed
const isComparison = groups.length > 1;
const hasSeveral = report.runs.length > 1;
const hasSeeds = groups.some(({runs}) => runs.length > 1);
const seedsNote = hasSeeds ? ' Lines are means over seeds, bands one standard deviation.' : '';

function drawTop() {
  const tiles = report.results.filter(({tile, cells}) => tile && cells[0] && report.rounds > 0);
  const texts = {...format, number: (x) => `${x} of ${report.rounds}`};
  const warnings = report.warnings.map((text) => `${text[0].toUpperCase()}${text.slice(1)}.`);
  document.title = `${report.title} · fedhur`;
  fill(
      document.getElementById('top'), el('h1', {}, report.title),
      el('p', {class: 'lead'},
         el('span', {class: report.is_open ? 'badge open' : 'badge', id: 'state'}, report.state),
         report.lead),
      ...warnings.map((text) => el('p', {class: 'warning', role: 'note'}, text)),
      hasSeveral ? null : el('div', {class: 'tiles'}, ...tiles.map(({tile, unit, cells}) => {
        const value = el('b', {}, texts[unit](cells[0][0]));
        return el('div', {class: 'tile'}, value, el('span', {}, tile));
      })));
}

function resultTable() {
  const contentOf = (unit, [mean, deviation]) => {
    const text = format[unit === 'number' ? 'short' : unit];
    const hasSpread = unit === 'metric' && deviation > 0;
    const spread = hasSpread ? el('small', {}, ` ± ${text(deviation)}`) : '';
    return el('span', {}, text(mean), spread);
  };
  const rows =
      groups.map(({label, seeds}, i) => ({
                   header: label,
                   cells: [
                     {content: seeds.join(', ')},
                     ...report.results.map(({unit, cells, best}) => ({
                                             content: cells[i] ? contentOf(unit, cells[i]) : '–',
                                             number: true,
                                             best: best[i],
                                           })),
                   ],
                 }));
  const columns = ['', 'seeds', ...report.results.map(({label}) => label)];
  return table(columns, rows, 'Results by group of runs');
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
  return () => fill(place, resultTable());
}

function differenceTable() {
  const {differences} = report;
  if (differences.length === 0) {
    return el('p', {}, 'They differ only in settings that one of them has.');
  }
  const rows = differences.map(({key, values}) => ({
                                 header: el('code', {}, key),
                                 cells: values.map((content) => ({content})),
                               }));
  return table(['', ...groups.map((group) => group.label)], rows, 'Settings that differ');
}

function settingsOf(group) {
  const {settings} = group;
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

// What is the same for all runs is said once.
function createEnvironment(body) {
  const place = el('div');
  body.append(place, el('p', {class: 'note'}, `
      Same seed, build and machine give the same results to the last bit, for any number of threads.
      The hash is of the data file as stored.`));
  return () => {
    const {environment, facts, runs} = report;
    const common =
        environment.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);
    const rows = runs.map(
        (name, i) => ({header: name, cells: facts[i].map(([, value]) => ({content: value}))}));
    const names = facts[0].map(([name]) => name);
    const rest = names.length > 0 ? table(['run', ...names], rows, 'Runs') : null;
    fill(place, el('dl', {}, ...common), rest);
  };
}

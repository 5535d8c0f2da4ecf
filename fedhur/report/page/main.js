// Puts the sections together; the live page calls refresh() when something is new.
const noInside =
    'The run has not written the inside of a round yet; that comes with its first checkpoint.';

// One view at a time, of the groups that have one.
function createViews(body, views, missing, create) {
  if (!views || views.length === 0) {
    body.append(el('p', {class: 'note'}, views ? missing : noInside));
    return;
  }
  const place = el('div');
  const note = el('p', {class: 'note'});
  const show = (index) => {
    place.replaceChildren();
    create(place, views[index]);
    note.textContent = views[index].when;
  };
  const options = views.map((view, i) => [i, groups[view.group].label]);
  if (views.length > 1) {
    const select = selection('Of', options, 0, (index) => show(Number(index)));
    body.append(el('div', {class: 'controls'}, select));
  }
  body.append(place, note);
  show(0);
}

function createRelations(body) {
  const missing = 'Here no client has weights for others.';
  createViews(body, report.inside?.relations, missing, (place, view) => {
    const [left, right] = [el('div'), el('div', {}, el('h3', {}, 'Weights by size'))];
    place.append(el('div', {class: 'panels'}, left, right));
    createHeatMap(left, view);
    createSpread(right, view);
  });
}
function createItems(body) {
  const inside = report.inside;
  const views = inside && [...inside.hierarchies, ...inside.neighbors];
  createViews(body, views, 'Here items are not grouped.', (place, view) => {
    if (view.root)
      createHierarchyView(place, view.root);
    else
      createNeighborsView(place, view.neighbors);
  });
}
function createUsersOrNote(body) {
  if (report.inside)
    createUsers(body);
  else
    body.append(el('p', {class: 'note'}, noInside));
}

// A section is made by its function, which may return another that draws it again with every round.
// Those of the inside are made anew when there is a new one.
const sections = [
  {id: 'quality', title: 'Quality', create: report.has_curves ? createQuality : createOutcome},
  {id: 'users', title: 'Users and items', create: createUsersOrNote, isInside: true},
  {id: 'relations', title: 'Who helps whom', create: createRelations, isInside: true},
  {id: 'items', title: 'Items', create: createItems, isInside: true},
  {id: 'time', title: 'Time', create: createTime},
  {id: 'traffic', title: 'Traffic', create: createTraffic},
  {id: 'measures', title: 'Inside the rounds', create: createMeasures},
  {id: 'settings', title: 'Settings', create: createSettings},
  {id: 'environment', title: 'Environment and data', create: createEnvironment},
];
if (!report.has_curves && report.measures.length === 0) {
  sections.splice(sections.findIndex(({id}) => id === 'measures'), 1);
}
if (report.runs.length > 1) {
  sections.unshift({id: 'results', title: 'Results', create: createResults});
}

for (const section of sections) {
  const {id, title} = section;
  section.body = el('div');
  const heading = el('h2', {id: `${id}-title`}, title);
  document.getElementById('main').append(
      el('section', {id, 'aria-labelledby': `${id}-title`}, heading, section.body));
  document.getElementById('contents').append(el('a', {href: `#${id}`}, title));
  section.update = section.create(section.body);
}

function refresh(hasNewInside) {
  drawTop();
  for (const section of sections) {
    section.isStale = section.isInside && (hasNewInside || section.isStale);
    // A section with the focus is redrawn later.
    if (section.isStale && !section.body.contains(document.activeElement)) {
      section.isStale = false;
      section.body.replaceChildren();
      section.update = section.create(section.body);
    }
    if (section.update) section.update();
  }
}
refresh(false);

// The groups that items fall into: a map to zoom into, down to the titles.
const kLine = 18;      // pixels, as in page.css
const kExamples = 12;  // titles on a tile, at most

function titleOf([name, title]) {
  return title || name;
}
function groupName(path) {
  return `Group ${path.map((i) => i + 1).join('.')}`;
}

// The most popular items of a group, from all groups within it.
function examplesOf(group) {
  if (!group.examples) {
    const items = group.popular || group.groups.flatMap(examplesOf);
    group.examples = [...items].sort((a, b) => b[2] - a[2]).slice(0, kExamples);
  }
  return group.examples;
}

function tileOf(group, path, box, strength, zoom) {
  const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
  const size = plural(group.items, 'item');
  const titles = examplesOf(group).map(titleOf);
  const short = `${path.map((i) => i + 1).join('.')} · ${format.count(group.items)}`;
  const numLines = Math.max(0, Math.floor((height - 14) / kLine) - 1);  // below the first
  const tile =
      el('button', {
        type: 'button',
        class: 'group',
        title: `${groupName(path)}: ${size}, ${plural(group.training_rows, 'training row')}`,
        'aria-label': `${groupName(path)}, ${size}: ${titles.slice(0, 3).join('; ')}`,
        onclick: () => zoom(path).focus(),
      },
         el('b', {}, width > 170 ? `${groupName(path)} · ${size}` : short),
         ...titles.slice(0, numLines).map((title) => el('div', {}, title)));
  Object.assign(tile.style, {
    left: `${box.x0}px`,
    top: `${box.y0}px`,
    width: `${width}px`,
    height: `${height}px`,
    background: `rgba(var(--shade), ${strength.toFixed(3)})`,
  });
  return tile;
}

function drawMap(map, group, path, zoom) {
  const width = map.clientWidth;
  const height = Math.round(width < 600 ? 480 : Math.min(520, width * 0.5));
  map.style.height = `${height}px`;
  const root = d3.hierarchy({parts: group.groups}, (node) => node.parts)
                   .sum((node) => (node.parts ? 0 : node.items))
                   .sort((a, b) => b.value - a.value);
  d3.treemap()
      .tile(d3.treemapSquarify.ratio(1.3))
      .size([width, height])
      .padding(2)
      .round(true)(root);
  const popularity = (part) => part.training_rows / part.items;
  const most = Math.max(...group.groups.map(popularity)) || 1;
  const strength = d3.scaleSqrt().domain([0, most]).range([0.06, 0.46]);
  fill(map, ...root.children.map((leaf) => {
    const own = [...path, group.groups.indexOf(leaf.data)];
    return tileOf(leaf.data, own, leaf, strength(popularity(leaf.data)), zoom);
  }));
}

function listItems(group) {
  const items = group.popular;
  const all = plural(group.items, 'item');
  const which = items.length < group.items ? `The ${items.length} most popular of ${all}` : all;
  const lines =
      items.map((item) => el('li', {}, titleOf(item), ' ', el('span', {}, format.count(item[2]))));
  return [
    el('p', {class: 'note'}, `${which}, with their training rows:`),
    el('ol', {class: 'items'}, ...lines),
  ];
}

const mapCaption = `Every tile is a group of items that the server treats as one at this level, as
    large as the number of its items and the stronger in colour the more its items are used. The
    titles are its most popular ones. Choose a tile to look into it.`;
const listCaption = 'The path above, or Escape, leads back.';

function createHierarchyView(body, root) {
  let path = [];
  const crumbs =
      el('div', {class: 'crumbs', role: 'navigation', 'aria-label': 'Path to the group'});
  const place = el('div');
  const caption = el('p', {class: 'note'});
  body.append(crumbs, place, caption);
  const groupAt = (at) => at.reduce((group, i) => group.groups[i], root);
  const nameOf = (at) =>
      (at.length === 0 ? `All ${format.count(root.items)} items` : groupName(at));
  const draw = () => {
    const group = groupAt(path);
    place.className = group.groups ? 'map' : '';
    place.style.height = '';
    if (group.groups)
      drawMap(place, group, path, zoom);
    else
      fill(place, ...listItems(group));
    caption.textContent = group.groups ? mapCaption : listCaption;
  };
  // Returns what is to get the focus.
  const zoom = (next) => {
    path = next;
    const here = el('span', {class: 'here', tabindex: -1}, nameOf(path));
    const above = path.map((_, depth) => path.slice(0, depth));
    const links = above.flatMap((at) => {
      const back = () => zoom(at).focus();
      return [el('button', {type: 'button', onclick: back}, nameOf(at)), '›'];
    });
    fill(crumbs, ...links, here);
    draw();
    return here;
  };
  body.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && path.length > 0) zoom(path.slice(0, -1)).focus();
  });
  zoom([]);
  onWidth(body, draw);
}

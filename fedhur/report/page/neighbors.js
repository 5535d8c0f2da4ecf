// What adds most to the score of an item: its neighbours in a sparse item filter.
function neighborLines(item, show) {
  const [, , , neighbors] = item;
  const most = neighbors[0][2];
  const lines = neighbors.map(([id, title, weight]) => {
    const bar = el('span', {class: 'bar', 'aria-hidden': 'true'});
    bar.style.width = `${(100 * weight / most).toFixed(1)}%`;
    const name = titleOf([id, title]);
    const link = show(id);
    const label = link ? el('button', {type: 'button', class: 'plain', onclick: link}, name) : name;
    return el('li', {}, el('span', {class: 'name'}, label), el('b', {}, format.short(weight)), bar);
  });
  return el('ol', {class: 'neighbors', 'aria-label': `Neighbours of ${titleOf(item)}`}, ...lines);
}

function createNeighborsView(body, items) {
  const place = el('div', {class: 'focus', tabindex: -1});
  const list = el('ul', {class: 'choices', 'aria-label': 'Items'});
  const show = (item) => {
    const [id, title, rows] = item;
    const others = (other) => {
      const found = items.find(([own]) => own === other);
      return found && (() => {
               show(found);
               place.focus();
             });
    };
    const facts = title ? `${id}, ${plural(rows, 'training row')}` : plural(rows, 'training row');
    fill(
        place, el('h3', {}, titleOf(item)), el('p', {class: 'note'}, facts),
        neighborLines(item, others));
    for (const button of list.querySelectorAll('button')) {
      button.setAttribute('aria-pressed', String(button.dataset.id === id));
    }
  };
  const offer = (wanted) => {
    const isWanted = ([id, title]) => `${id} ${title}`.toLowerCase().includes(wanted);
    const entries = items.filter(isWanted).map(
        (item) =>
            el('li', {},
               el('button', {
                 type: 'button',
                 class: 'plain',
                 'data-id': item[0],
                 'aria-pressed': 'false',
                 onclick: () => show(item),
               },
                  titleOf(item)),
               ' ', el('span', {}, format.count(item[2]))));
    fill(list, ...entries);
  };
  const search = el('input', {
    type: 'search',
    placeholder: 'Search items',
    'aria-label': 'Search items',
    oninput: () => offer(search.value.toLowerCase()),
  });
  const left = el('div', {}, el('div', {class: 'controls'}, search), list);
  body.append(el('div', {class: 'panels'}, left, place), el('p', {class: 'note'}, `
      Who has one of the neighbours gets the item with a score that is higher by the number beside
      it. On the left are the most popular items with their training rows, and some of the others by
      rank.`));
  offer('');
  show(items[0]);
}

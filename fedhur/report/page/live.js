// While the run goes on: asks its server for what is new.
const kPause = 1000;  // milliseconds between questions

// Takes an answer over; returns whether anything is new.
function take(update) {
  const known = () => JSON.stringify([report.live, report.state, report.environment]);
  const before = known();
  for (const part of ['valid', 'test', 'measures']) {
    for (const curve of update[part]) {
      const old = report[part].find(({label}) => label === curve.label);
      const points = old ? old.series[0].points : [];
      curve.series[0].points.unshift(...points.filter(([round]) => round <= update.first));
    }
  }
  Object.assign(report, update);
  return known() !== before;
}

function tell(problem) {
  const badge = document.getElementById('state');
  badge.textContent = problem;
  badge.className = 'badge open';
}

async function ask() {
  try {
    const answer = await fetch(`update?${new URLSearchParams(report.live)}`, {cache: 'no-store'});
    const update = await answer.json();
    if (!answer.ok) {
      tell(update.error);
    } else if (take(update)) {
      refresh('inside' in update);
    }
  } catch (error) {
    tell('no connection: has fedhur watch ended?');
  }
  if (report.is_open) setTimeout(ask, kPause);
}
if (report.live && report.is_open) setTimeout(ask, kPause);

// While the run goes on: asks its server for what is new.
const kPause = 1000;  // milliseconds between questions

// Takes an answer over; returns whether anything is new.
function take(update) {
  const [run] = report.runs;
  const known = () => JSON.stringify([report.live, run.finished, run.manifest]);
  const before = known();
  run.rounds.splice(update.first, run.rounds.length, ...update.rounds);
  Object.assign(run, update.run);
  if ('inside' in update) run.inside = update.inside;
  report.live = update.live;
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
  if (!report.runs[0].finished) setTimeout(ask, kPause);
}
if (report.live && !report.runs[0].finished) setTimeout(ask, kPause);

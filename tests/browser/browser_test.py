#!/usr/bin/python3
"""Opens reports and the live page in Chromium, as a reader would.

usage: browser_test.py FEDHUR SCREENSHOTS

Fails on anything in the browser's console, on a chart that was not drawn, on text that leaves the
screen of a phone, and on a title that is taken for markup. Ends with 77 where there is no Chromium.
"""
import base64
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

os.environ["no_proxy"] = "*"  # everything happens on this machine
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    print("skipped: Chromium is missing; tools/setup --test installs it")
    sys.exit(77)
try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError:
    print("skipped: Selenium is missing; tools/setup --test installs python3-selenium")
    sys.exit(77)

FEDHUR, SHOTS = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
FLAGS = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
         "--disable-background-networking --disable-component-update --disable-sync "
         "--disable-dev-shm-usage --hide-scrollbars").split()
# What was asked for is on the screen, and events about it have been heard.
TWO_FRAMES = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));"
SCREENS = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
# Markup, quotes, other scripts, no place to break a line; titles of the most popular items.
TITLES = ["<img src=x onerror=\"window.hacked=1\">", "</script><script>window.hacked=1</script>",
          "It's \"quoted\" & so on; caf\u00e9 \u6771\u4eac \u0645\u0631\u062d\u0628\u0627 \U0001f600",
          "W" * 300]
FEW = "--threads 1 --set clients.count=9 --set stop.max_rounds=4 --set stop.patience=100".split()
SMALL = [*FEW, "--set", "model.embedding_dim=8"]


def check(holds, what):
    if not holds:
        raise AssertionError(what)


def fedhur(*arguments):
    done = subprocess.run([FEDHUR, *arguments], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"fedhur {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def write_data(folder):
    """70 users of 120 items, the first ones in everybody's hands."""
    rows = ["user,item"]
    for user in range(70):
        for i in range(6 + user % 40):
            rows.append(f"u{user},i{(i * i + user * (i % 7)) % 120 if i > 3 else i}")
    (folder / "data.csv").write_text("\n".join(dict.fromkeys(rows)) + "\n")
    quoted = (title.replace('"', '""') for title in TITLES)
    items = "".join(f'i{i},"{title}"\n' for i, title in enumerate(quoted))
    (folder / "items.csv").write_text("item,title\n" + items)


class Browser:
    def __init__(self, folder):
        options = Options()
        options.binary_location = shutil.which("chromium")
        for flag in [*FLAGS, f"--user-data-dir={folder / 'profile'}"]:
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)

    def open(self, url, width=1280, scheme="light"):
        self.screen = f"{width}-{scheme}"
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})
        self.driver.get(url)
        self.run(TWO_FRAMES)

    def run(self, script, *arguments):
        """The value of an asynchronous script."""
        return self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1]; const args = [...arguments].slice(0, -1);"
            "(async () => {" + script + "})().then(done, (error) => done('failed: ' + error))", *arguments)

    def find(self, selector):
        found = self.driver.find_elements(By.CSS_SELECTOR, selector)
        check(found, f"there is no {selector}")
        return found

    def press(self, key):
        webdriver.ActionChains(self.driver).send_keys(key).perform()

    def hover(self, element):
        """Over its middle, which is then on the screen."""
        self.run("args[0].scrollIntoView({block: 'center'});" + TWO_FRAMES, element)
        webdriver.ActionChains(self.driver).move_to_element(element).perform()

    def tooltip(self):
        tooltip = self.find("#tooltip")[0]
        return tooltip.text if tooltip.is_displayed() else ""

    def wait(self, condition, what, seconds=20):
        try:
            WebDriverWait(self.driver, seconds, 0.1).until(lambda _: condition())
        except Exception as error:
            raise AssertionError(f"{what}: {error}") from None

    def shoot(self, name):
        height = self.run("return document.documentElement.scrollHeight")
        width = int(self.screen.split("-")[0])
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
        (SHOTS / f"{name}-{self.screen}.png").write_bytes(base64.b64decode(shot["data"]))

    def check_console(self, page):
        entries = [entry["message"] for entry in self.driver.get_log("browser")]
        check(not entries, f"{page}: the console says {entries}")
        check(self.run("return window.hacked") is None, f"{page}: a title was run as a script")


# Of every chart: its size, whether something is drawn in it, and numbers that are none.
CHARTS = """
return [...document.querySelectorAll('.chart svg')].map((svg) => {
  const box = svg.getBoundingClientRect();
  const marks = [...svg.querySelectorAll('path.line, path.band, rect, circle')].filter((mark) => {
    const {width, height} = mark.getBoundingClientRect();
    return width + height > 1;
  });
  const bad = [...svg.querySelectorAll('*')].filter(
      (node) => [...node.attributes].some((a) => /NaN|undefined|Infinity/.test(a.value)));
  return {label: svg.getAttribute('aria-label'), width: box.width, height: box.height,
          marks: marks.length, bad: bad.length, ticks: svg.querySelectorAll('text').length};
});"""
CANVAS = """
const canvas = document.querySelector('canvas');
if (!canvas) return null;
const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
const colors = new Set();
for (let i = 0; i < pixels.length; i += 4) colors.add(pixels.slice(i, i + 3).join());
const box = canvas.getBoundingClientRect();
return {width: box.width, height: box.height, colors: colors.size};"""
# Text that would have to be scrolled to, and charts whose labels leave their place.
OVERFLOW = """
const wide = document.documentElement.clientWidth;
const problems = [];
if (document.documentElement.scrollWidth > wide) problems.push('the page is wider than the screen');
for (const node of document.querySelectorAll('body *')) {
  if (node.closest('#tooltip, noscript, script')) continue;
  const ownText = [...node.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!ownText) continue;
  const box = node.getBoundingClientRect();
  if (box.width > 0 && (box.right > wide + 1 || box.left < -1)) {
    problems.push(`${node.tagName} "${node.textContent.slice(0, 40)}" from ${box.left} to ${box.right}`);
  }
}
return problems;"""


def check_drawn(browser, page, least_charts):
    charts = browser.run(CHARTS)
    check(len(charts) >= least_charts, f"{page}: {len(charts)} charts, expected {least_charts}")
    for chart in charts:
        where = f"{page} at {browser.screen}: {chart}"
        check(chart["label"], where)
        check(chart["width"] >= 180 and chart["height"] >= 70, where)
        check(chart["marks"] > 0 and chart["ticks"] > 1 and chart["bad"] == 0, where)
    problems = browser.run(OVERFLOW)
    check(not problems, f"{page} at {browser.screen}: {problems}")


def check_canvas(browser, page):
    canvas = browser.run(CANVAS)
    check(canvas and canvas["width"] >= 200 and abs(canvas["width"] - canvas["height"]) < 2
          and canvas["colors"] > 5, f"{page}: {canvas}")


def look_at_all_screens(browser, url, name, least_charts, has_relations):
    for width, scheme in SCREENS:
        browser.open(url, width, scheme)
        check_drawn(browser, name, least_charts)
        if has_relations:
            check_canvas(browser, name)
        browser.shoot(name)
    browser.check_console(name)


def use_charts(browser, url):
    """Pointer, keys and controls."""
    browser.open(url)
    quality = browser.find("#quality svg")[-1]
    browser.hover(quality)
    check("Round" in browser.tooltip(), f"the tooltip of a curve says '{browser.tooltip()}'")
    browser.run("args[0].focus()", quality)
    browser.press(Keys.HOME)
    check("Round 1" in browser.tooltip(), f"Home leads to '{browser.tooltip()}'")
    browser.press(Keys.ARROW_RIGHT)
    check("Round 2" in browser.tooltip(), f"the right arrow leads to '{browser.tooltip()}'")
    before = browser.find("#quality h3")[1].text
    Select(browser.find("#quality select")[0]).select_by_visible_text("Recall@10")
    check(browser.find("#quality h3")[1].text != before, "the metric does not change")

    browser.hover(browser.find("canvas")[0])
    check("in equal shares" in browser.tooltip(), f"the heat map says '{browser.tooltip()}'")
    picture = browser.run("return document.querySelector('canvas').toDataURL()")
    browser.find("#relations .choice button")[0].click()
    check(picture != browser.run("return document.querySelector('canvas').toDataURL()"),
          "all levels look alike")
    browser.run("document.querySelector('canvas').focus()")
    browser.press(Keys.ARROW_DOWN)
    check("client 1, of itself" in browser.tooltip(), f"the first cell is '{browser.tooltip()}'")

    search = browser.find("#settings input")[0]
    search.send_keys("stop.pat")
    check([row.text.split() for row in browser.find("#settings li")] == [["stop.patience", "100"]],
          "the search among settings finds something else")
    browser.check_console("using charts")


def walk_through_groups(browser, url):
    """On a phone: into a group, into one of its groups, to the titles, and back."""
    browser.open(url, 390)
    here = lambda: browser.find("#items .here")[0].text  # noqa: E731
    check(here() == "All 120 items", f"the walk begins at '{here()}'")
    top = len(browser.find("#items .group"))
    check(top == 8, f"{top} groups at the coarsest level")
    seen = set()
    for group in range(top):
        browser.find("#items .group")[group].click()
        check(here().startswith("Group "), f"a click leads to '{here()}'")
        depth = 1
        while browser.driver.find_elements(By.CSS_SELECTOR, "#items .group"):
            first = browser.find("#items .group")[0]
            first.send_keys(Keys.ENTER)
            depth += 1
            check(depth < 6, "the groups have no end")
        problems = browser.run(OVERFLOW)
        check(not problems, f"{here()}: {problems}")
        seen.update(item.text.rsplit(" ", 1)[0] for item in browser.find("#items li"))
        for _ in range(depth):
            browser.press(Keys.ESCAPE)
        check(here() == "All 120 items", f"the way back ends at '{here()}'")
    check(len(seen) >= top, f"titles: {seen}")
    browser.find("#items .group")[0].click()
    browser.shoot("group")
    browser.find("#items .crumbs button")[0].click()
    check(here() == "All 120 items", "the path does not lead back")
    shown = " ".join(tile.get_attribute("aria-label") for tile in browser.find("#items .group"))
    check(any(title in shown for title in TITLES), "none of the most popular titles is shown")
    browser.check_console("item groups")


def look_at_neighbors(browser, url):
    """The page of a single round: a table in place of curves, and neighbours to walk along."""
    look_at_all_screens(browser, url, "one-round", 6, False)
    browser.open(url, 390)
    check(not browser.driver.find_elements(By.CSS_SELECTOR, "#quality svg"), "a curve of one point is drawn")
    check("NDCG@10" in browser.find("#quality table")[0].text, "the table lacks a metric")
    heading = lambda: browser.find("#items h3")[0].text  # noqa: E731
    check(heading() in TITLES, f"the first item is '{heading()}'")
    before = heading()
    browser.find("#items .neighbors button")[0].click()
    check(heading() != before, "a neighbour leads nowhere")
    browser.find("#items input")[0].send_keys("quoted")
    found = browser.find("#items .choices button")
    check(len(found) == 1, f"{len(found)} items are found")
    found[0].click()
    check("quoted" in heading(), f"the choice leads to '{heading()}'")
    check(not browser.run(OVERFLOW), f"neighbours at {browser.screen}: {browser.run(OVERFLOW)}")
    browser.check_console("neighbours")


@contextlib.contextmanager
def running(folder, *arguments):
    with open(folder / f"{arguments[0]}.out", "w+") as out, \
            subprocess.Popen([FEDHUR, *arguments], stdout=out, stderr=subprocess.STDOUT) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(20)


def watch_live(browser, folder):
    """A run from before its first round to its end, without loading the page again."""
    run = str(folder / "live")
    settings = [*SMALL, "--set", "stop.max_rounds=100000", "--set", "stop.patience=100000"]
    with contextlib.ExitStack() as stack:
        train = stack.enter_context(
            running(folder, "train", "--data", str(folder / "data.csv"), "--out", run, *settings))
        browser.wait(lambda: os.path.exists(run + "/log.txt"), "the run does not begin")
        stack.enter_context(running(folder, "watch", run, "--port", "0"))
        said = folder / "watch.out"
        browser.wait(lambda: "http://" in said.read_text(), "watch says no address")
        url = said.read_text().split(" at ")[1].split()[0]
        browser.open(url)
        rounds = lambda: browser.run("return report.rounds")  # noqa: E731
        # In one step: an element that was found may be drawn anew before its text is asked for.
        state = lambda: browser.run("return document.querySelector('#state').textContent")  # noqa: E731
        browser.run("window.stillThere = true")
        first = rounds()
        browser.wait(lambda: rounds() > first and browser.run("return report.inside !== null"),
                     "no new round appears")
        browser.wait(lambda: "live: round" in state(), "the page does not say that the run goes on")
        check_drawn(browser, "live", 10)
        check_canvas(browser, "live")
        browser.shoot("live")
        train.terminate()
        check(train.wait(20) == 130, "the run does not stop")
        browser.wait(lambda: "stopped after round" in state(),
                     "the page does not notice that the run stopped")
        check(browser.run("return window.stillThere"), "the page was loaded again")
        browser.check_console("live")


def main():
    shutil.rmtree(SHOTS, ignore_errors=True)
    SHOTS.mkdir(parents=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_data(folder)
        data = ["--data", str(folder / "data.csv")]
        runs = {}
        for run, more in [("fedhur-1", ["--seed", "1"]), ("fedhur-2", ["--seed", "2"]),
                          ("fedmf-1", ["--seed", "1", "--method", "fedmf"]),
                          ("fedmf-2", ["--seed", "2", "--method", "fedmf"]),
                          ("gpfedrec", ["--seed", "1", "--method", "gpfedrec"]),
                          ("begun", ["--seed", "1"]), ("begun-2", ["--seed", "1", "--method", "local"])]:
            runs[run] = str(folder / run)
            fedhur("train", *data, "--quiet", "--out", runs[run], *SMALL, *more)
        fedhur("train", *data, "--quiet", "--out", str(folder / "fedslim"), *FEW, "--method", "fedslim")
        for left in ["result.json", "inside.json", "rounds.jsonl"]:
            (folder / "begun" / left).unlink()
            (folder / "begun-2" / left).unlink()
        fedhur("report", runs["begun"])
        fedhur("report", *(runs[run] for run in ["fedhur-1", "fedhur-2", "fedmf-1", "fedmf-2", "gpfedrec"]),
               "--out", str(folder / "comparison.html"), "--quiet")
        page = lambda run: (folder / run / "report.html").as_uri()  # noqa: E731
        browser = Browser(folder)
        try:
            look_at_all_screens(browser, page("fedhur-1"), "one", 13, True)
            look_at_all_screens(browser, (folder / "comparison.html").as_uri(), "comparison", 13, True)
            use_charts(browser, page("fedhur-1"))
            walk_through_groups(browser, page("fedhur-1"))
            look_at_neighbors(browser, page("fedslim"))
            browser.open(page("fedmf-1"), 390)
            check_drawn(browser, "fedmf", 9)
            check("Here items are not grouped." in browser.find("#items")[0].text, "what is missing is not said")
            browser.check_console("fedmf")
            browser.open(page("begun"), 390)
            check("not finished" in browser.find("#state")[0].text or "stopped" in browser.find("#state")[0].text,
                  "a run without rounds passes for finished")
            browser.check_console("a run without rounds")
            for others in [["begun-2"], ["fedmf-1"]]:
                mixed = folder / "mixed.html"
                fedhur("report", runs["begun"], *(runs[other] for other in others), "--out", str(mixed), "--force")
                browser.open(mixed.as_uri(), 390)
                check(not browser.run(OVERFLOW), "a comparison with a run without rounds is too wide")
                browser.check_console("a comparison with a run without rounds")
            watch_live(browser, folder)
        finally:
            browser.driver.quit()
    print(f"passed in {time.monotonic() - begin:.1f} s; screenshots are in {SHOTS}")


main()

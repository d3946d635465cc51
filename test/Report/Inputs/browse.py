#!/usr/bin/env python3
"""Opens a page in Chromium and says what a reader would see: browse.py PAGE.html [SHOTS]

Prints headings, and what is wrong: messages of the console, requests, what is cut off, lies on each other or is hard to
read, in wide and narrow windows, light and dark. Exit status 1 where something is. Into the folder SHOTS go pictures.
"""
import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time

# What can be asked of the page itself. Contrast is that of WCAG 2.
LOOK = r"""(() => {
  const wrong = [];
  const channels = text => text.match(/[0-9.]+/g).map(Number);
  const light = text => channels(text).slice(0, 3).map(c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
      .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor, c = channels(color);
      if (c.length < 4 || c[3] > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const faint = new Set();
  for (const e of document.querySelectorAll("p, td, th, h1, h2, h3, summary, pre span, span.v, svg text")) {
    if (!e.textContent.trim()) continue;
    const style = getComputedStyle(e), a = light(e instanceof SVGElement ? style.fill : style.color), b = light(behind(e));
    const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const name = e.tagName + "." + (e.getAttribute("class") || "");
    if (contrast < 4.5 && !faint.has(name)) {
      faint.add(name);
      wrong.push(`faint: ${name} ${contrast.toFixed(1)}`);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth)
    wrong.push(`wider than the window: ${document.documentElement.scrollWidth} of ${innerWidth}`);
  for (const e of document.querySelectorAll("p, h1, h2, h3, summary"))
    if (e.scrollWidth > e.clientWidth + 1) wrong.push("cut off: " + e.textContent.slice(0, 60));
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")].filter(t => t.textContent.trim());
    const name = svg.getAttribute("aria-label"), boxes = texts.map(t => t.getBoundingClientRect());
    boxes.forEach((b, i) => {
      if (b.left < frame.left - 1 || b.right > frame.right + 1 || b.top < frame.top - 1 || b.bottom > frame.bottom + 1)
        wrong.push(`outside of ${name}: ${texts[i].textContent}`);
      if (b.height < 8) wrong.push(`too small in ${name}: ${texts[i].textContent}`);
      boxes.slice(0, i).forEach((o, j) => {
        const w = Math.min(b.right, o.right) - Math.max(b.left, o.left), h = Math.min(b.bottom, o.bottom) - Math.max(b.top, o.top);
        if (w > 2 && h > b.height / 3) wrong.push(`on each other in ${name}: ${texts[j].textContent} / ${texts[i].textContent}`);
      });
    });
  }
  return JSON.stringify({wrong, headings: [...document.querySelectorAll("h1, h2, h3, summary")].map(h => h.textContent),
                         height: document.documentElement.scrollHeight, paper: getComputedStyle(document.body).backgroundColor});
})()"""


class Browser:
    """Chromium's own protocol over two pipes: messages of JSON, each ended by a zero byte."""

    def __init__(self, folder):
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        shell = 'exec 3<&%d 4>&%d; exec "$@"' % (theirs_in, theirs_out)
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "chromium", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
             "--user-data-dir=" + folder, "--remote-debugging-pipe", "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.into, self.out, self.buffer, self.count, self.events = ours_in, ours_out, b"", 0, []
        self.session = None

    def message(self, end):
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], max(0, end - time.monotonic()))[0]:
                return None
            part = os.read(self.into, 1 << 20)
            if not part:
                sys.exit("chromium ended")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, seconds=60, **params):
        self.count += 1
        order = {"id": self.count, "method": method, "params": params}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.out, json.dumps(order).encode() + b"\0")
        end = time.monotonic() + seconds
        while (got := self.message(end)) is not None:
            if got.get("id") == self.count:
                if "error" in got:
                    sys.exit(f"{method}: {got['error']['message']}")
                return got["result"]
            self.events.append(got)
        sys.exit(f"chromium did not answer {method} in {seconds} s")

    def wait(self, method, seconds=60):
        end = time.monotonic() + seconds
        while not any(event.get("method") == method for event in self.events):
            got = self.message(end)
            if got is None:
                sys.exit(f"chromium did not tell of {method} in {seconds} s")
            self.events.append(got)

    def close(self):
        try:
            self.call("Browser.close", 10)
        except (SystemExit, OSError):
            self.process.kill()
        self.process.wait()


def told(events, page):
    """What the browser said and fetched while it showed the page."""
    blocked = {event["params"]["requestId"] for event in events
               if event["method"] == "Network.loadingFailed" and event["params"].get("blockedReason")}
    for event in events:
        params = event.get("params", {})
        if event["method"] == "Log.entryAdded":
            yield f"console: {params['entry']['level']}: {params['entry']['text']}"
        elif event["method"] == "Runtime.exceptionThrown":
            yield "console: " + params["exceptionDetails"]["text"]
        elif (event["method"] == "Network.requestWillBeSent" and params["request"]["url"] != page
              and params["requestId"] not in blocked):
            yield "fetched: " + params["request"]["url"][:200]


def main(path, shots=None):
    if not os.path.exists(path):
        sys.exit(f"there is no {path}")
    page, wrong, papers = "file://" + os.path.realpath(path), [], set()
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        try:
            target = next(t for t in browser.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
            browser.session = browser.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
            for domain in ("Page", "Log", "Runtime", "Network"):
                browser.call(domain + ".enable")
            browser.call("Page.navigate", url=page)
            browser.wait("Page.loadEventFired")
            browser.call("Runtime.evaluate", expression="""document.querySelectorAll("details").forEach(e => {
                e.dataset.was = e.open ? "open" : "" })""")
            for scheme in ("light", "dark"):
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                for width in (1400, 800, 400):
                    screen = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
                    browser.call("Emulation.setDeviceMetricsOverride", **screen)
                    # What is folded is looked at, too; pictures are as readers first see it.
                    browser.call("Runtime.evaluate", expression="document.querySelectorAll('details').forEach(e => e.open = true)")
                    seen = browser.call("Runtime.evaluate", expression=LOOK)["result"]
                    if "value" not in seen:
                        sys.exit("the page could not be looked at: " + seen.get("description", ""))
                    seen = json.loads(seen["value"])
                    wrong += [f"{each} ({scheme}, {width} wide)" for each in seen["wrong"]]
                    papers.add((scheme, seen["paper"]))
                    if shots:
                        os.makedirs(shots, exist_ok=True)
                        height = browser.call("Runtime.evaluate", expression="""document.querySelectorAll("details").forEach(e => {
                            e.open = !!e.dataset.was }); document.documentElement.scrollHeight""")["result"]["value"]
                        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}
                        shot = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
                        with open(f"{shots}/{scheme}-{width}.png", "wb") as file:
                            file.write(base64.b64decode(shot["data"]))
        finally:
            browser.close()
    for heading in seen["headings"]:
        print("heading:", heading)
    if len({paper for _, paper in papers}) != 2:
        wrong.append("light and dark look alike")
    wrong = [*dict.fromkeys(told(browser.events, page)), *wrong]
    print("\n".join("wrong: " + each for each in wrong) or "nothing is wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

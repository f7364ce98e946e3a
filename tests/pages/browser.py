"""Opens pages in headless Chromium."""
import json
import re
import shutil
import subprocess
import sys

SKIPPED = 77
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-shell")

# Reads the first plot of the rates, whose data is rateData.
RATES = """
  const textsOf = (selector) => Array.from(document.querySelectorAll(selector), (element) => element.textContent);
  seen.rateLegend = textsOf("#rates-legend span");
  seen.rates = textsOf("#rates svg > text:first-child");
  const rates = document.querySelector("#rates svg");
  const data = rateData[0].curves;
  seen.rateOperations = data.map((curve) => Math.round(curve.reduce((sum, [end, rate], at) => sum + rate * (end - (at > 0 ? curve[at - 1][0] : 0)), 0)));
  const corners = Array.from(rates.querySelectorAll("path"), (path) => path.getAttribute("d").split(/[ML]/).length - 1);
  seen.rateCorners = corners.map((count, at) => count === 2 * data[at].length);
  const pointAt = (share) => {
    const place = rates.getBoundingClientRect();
    rates.dispatchEvent(new MouseEvent("mousemove", {bubbles: true, clientX: place.left + place.width * share, clientY: place.top + 50}));
    return textsOf("#rates .readout")[0];
  };
  seen.rateReadout = pointAt(0);
  const middle = pointAt(0.5);
  document.getElementById("rates").style.width = "300px";
  seen.narrowed = rates.getBoundingClientRect().width <= 300;
  seen.sameMiddle = pointAt(0.5) === middle;
  document.getElementById("rates").style.width = "";
"""

# On a phone: everything but the table of figures fits in the window.
PHONE = """
  seen.window = window.innerWidth;
  seen.page = document.documentElement.scrollWidth;
  seen.plots = Array.from(document.querySelectorAll(".plots svg"), (plot) => plot.getBoundingClientRect().right);
  seen.scales = Array.from(document.querySelectorAll(".plots svg"), (plot) => plot.getBoundingClientRect().width / plot.viewBox.baseVal.width);
"""


def find():
    """The path of the browser. Without one, the program prints that and exits with 77 (skipped)."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("skipped: no Chromium is installed")
        sys.exit(SKIPPED)
    return browser


def document(browser, address, *flags, milliseconds=10000):
    """The document after all scripts ran for this time of the page's clock."""
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,900",
                           f"--virtual-time-budget={milliseconds}", *flags, "--dump-dom", address],
                          capture_output=True, text=True, check=False, timeout=240)
    return done.stdout


def what_a_user_sees(browser, page, script, *flags):
    """Adds a script that acts as a user to a copy of the page. Returns the object `seen` that it leaves."""
    script = ('\n<script>\n(() => {\nconst seen = {errors: []};\nwindow.onerror = (message) => seen.errors.push(String(message));\n' + script +
              '\nconst result = document.createElement("pre");\nresult.id = "seen";\nresult.textContent = JSON.stringify(seen);\n'
              'document.body.appendChild(result);\n})();\n</script>\n</body>')
    page.write_text(page.read_text(encoding="utf-8").replace("</body>", script), encoding="utf-8")
    found = re.search(r'<pre id="seen">(.*?)</pre>', document(browser, page.as_uri(), *flags), re.DOTALL)
    if found is None:
        sys.exit("the page did not run to its end")
    text = found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    return json.loads(text)


def what_is_on_a_phone(browser, page):
    return what_a_user_sees(browser, page, PHONE, "--window-size=390,844")


def wrong_on_a_phone(seen, plots):
    wrong = [f"{error} on a phone" for error in seen["errors"]]
    if seen["page"] > seen["window"]:
        wrong.append(f"the page is {seen['page']} wide in a window of {seen['window']}")
    if len(seen["plots"]) != plots or max(seen["plots"]) > seen["window"]:
        wrong.append(f"plots end at {seen['plots']} in a window of {seen['window']}")
    if min(seen["scales"]) < 0.99:
        wrong.append(f"the texts of plots are smaller by {seen['scales']}")
    return wrong


def finish(wrong):
    """Ends the program with what is wrong, one line each."""
    print("\n".join(wrong) or "the page is right")
    sys.exit(1 if wrong else 0)

"""Opens pages in headless Chromium."""
import json
import re
import shutil
import subprocess
import sys

SKIPPED = 77
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-shell")


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


def finish(wrong):
    """Ends the program with what is wrong, one line each."""
    print("\n".join(wrong) or "the page is right")
    sys.exit(1 if wrong else 0)

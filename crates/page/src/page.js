// Asks for the same page again when something has changed, and swaps its contents. What was unfolded or typed stays.
const main = document.querySelector("main");
const isBusy = () => document.hidden || main.contains(document.activeElement);
let isStale = false;

async function refresh() {
  if (isBusy()) { isStale = true; return; }
  isStale = false;
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
  if (!fresh || fresh.innerHTML === main.innerHTML || isBusy()) return;
  const unfolded = [...main.querySelectorAll("details")].map((details) => details.open);
  main.replaceChildren(...fresh.childNodes);
  main.querySelectorAll("details").forEach((details, index) => { details.open = unfolded[index] ?? details.open; });
}

const again = () => refresh().catch(() => { isStale = true; });
const events = new EventSource("/events");
// Something may have changed between this page and the stream.
for (const name of ["begun", "changed"]) events.addEventListener(name, again);
for (const event of ["visibilitychange", "focusout"]) document.addEventListener(event, () => { if (isStale) again(); });

// Asks for the same page again and again, and swaps its contents when they differ. What was unfolded stays so.
const main = document.querySelector("main");
let known = main.innerHTML;

async function refresh() {
  const answer = await fetch(location.href);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("main");
  if (!answer.ok || !fresh || fresh.innerHTML === known) return;
  known = fresh.innerHTML;
  const unfolded = [...main.querySelectorAll("details")].map((details) => details.open);
  main.innerHTML = known;
  main.querySelectorAll("details").forEach((details, index) => { details.open = unfolded[index] ?? details.open; });
  document.title = page.title;
}

setInterval(() => { if (!document.hidden) refresh().catch(() => {}); }, 1500);

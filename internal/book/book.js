// The book works without this script. It shows search results while you type, and "/" focuses the search box.
const box = document.querySelector("input[name=q]");
const text = document.querySelector("main");
let asked = 0;

async function search() {
  const words = box.value.trim();
  const number = ++asked;
  if (words.length < 2) return;
  const address = `/docs/search?${new URLSearchParams({ q: words })}`;
  const answer = await fetch(address).catch(() => undefined);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (number !== asked) return; // another word was typed meanwhile
  text.replaceChildren(...page.querySelector("main").childNodes);
  document.title = page.title;
  const way = location.pathname === "/docs/search" ? "replaceState" : "pushState";
  history[way](null, "", address);
}

let pause;
box.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(search, 120);
});
addEventListener("popstate", () => location.reload());
addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  box.focus();
});

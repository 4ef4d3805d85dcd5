import "rapidoc/dist/rapidoc-min.js";
import "./docs.css";

const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
const reference = document.createElement("rapi-doc") as HTMLElement & { loadSpec: (document: object) => Promise<void> };
const attributes: Record<string, string> = {
  theme: dark ? "dark" : "light",
  "primary-color": dark ? "#6fb4ad" : "#2f6f6a",
  "bg-color": dark ? "#14161a" : "#ffffff",
  "nav-bg-color": dark ? "#1b1e22" : "#f6f7f8",
  "nav-text-color": dark ? "#c3c9d0" : "#3c444c",
  "nav-hover-bg-color": dark ? "#22282b" : "#e9efee",
  "nav-accent-color": dark ? "#6fb4ad" : "#2f6f6a",
  "regular-font": "system-ui, sans-serif",
  "mono-font": "ui-monospace, monospace",
  "load-fonts": "false",
  "render-style": "focused",
  "schema-style": "table",
  "show-header": "false",
  "show-info": "true",
  "allow-authentication": "true",
  "allow-server-selection": "false",
  "allow-spec-url-load": "false",
  "allow-spec-file-load": "false",
  "fetch-credentials": "same-origin",
  "server-url": window.location.origin,
  "default-api-server": window.location.origin,
  "show-method-in-nav-bar": "as-plain-text",
  "use-path-in-nav-bar": "true",
  "nav-item-spacing": "compact",
};
for (const [name, value] of Object.entries(attributes)) reference.setAttribute(name, value);
const back = document.createElement("a");
back.slot = "nav-logo";
back.href = "/docs";
back.textContent = "← The book";
reference.append(back);
// The viewer has a navigation inside its navigation, without names to tell them apart.
reference.addEventListener("spec-loaded", () =>
  requestAnimationFrame(() => {
    const [outer, inner] = reference.shadowRoot?.querySelectorAll("nav") ?? [];
    outer?.setAttribute("aria-label", "Reference");
    inner?.setAttribute("aria-label", "Operations");
  }),
);
document.body.append(reference);

// The viewer needs half a minute for our document as OpenAPI 3.1, and a second as 3.0. It draws the parts of 3.1 that
// we use in the same way.
void fetch("/api/openapi.json")
  .then((answer) => answer.json())
  .then((document) => reference.loadSpec({ ...document, openapi: "3.0.3" }));

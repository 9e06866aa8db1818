"use strict";
// Keys, confirmations, light and dark. Everything but the plots works without it.
const isTyping = (event) => /^(input|textarea|select)$/i.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey;

function moveRow(step) {
  const links = [...document.querySelectorAll(".row-name")];
  if (!links.length) return;
  const at = links.indexOf(document.activeElement);
  links[Math.min(links.length - 1, Math.max(0, at < 0 ? 0 : at + step))].focus();
}
function changeTheme() {
  const order = ["light dark", "light", "dark"];
  const root = document.documentElement;
  const next = order[(order.indexOf(root.style.colorScheme) + 1) % order.length];
  root.style.colorScheme = next;
  localStorage.setItem("theme", next);
  dispatchEvent(new Event("theme"));
}
const keys = document.getElementById("keys");
const actions = {
  "/": () => document.querySelector("input[type=search]")?.focus(),
  j: () => moveRow(1),
  k: () => moveRow(-1),
  t: changeTheme,
  "?": () => keys.showModal(),
  e: () => {
    const form = document.getElementById("edit");
    if (form) { form.open = true; form.querySelector("textarea").focus(); }
  },
};
document.addEventListener("keydown", (event) => {
  if (isTyping(event)) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "ArrowDown" && event.target.type === "search") { event.preventDefault(); moveRow(1); }
    return;
  }
  const page = document.querySelectorAll(".bar nav a")[Number(event.key) - 1];
  if (page && !event.target.closest(".plot")) { page.click(); return; }
  const action = actions[event.key];
  if (action) { event.preventDefault(); action(); }
});
document.getElementById("theme").addEventListener("click", changeTheme);
document.getElementById("keys-button").addEventListener("click", () => keys.showModal());
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
});
for (const choice of document.querySelectorAll("[data-submit]")) {
  choice.addEventListener("change", () => choice.form.submit());
}
document.addEventListener("htmx:response:error", (event) => {
  event.target.textContent = "That did not work; load the page again.";
});
document.addEventListener("htmx:error", () => {
  document.getElementById("ended").hidden = false;
});
// A message that the address names stays in view while the parts above it arrive, until somebody moves the page.
let follows = true;
for (const moved of ["wheel", "touchstart", "keydown", "mousedown"]) {
  addEventListener(moved, () => { follows = false; }, { once: true, passive: true });
}
function showTarget() {
  if (follows) document.querySelector(".message.target")?.scrollIntoView({ block: "center", behavior: "instant" });
}
document.addEventListener("htmx:after:swap", showTarget);
addEventListener("drawn", showTarget);

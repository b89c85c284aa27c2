"use strict";

// The page works without this script. With it, forms and links update the page in place and have keyboard shortcuts.

const status = document.getElementById("status");
const alertLine = document.getElementById("alert");
const keys = document.getElementById("keys");
let busy = false;
let shown = "";

function announce(message, error) {
  status.textContent = message;
  alertLine.textContent = error;
}

function noteForm() {
  const note = document.getElementById("note");
  return note && note.value.trim() !== note.defaultValue.trim() ? new URLSearchParams(new FormData(note.form)) : null;
}

async function swap(url, form) {
  if (busy) return; // a key pressed meanwhile was meant for the previous edge
  busy = true;
  document.body.classList.add("waiting");
  try {
    const note = noteForm();
    if (note && !(form && form.has("note"))) {
      const kept = await fetch("/note", { method: "POST", body: note });
      if (!kept.ok) throw new Error(await kept.text());
    }
    const response = await fetch(url, form ? { method: "POST", body: form } : {});
    const text = await response.text();
    if (!response.headers.get("content-type").startsWith("text/html")) throw new Error(text);
    show(new DOMParser().parseFromString(text, "text/html"));
    if (response.ok) visit(withoutAfter(response.url));
  } catch (error) {
    const lost = error instanceof TypeError;
    announce("", lost ? "Not saved: the server does not respond. Restart it, then reload this page." : error.message);
  } finally {
    busy = false;
    document.body.classList.remove("waiting");
  }
}

function visit(url) {
  if (url.href !== location.href) history.pushState(null, "", url);
  shown = url.search;
}

function withoutAfter(address) {
  const url = new URL(address);
  url.searchParams.delete("after");
  return url;
}

function show(fresh) {
  const page = fresh.getElementById("page");
  const focused = document.activeElement && document.activeElement.id;
  document.getElementById("page").replaceWith(page);
  document.title = fresh.title;
  const where = fresh.title.split(" · ")[0];
  announce(page.dataset.message ? `${page.dataset.message}. ${where}` : where, page.dataset.alert);
  const again = focused && document.getElementById(focused);
  if (again) again.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  swap(link.href);
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-swap]")) return;
  event.preventDefault();
  const button = event.submitter;
  const fields = new URLSearchParams(new FormData(form, button));
  if (form.method === "post") swap((button && button.getAttribute("formaction")) || form.getAttribute("action"), fields);
  else swap(`${form.getAttribute("action")}?${fields}`);
});

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && writing) event.target.blur();
  if (event.target.id === "note" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    swap("/note", new URLSearchParams(new FormData(event.target.form)));
  }
  if (writing || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !keys.checked) return;
  const wanted = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key.split(" ").includes(event.key));
  if (!wanted) return;
  event.preventDefault();
  if (wanted.matches("input, textarea")) wanted.focus();
  else wanted.click();
});

window.addEventListener("popstate", () => {
  if (location.search !== shown) swap(location.href); // otherwise a link to a part of this page was followed
});

window.addEventListener("pagehide", () => {
  const note = noteForm();
  if (note) navigator.sendBeacon("/note", note);
});

keys.checked = localStorage.getItem("keys") !== "off";
keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
document.documentElement.classList.add("scripted");
history.replaceState(null, "", withoutAfter(location.href));
shown = location.search;

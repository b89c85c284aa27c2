"use strict";

// The page works without this script. With it, forms and links update the page in place and have keyboard shortcuts.

const status = document.getElementById("status");
const alertLine = document.getElementById("alert");
const keys = document.getElementById("keys");
let busy = false;
let shown = "";
const queue = []; // what was asked for while busy: keys for the edges to come, and links and forms of the edge shown then

function announce(message, error) {
  status.textContent = message;
  alertLine.textContent = error;
}

function noteForm() {
  const note = document.getElementById("note");
  return note && note.value.trim() !== note.defaultValue.trim() ? new URLSearchParams(new FormData(note.form)) : null;
}

async function save(form) {
  const response = await fetch("/note", { method: "POST", body: form, keepalive: true });
  if (!response.ok) throw new Error(await response.text());
}

async function swap(url, form) {
  if (busy) {
    queue.push({ url, form });
    return;
  }
  busy = true;
  document.body.classList.add("waiting");
  let failure = "";
  try {
    const sent = form && form.has("note") ? form : noteForm();
    if (sent && sent !== form) await save(sent);
    const response = await fetch(url, form ? { method: "POST", body: form, keepalive: true } : {});
    const text = await response.text();
    if (!response.headers.get("content-type").startsWith("text/html")) throw new Error(text);
    const late = noteForm(); // written while the server worked
    if (late && (!sent || late.get("note") !== sent.get("note"))) await save(late);
    show(new DOMParser().parseFromString(text, "text/html"));
    if (response.ok) visit(withoutAfter(response.url));
    else failure = alertLine.textContent;
  } catch (error) {
    const lost = error instanceof TypeError;
    failure = lost ? "Not saved: the server does not respond. Restart it, then open the address that it prints." : error.message;
  }
  if (failure) {
    const unused = queue.splice(0).length;
    announce("", unused ? `${failure} (${unused} more not carried out.)` : failure);
  } else if (queue.length) {
    await painted();
  }
  busy = false;
  document.body.classList.remove("waiting");
  next();
}

// An edge is on the screen before a waiting key judges it.
function painted() {
  return new Promise((resolve) => {
    requestAnimationFrame(resolve);
    setTimeout(resolve, 100); // no frames are drawn in a hidden tab
  });
}

function next() {
  while (queue.length && !busy) {
    const { key, url, form } = queue.shift();
    if (url) swap(url, form);
    else press(key);
  }
}

function press(key) {
  const wanted = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key.split(" ").includes(key));
  if (!wanted) return false;
  if (!wanted.matches("input, textarea")) {
    wanted.click();
    return true;
  }
  wanted.focus();
  const typed = queue.splice(0).map((one) => one.key || "").filter((one) => one.length === 1);
  if (typed.length) wanted.setRangeText(typed.join(""), wanted.selectionEnd, wanted.selectionEnd, "end");
  return true;
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
  if (busy) queue.push({ key: event.key });
  else if (press(event.key)) event.preventDefault();
});

window.addEventListener("popstate", () => {
  if (location.search !== shown) swap(location.href); // otherwise a link to a part of this page was followed
});

window.addEventListener("pagehide", () => {
  const note = noteForm();
  if (note) navigator.sendBeacon("/note", note);
});

window.addEventListener("beforeunload", (event) => {
  if (queue.length) event.preventDefault();
});

keys.checked = localStorage.getItem("keys") !== "off";
keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
document.documentElement.classList.add("scripted");
history.replaceState(null, "", withoutAfter(location.href));
shown = location.search;

"use strict";

// The page works without this script. With it, forms and links update the page in place and have keyboard shortcuts.
//
// A verdict is about the edge on the screen when its key is pressed. The next edges are therefore fetched in advance and
// the next one is shown at once, while verdicts are sent in the background, in order. Where the next edge is not here
// yet, the page waits for it and takes no verdict.

const AHEAD = 10; // pages fetched in advance
const PAUSE = 200; // milliseconds without a verdict after which the list and the figures are brought up to date
const DOUBLE_CLICK = 250; // milliseconds within which a second click on a verdict is not meant for the next edge

const status = document.getElementById("status");
const alertLine = document.getElementById("alert");
const keys = document.getElementById("keys");
const ahead = new Map(); // parsed pages of the next edges, by address
const outbox = []; // verdicts that the server has not confirmed, in order
let sent = null; // the one of these that is on its way
let waiting = false; // whether the edge shown is judged or left already
let goal = null; // the address of the edge that the page waits for after a verdict
let later = null; // the last link or form that was used meanwhile
let typed = []; // keys pressed meanwhile from "e" or "/" on: the text of a note or a search
let ignored = 0; // other keys pressed meanwhile
let notice = ""; // what is said about them until the next verdict
let delivery = null; // the promise of the running delivery
let looking = false;
let epoch = 0; // counts the changes that make pages fetched in advance useless
let pause = 0; // the timer of the next update
let held = false; // whether a mouse button or a finger is down
let turn = 0; // counts what was shown
let shown = "";
let clicked = 0;

const SAVED = "Your verdict is saved, but the next edge can't be shown: load the page again.";

function announce(message, error) {
  status.textContent = message;
  alertLine.textContent = error;
}

function parse(text) {
  return new DOMParser().parseFromString(text, "text/html");
}

function explain(error) {
  const lost = error instanceof TypeError;
  return lost ? "Not saved: the server does not respond. Restart it, then open the address that it prints." : error.message;
}

function wait(on) {
  waiting = on;
  document.body.classList.toggle("waiting", on);
}

function forgetAhead() {
  ahead.clear();
  epoch += 1;
}

// Showing -------------------------------------------------------------------------------------------------------------

function show(fresh) {
  turn += 1;
  const page = fresh.getElementById("page");
  const focused = document.activeElement && document.activeElement.id;
  document.getElementById("page").replaceWith(page);
  document.title = fresh.title;
  const where = fresh.title.split(" · ")[0];
  announce(`${page.dataset.message ? `${page.dataset.message}. ` : ""}${where}${notice}`, page.dataset.alert);
  const again = focused && document.getElementById(focused);
  if (again) again.focus({ preventScroll: true });
}

// The same edge, with what has changed on the server; a note that is being written stays.
function update(fresh) {
  const old = document.getElementById("note");
  const kept = old && noteForm() ? old.value : null;
  const [start, end] = old ? [old.selectionStart, old.selectionEnd] : [];
  show(fresh);
  const note = document.getElementById("note");
  if (!note || kept === null) return;
  note.value = kept;
  if (document.activeElement === note) note.setSelectionRange(start, end);
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

// The edge is on the screen: keys are about it from now on.
function arrived() {
  goal = null;
  wait(false);
  const text = typed.splice(0);
  if (ignored) notice = `. Keys ignored, since the next edge was not shown yet: ${ignored}`;
  if (ignored) announce(`${status.textContent}${notice}`, alertLine.textContent);
  ignored = 0;
  if (later) {
    const { url, form } = later;
    later = null;
    swap(url, form);
  } else {
    if (text.length) press(text[0], text.slice(1));
    lookAhead();
  }
}

function failed(message) {
  const unused = ignored + typed.splice(0).length + (later ? 1 : 0);
  later = null;
  goal = null;
  ignored = 0;
  forgetAhead();
  announce("", unused ? `${message} (${unused} more not carried out.)` : message);
  wait(false);
}

async function lookAhead() {
  if (looking) return;
  looking = true;
  const [start, now] = [turn, epoch];
  try {
    let page = document;
    for (let depth = 0; page && depth < AHEAD; depth += 1) {
      const link = page.getElementById("next");
      if (!link) break;
      if (!ahead.has(link.href)) {
        const response = await fetch(link.href);
        const text = await response.text();
        if (!response.ok || epoch !== now) break;
        ahead.set(link.href, parse(text));
      }
      page = ahead.get(link.href);
    }
  } catch {
    // The server is gone: the next verdict says so.
  }
  looking = false;
  if ((turn !== start || epoch !== now) && !waiting) lookAhead();
}

// Takes the page of an address out of those fetched in advance and shows it.
function showAhead(address) {
  const fresh = ahead.get(address);
  if (!fresh) return false;
  ahead.delete(address);
  show(fresh);
  visit(new URL(address));
  lookAhead();
  return true;
}

// Saving --------------------------------------------------------------------------------------------------------------

function noteForm() {
  const note = document.getElementById("note");
  return note && note.value.trim() !== note.defaultValue.trim() ? new URLSearchParams(new FormData(note.form)) : null;
}

async function save(form) {
  const response = await fetch("/note", { method: "POST", body: form, keepalive: true });
  if (!response.ok) throw new Error(await response.text());
}

function judge(form) {
  if (waiting) return;
  const next = document.getElementById("next");
  notice = "";
  clearTimeout(pause);
  outbox.push(form);
  if (!next || !showAhead(next.href)) {
    goal = new URL(next ? next.href : location.href);
    if (!next) goal.searchParams.set("edge", form.get("edge"));
    wait(true);
  }
  if (!delivery) delivery = deliver();
}

// Sends the verdicts one after the other, then brings the page up to date; returns whether all were saved.
async function deliver() {
  try {
    while (outbox.length) {
      const form = outbox[0];
      sent = form;
      const response = await fetch("/decide", { method: "POST", body: form, keepalive: true, redirect: "manual" });
      if (response.type !== "opaqueredirect") {
        await refused(response, form);
        return false;
      }
      outbox.shift();
      if (!outbox.length && goal) await refresh(form.get("edge"));
      else if (!outbox.length) refreshSoon(form.get("edge"));
    }
    return true;
  } catch (error) {
    const edges = outbox.splice(0).map((form) => form.get("edge"));
    failed(edges.length ? `${explain(error)} (Edge ${edges.join(", ")}.)` : SAVED);
    return false;
  } finally {
    delivery = null;
  }
}

// The server did not take a verdict: its edge is shown again, with the reason, and those after it are dropped.
async function refused(response, form) {
  const text = await response.text();
  ignored += outbox.splice(0).length - 1;
  if (!(response.headers.get("content-type") || "").startsWith("text/html")) {
    failed(`${text.trim()} (Edge ${form.get("edge")}.)`);
    return;
  }
  show(parse(text));
  const url = new URL(location.href);
  url.searchParams.set("edge", form.get("edge"));
  visit(url);
  failed(alertLine.textContent);
}

function refreshSoon(judged) {
  clearTimeout(pause);
  pause = setTimeout(() => refresh(judged).catch(() => {}), PAUSE); // a server that is gone is named at the next verdict
}

// Fetches the edge that the page waits for or, if it does not, the one shown, with a message about the edge judged last.
async function refresh(judged) {
  if (waiting && !goal) return;
  const wanted = goal;
  const url = new URL(wanted || location.href);
  if (judged) url.searchParams.set("after", judged);
  const start = turn;
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  // The page has moved on: the answer may be about an edge that was judged meanwhile.
  if (turn !== start || goal !== wanted || outbox.length || (waiting && !goal)) return;
  const fresh = parse(text);
  if (goal) {
    show(fresh);
    visit(withoutAfter(url));
    arrived();
  } else if (held || document.activeElement.closest(".filter, .who")) {
    const { message } = fresh.getElementById("page").dataset;
    if (message) announce(`${message}. ${document.title.split(" · ")[0]}${notice}`, "");
  } else {
    update(fresh);
    lookAhead();
  }
}

async function swap(url, form) {
  if (waiting) {
    later = { url, form };
    return;
  }
  if (!form && !noteForm() && showAhead(url)) {
    if (!delivery) refreshSoon(null);
    return;
  }
  wait(true);
  if (delivery && !(await delivery)) return;
  forgetAhead();
  try {
    const sent = form && form.has("note") ? form : noteForm();
    if (sent && sent !== form) await save(sent);
    const response = await fetch(url, form ? { method: "POST", body: form, keepalive: true } : {});
    const text = await response.text();
    if (!response.headers.get("content-type").startsWith("text/html")) throw new Error(text);
    const late = noteForm(); // written while the server worked
    if (late && (!sent || late.get("note") !== sent.get("note"))) await save(late);
    show(parse(text));
    if (response.ok) {
      visit(withoutAfter(response.url));
      arrived();
    } else {
      failed(alertLine.textContent);
    }
  } catch (error) {
    failed(explain(error));
  }
}

// Input ---------------------------------------------------------------------------------------------------------------

function press(key, text = []) {
  const wanted = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key.split(" ").includes(key));
  if (!wanted) return false;
  if (!wanted.matches("input, textarea")) {
    wanted.click();
    return true;
  }
  wanted.focus();
  const letters = text.filter((one) => one.length === 1).join("");
  if (letters) wanted.setRangeText(letters, wanted.selectionEnd, wanted.selectionEnd, "end");
  return true;
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-swap]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  swap(link.href);
});

// The second half of a double click is not a verdict about the next edge.
document.addEventListener(
  "click",
  (event) => {
    if (!event.detail || !event.target.closest("#judge button")) return; // no detail: a key
    if (event.timeStamp - clicked < DOUBLE_CLICK) event.preventDefault();
    clicked = event.timeStamp;
  },
  true,
);

for (const [kind, down] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  document.addEventListener(kind, () => { held = down; }, true);
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-swap]")) return;
  event.preventDefault();
  const button = event.submitter;
  const fields = new URLSearchParams(new FormData(form, button));
  const action = (button && button.getAttribute("formaction")) || form.getAttribute("action");
  if (action === "/decide") judge(fields);
  else if (form.method === "post") swap(action, fields);
  else swap(`${action}?${fields}`);
});

document.addEventListener("keydown", (event) => {
  const writing = event.target.matches("input:not([type=checkbox]), textarea, select");
  if (event.key === "Escape" && writing) event.target.blur();
  if (event.target.id === "note" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    swap("/note", new URLSearchParams(new FormData(event.target.form)));
  }
  if (writing || event.repeat || event.ctrlKey || event.metaKey || event.altKey || !keys.checked) return;
  if (!waiting) {
    if (press(event.key)) event.preventDefault();
  } else if (typed.length || event.key === "e" || event.key === "/") {
    typed.push(event.key);
    event.preventDefault();
  } else if (document.querySelector(`[data-key~="${CSS.escape(event.key)}"]`)) {
    ignored += 1;
  }
});

window.addEventListener("popstate", () => {
  if (location.search !== shown) swap(location.href); // otherwise a link to a part of this page was followed
});

// An export has every verdict that was given before it.
document.addEventListener("click", async (event) => {
  const link = event.target.closest('a[href^="/export"]');
  if (!link || !delivery) return;
  event.preventDefault();
  if (await delivery) link.click();
});

// Whoever leaves in spite of the question, or can't be asked, as on a phone, loses nothing: the browser sends the rest.
window.addEventListener("pagehide", () => {
  for (const form of outbox) if (form !== sent) navigator.sendBeacon("/decide", form);
  const note = noteForm();
  if (note) navigator.sendBeacon("/note", note);
});

window.addEventListener("beforeunload", (event) => {
  if (outbox.length) event.preventDefault();
});

keys.checked = localStorage.getItem("keys") !== "off";
keys.addEventListener("change", () => localStorage.setItem("keys", keys.checked ? "on" : "off"));
document.documentElement.classList.add("scripted");
history.replaceState(null, "", withoutAfter(location.href));
shown = location.search;
lookAhead();

import { api, hasKey, signIn, signOut, storedKey } from "../shared/api.js";
import { announce, el } from "../shared/element.js";
import { enhanceCode } from "./code-tabs.js";
import { findRecords } from "./reference-records.js";
import { renderReference, repairAttributes } from "./reference.js";

const DEFAULTS = { key: "YOUR_API_KEY", index: "holidays" };

const form = document.getElementById("key-form");
const { key: keyField, index: indexField, remember } = form.elements;
const errorLine = document.getElementById("key-error");
const forget = document.getElementById("forget");
const reference = document.getElementById("reference");

const contract = loadContract();
let refreshes = 0;

async function loadContract() {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`The service returned status ${response.status}.`);
  return response.json();
}

/** Fills in the guide and the reference anew, with the stored key and the chosen index. */
async function refresh() {
  refreshes += 1;
  const refreshNumber = refreshes;
  const found = await lookUp();
  if (refreshNumber !== refreshes) return;
  const index = indexField.value || found.records?.index_name?.index_name || "";
  indexField.value = index;
  forget.hidden = !hasKey();
  keyField.placeholder = hasKey() ? "The stored key is used" : "sl_…";
  const names = found.names.map((name) => el("option", { value: name }));
  document.getElementById("index-names").replaceChildren(...names);
  fillCode({ origin: location.origin, key: storedKey() ?? DEFAULTS.key, index });
  announce(describeFound(found.records, index));
  try {
    renderReference(reference, await contract, found.records, storedKey());
  } catch (error) {
    const text = `The list of operations can't be loaded. ${error.message} Reload the page.`;
    reference.replaceChildren(el("p.notice", {}, text));
  }
}

/** Looks up what the key may read. A key that is no longer valid is forgotten. */
async function lookUp() {
  if (!hasKey()) return { names: [], records: null };
  try {
    return await findRecords((target) => api("GET", target), indexField.value);
  } catch (error) {
    if (error.status === 401) signOut();
    errorLine.textContent = error.message;
    return { names: [], records: null };
  }
}

function fillCode({ origin, key, index }) {
  const values = { origin, key, index: index || DEFAULTS.index };
  for (const place of document.querySelectorAll("[data-fill]")) {
    place.textContent = values[place.dataset.fill];
  }
}

function describeFound(records, index) {
  if (records === null) return "";
  const name = records.index_name?.index_name;
  if (!name) return "The key is filled in. There is no index yet: create one in step 2.";
  if (name === index) return `The code and the operations are filled in for the index ${name}.`;
  return `There is no index ${index} yet. The operations are filled in for ${name}.`;
}

/** Stores the key that was entered, if there is one, and fills in the page. */
async function submit() {
  errorLine.textContent = "";
  const candidate = keyField.value.trim();
  try {
    if (candidate) await signIn(candidate, remember.checked);
    keyField.value = "";
    await refresh();
  } catch (error) {
    errorLine.textContent = error.message;
    keyField.select();
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void submit();
});
forget.addEventListener("click", () => {
  signOut();
  indexField.value = "";
  errorLine.textContent = "";
  void refresh();
  keyField.focus();
});

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

form.hidden = false;
enhanceCode(document.getElementById("guide"));
repairAttributes(reference);
void refresh();

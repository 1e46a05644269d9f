import { apiPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { confirmAction, el, errorNotice, announce } from "../shared/element.js";
import { openPagedList } from "../shared/paged-list.js";
import { dateTime } from "../shared/wording.js";
import { keyState, newKeyFields } from "./key-state.js";

const SCOPES = [
  ["read", "Read: search, ask, list", true],
  ["write", "Write: add, change, delete", false],
  ["admin", "Admin: API keys, secrets of webhooks", false],
];
const EXPIRIES = [
  ["", "with this key"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
];

/** Opens the API keys of the account, with the form that creates one. */
export function openKeys() {
  const created = el("div", { role: "alert" });
  const form = newKeyForm();
  const root = el("section.stack", {}, el("h1", {}, "API keys"), form, created);
  const list = openPagedList("API keys", {
    path: apiPath(["keys"]),
    field: "keys",
    empty: "No API keys.",
    render: (key) => keyItem(key, list),
    onError(error, retry) {
      if (error.status !== 403) return errorNotice(error, retry);
      form.hidden = true;
      return el("p.notice", {}, NEEDS_ADMIN);
    },
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { name, scope, expiry } = form.elements;
    const scopes = [...scope].filter(({ checked }) => checked).map(({ value }) => value);
    try {
      if (scopes.length === 0) throw new Error("Choose at least one scope.");
      const fields = newKeyFields({ name: name.value, scopes, days: expiry.value }, Date.now());
      const key = await api("POST", apiPath(["keys"]), { body: fields });
      created.replaceChildren(newKey(key, () => created.replaceChildren()));
      created.querySelector("input").select();
      form.reset();
      await list.load();
    } catch (error) {
      created.replaceChildren(errorNotice(error));
    }
  });
  root.append(list.root);
  void list.load();
  return root;
}

const NEEDS_ADMIN =
  "Your API key doesn't have the scope admin. Only a key with this scope lists, creates and revokes API keys.";

function newKeyForm() {
  const scopes = SCOPES.map(([value, label, checked]) =>
    el("label.tick", {}, el("input", { type: "checkbox", name: "scope", value, checked }), label),
  );
  const options = EXPIRIES.map(([value, label]) => el("option", { value }, label));
  const text = { maxlength: 100, autocomplete: "off", placeholder: "Web site" };
  return el(
    "form.panel.stack.tight",
    {},
    el("h2", {}, "Create an API key"),
    el("label", { for: "key-name" }, "Name"),
    el("input", { id: "key-name", name: "name", required: true, ...text }),
    el("fieldset.stack.tight", {}, el("legend", {}, "Scopes"), scopes),
    el("label", { for: "key-expiry" }, "Ends"),
    el("select", { id: "key-expiry", name: "expiry" }, options),
    el("div.row", {}, el("button.main", {}, "Create API key")),
  );
}

/** Shows a new key, which can't be read again. */
function newKey({ name, api_key: key }, onClose) {
  const field = el("input", { readonly: true, value: key, "aria-label": `API key ${name}` });
  const copy = el("button.main", { type: "button" }, "Copy");
  copy.addEventListener("click", async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(key);
      copy.textContent = "Copied";
      announce("The API key is copied.");
    } catch {
      announce("The browser doesn't allow copying. The API key is selected: copy it yourself.");
    }
  });
  const close = el("button.quiet", { type: "button", onclick: onClose }, "I have stored it");
  return el(
    "div.panel.stack.tight",
    {},
    el("h2", {}, `New API key “${name}”`),
    el("p", {}, "It is shown only now. Store it where only you can read it, then close this."),
    el("div.row", {}, field, copy, close),
  );
}

function keyItem(key, list) {
  const { key_id: id, scopes, is_current: isCurrent, created_at: at, last_used_at: used } = key;
  const { isValid, text } = keyState(key, Date.now());
  const name = key.name ?? "Without a name";
  const facts = [
    scopes.join(", "),
    `created ${dateTime(at)}`,
    used ? `last used ${dateTime(used)}` : "never used",
    id,
  ];
  const item = el(
    "li.record",
    {},
    el("b", { dir: "auto" }, name),
    isCurrent ? el("span.badge", {}, "In use here") : null,
    el("span.facts", {}, `${text} · ${facts.join(" · ")}`),
  );
  if (!isValid) {
    item.classList.add("ended");
    return item;
  }
  const revoke = async () => {
    const warning = isCurrent
      ? "You are signed in with this key: revoking it signs you out."
      : "Programs that use it are refused within a minute.";
    const question = `${warning} This can't be undone.`;
    if (!(await confirmAction(`Revoke “${name}”?`, question, "Revoke"))) return;
    try {
      await api("DELETE", apiPath(["keys", id]));
      announce(`${name} is revoked.`);
      await list.load();
    } catch (error) {
      item.append(errorNotice(error));
    }
  };
  const label = `Revoke ${name}`;
  const attributes = { type: "button", "aria-label": label, onclick: revoke };
  item.append(el("button.quiet.faint", attributes, "Revoke"));
  return item;
}

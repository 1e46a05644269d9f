import { api, indexPath } from "./api.js";
import { confirmAction, el, errorNotice, announce } from "./element.js";
import { openPagedList } from "./paged-list.js";
import { count, dateTime } from "./wording.js";

/** Opens the webhook of an index: secrets, test, deliveries. `url` is null if none is set. */
export function openWebhook(index, url) {
  const root = el("div.panel.stack.tight", {}, el("h2", {}, "Webhook"));
  if (url === null) {
    root.append(el("p.facts", {}, "No webhook URL is set. Set one above to receive events."));
    return root;
  }
  const path = indexPath(index, "/webhook");
  const state = el("div.stack.tight");
  const result = el("div", { role: "alert" });
  const deliveries = openPagedList("Deliveries", {
    path: `${path}/deliveries`,
    field: "deliveries",
    empty: "No deliveries yet. Send a test event.",
    render: deliveryItem,
  });
  const attempt = async (work) => {
    result.replaceChildren();
    try {
      await work();
    } catch (error) {
      result.replaceChildren(errorNotice(error));
    }
  };
  const load = async () => {
    try {
      state.replaceChildren(...webhookState(await api("GET", path)));
    } catch (error) {
      state.replaceChildren(
        error.status === 403 ? el("p.notice", {}, NEEDS_ADMIN) : errorNotice(error, load),
      );
    }
  };
  const rotate = () =>
    attempt(async () => {
      const text = "Events are signed with the old and the new secret for a day.";
      if (!(await confirmAction("Make a new secret?", text, "Make a new secret"))) return;
      state.replaceChildren(...webhookState(await api("POST", `${path}/rotate`)));
      announce("There is a new secret.");
    });
  const test = () =>
    attempt(async () => {
      await api("POST", `${path}/test`);
      announce("A test event is queued.");
      await deliveries.load();
    });
  const action = (label, onclick) => el("button.quiet", { type: "button", onclick }, label);
  root.append(
    el("p.break", {}, url),
    state,
    el(
      "div.row",
      {},
      action("Send a test event", test),
      action("Make a new secret…", rotate),
      action("Reload deliveries", () => deliveries.load()),
    ),
    result,
    el("h3", {}, "Deliveries"),
    deliveries.root,
  );
  void load();
  void deliveries.load();
  return root;
}

const NEEDS_ADMIN =
  "Your API key doesn't have the scope admin. Only a key with this scope reads and changes the secrets.";

function webhookState({ disabled_at: disabledAt, secrets, deliveries }) {
  const { pending, delivered, failed } = deliveries;
  return [
    disabledAt
      ? el(
          "p.notice.bad",
          {},
          `Nothing is sent since ${dateTime(disabledAt)}: the receiver answered 410. Save the settings with the URL to start again.`,
        )
      : null,
    el("p.facts", {}, `${pending} pending, ${delivered} delivered, ${failed} failed`),
    ...secrets.map(secretLine),
  ].filter(Boolean);
}

/** Renders a secret, which is hidden until it is asked for. */
function secretLine({ secret, created_at: at, expires_at: expires }, i) {
  const text = el("code", {}, "••••••••");
  const toggle = el("button.quiet.faint", { type: "button", "aria-pressed": "false" }, "Show");
  toggle.setAttribute("aria-label", `Show secret ${i + 1}`);
  toggle.addEventListener("click", () => {
    const isShown = toggle.getAttribute("aria-pressed") === "true";
    text.textContent = isShown ? "••••••••" : secret;
    toggle.textContent = isShown ? "Show" : "Hide";
    toggle.setAttribute("aria-label", `${toggle.textContent} secret ${i + 1}`);
    toggle.setAttribute("aria-pressed", String(!isShown));
  });
  const validity = expires ? `, signs until ${dateTime(expires)}` : "";
  return el(
    "div.record",
    {},
    el("span.break", {}, "Secret: ", text),
    toggle,
    el("span.facts", {}, `made ${dateTime(at)}${validity}`),
  );
}

const STATES = { pending: "Pending", delivered: "Delivered", failed: "Failed" };

function deliveryItem(delivery) {
  const { type, state, attempts, status_code: status, error, payload, event_id: id } = delivery;
  const facts = [
    dateTime(delivery.created_at),
    count(attempts, "attempt"),
    status ? `status ${status}` : null,
    delivery.next_attempt_at ? `next attempt ${dateTime(delivery.next_attempt_at)}` : null,
    id,
  ];
  return el(
    "li.record",
    {},
    el("b", {}, type),
    el("span", { class: state === "failed" ? "badge bad" : "badge" }, STATES[state]),
    el("span.facts", {}, facts.filter(Boolean).join(" · ")),
    error ? el("span.facts", {}, error) : null,
    el(
      "details.rest",
      {},
      el("summary", {}, "Payload"),
      el("pre", {}, JSON.stringify(payload, null, 2)),
    ),
  );
}

import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { confirmAction, el, errorNotice, announce } from "../shared/element.js";
import { openPagedList } from "../shared/paged-list.js";
import { count, dateTime } from "../shared/wording.js";

/** Pauses and reads after a test event, while it is pending. */
const POLL_MS = 1000;
const MAX_READS = 10;

/** Opens the webhook of an index: secrets, test, deliveries. `url` is null if none is set. */
export function openWebhook(index, url) {
  const root = el("div.panel.stack.tight", {}, el("h2", {}, "Webhook"));
  if (url === null) {
    root.append(el("p.facts", {}, "No webhook URL is set. Set one above to receive events."));
    return root;
  }
  const path = indexPath(index, ["webhook"]);
  const counts = el("div.stack.tight", { role: "status" });
  const secrets = el("div.stack.tight");
  let canReadCounts = true;
  const result = el("div", { role: "alert" });
  const deliveries = openPagedList("Deliveries", {
    path: indexPath(index, ["webhook", "deliveries"]),
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
  const show = (webhook) => {
    counts.replaceChildren(...deliveryCounts(webhook));
    secrets.replaceChildren(...webhook.secrets.map(secretLine));
  };
  const load = async () => {
    try {
      show(await api("GET", path));
    } catch (error) {
      canReadCounts = error.status !== 403;
      secrets.replaceChildren(
        canReadCounts ? errorNotice(error, load) : el("p.notice", {}, NEEDS_ADMIN),
      );
    }
  };
  /** Reads the deliveries and their counts again. Resolves to the number of pending ones. */
  const refresh = async () => {
    await deliveries.load();
    if (!canReadCounts) return 0;
    const webhook = await api("GET", path);
    counts.replaceChildren(...deliveryCounts(webhook));
    return webhook.deliveries.pending;
  };
  const rotate = () =>
    attempt(async () => {
      const text = "Events are signed with the old and the new secret for a day.";
      if (!(await confirmAction("Make a new secret?", text, "Make a new secret"))) return;
      show(await api("POST", indexPath(index, ["webhook", "rotate"])));
      announce("There is a new secret.");
    });
  const test = () =>
    attempt(async () => {
      await api("POST", indexPath(index, ["webhook", "test"]));
      announce("A test event is queued.");
      for (let reads = 0; reads < MAX_READS && root.isConnected; reads++) {
        if ((await refresh()) === 0) break;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    });
  const action = (label, onclick) => el("button.quiet", { type: "button", onclick }, label);
  root.append(
    el("p.break", {}, url),
    counts,
    secrets,
    el(
      "div.row",
      {},
      action("Send a test event", test),
      action("Make a new secret…", rotate),
      action("Reload deliveries", () => attempt(refresh)),
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

function deliveryCounts({ disabled_at: disabledAt, deliveries }) {
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

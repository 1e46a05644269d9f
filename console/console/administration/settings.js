import { descriptionOf, indexTitle, metadataOf, withTitle } from "../library/index-title.js";
import { indexPath } from "../shared/api-path.js";
import { api } from "../shared/api.js";
import { el, errorNotice, announce } from "../shared/element.js";
import { metadataFields } from "../shared/metadata-fields.js";
import { openArchive } from "./archive.js";
import { settingsFields, settingsForm } from "./index-settings.js";
import { openWebhook } from "./webhook.js";

/** Opens the settings of an index, its webhook, and its export and import. */
export function openSettings(index) {
  const webhook = el("section.stack.tight");
  const content = el("div.stack", { "aria-busy": "true" }, el("p.facts", {}, "Loading…"));
  const showWebhook = ({ settings }) =>
    webhook.replaceChildren(openWebhook(index, settings.webhook_url ?? null));
  const load = async () => {
    try {
      const { index: record } = await api("GET", indexPath(index, [], { limit: 1 }));
      showWebhook(record);
      content.replaceChildren(openForm(index, record, showWebhook), webhook, openArchive(index));
    } catch (error) {
      content.replaceChildren(errorNotice(error, load));
    }
    content.removeAttribute("aria-busy");
  };
  void load();
  return el("section.stack", {}, el("h2", {}, "Settings"), content);
}

function openForm(index, record, onSaved) {
  const values = settingsForm({ ...record, description: descriptionOf(record) });
  const name = el("input", { id: "set-name", dir: "auto", autocomplete: "off", maxlength: 200 });
  name.value = indexTitle(record);
  const description = el("textarea", { id: "set-description", rows: 3, dir: "auto" });
  const language = el("input", { id: "set-language", placeholder: "en", autocomplete: "off" });
  const webhookUrl = el("input", { id: "set-webhook", type: "url", placeholder: "https://…" });
  const isScheduled = el("input", { type: "checkbox", checked: values.isScheduled });
  const range = { type: "number", min: 1, max: 720, required: true };
  const hours = el("input", { id: "set-hours", ...range, disabled: !values.isScheduled });
  const fields = { description, language, webhookUrl, hours };
  for (const [name, field] of Object.entries(fields)) field.value = values[name];
  isScheduled.addEventListener("change", () => (hours.disabled = !isScheduled.checked));
  const metadata = metadataFields(metadataOf(record));
  const result = el("div", { role: "alert" });
  const save = el("button.main", {}, "Save");
  const form = el(
    "form.panel.stack.tight",
    {},
    el("label", { for: "set-name" }, "Name"),
    name,
    el("p.hint.break", {}, `Shown in this console. The name in the API stays ${index}.`),
    el("label", { for: "set-description" }, "Description"),
    description,
    metadata.root,
    el("label", { for: "set-language" }, "Language spoken in the videos"),
    language,
    el("p.hint", {}, "A language tag such as en or pt-BR. Empty: it is detected for each video."),
    el("label.tick", {}, isScheduled, "Check and repair regularly"),
    el("label", { for: "set-hours" }, "Hours between two checks (1 to 720)"),
    hours,
    el("label", { for: "set-webhook" }, "Webhook URL"),
    webhookUrl,
    el("p.hint", {}, "A public https URL, which receives what happens to assets."),
    result,
    el("div.row", {}, save),
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    result.replaceChildren();
    save.disabled = true;
    try {
      const body = {
        ...settingsFields({
          description: description.value,
          language: language.value,
          webhookUrl: webhookUrl.value,
          isScheduled: isScheduled.checked,
          hours: hours.value,
          webhookEvents: values.webhookEvents,
        }),
        metadata: withTitle(metadata.read(), name.value, index),
      };
      const saved = await api("PATCH", indexPath(index), { body });
      onSaved(saved);
      window.dispatchEvent(new CustomEvent("index-saved", { detail: saved }));
      result.replaceChildren(el("p.notice", {}, "Saved."));
      announce("Saved.");
    } catch (error) {
      result.replaceChildren(errorNotice(error));
    }
    save.disabled = false;
  });
  return form;
}

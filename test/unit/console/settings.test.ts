import { expect, it } from "vitest";

interface Form {
  description: string;
  language: string;
  webhookUrl: string;
  isScheduled: boolean;
  hours: string;
}
interface Key {
  revoked_at: string | null;
  expires_at: string | null;
}

/** The functions under test; the console is plain JavaScript without types. */
interface IndexSettings {
  settingsForm: (index: { description: string; settings: object }) => Form;
  settingsFields: (form: Form) => { description: string; settings: object };
}
interface KeyState {
  keyState: (key: Key, now: number) => { isValid: boolean; text: string };
  newKeyFields: (form: { name: string; scopes: string[]; days: string }, now: number) => object;
}

const load = (name: string) =>
  import(new URL(`../../../console/console/${name}.js`, import.meta.url).href);
const { settingsForm, settingsFields } = (await load(
  "administration/index-settings",
)) as IndexSettings;
const { keyState, newKeyFields } = (await load("administration/key-state")) as KeyState;

it("Settings that are shown in the form and saved are unchanged", () => {
  const settings = {
    language: "pt-BR",
    webhook_url: "https://hooks.example/sightline",
    webhook_events: ["asset.failed"],
    traverse_every_hours: 6,
  };
  const index = { description: "Clips", settings };
  expect(settingsFields(settingsForm(index))).toEqual(index);
});

it("An index without settings is checked every 24 hours", () => {
  const form = settingsForm({ description: "", settings: {} });
  expect(form).toMatchObject({ isScheduled: true, hours: "24" });
});

it("Scheduled checks that are turned off are null, and stay off in the form", () => {
  const form = settingsForm({ description: "", settings: { traverse_every_hours: null } });
  expect(form.isScheduled).toBe(false);
  expect(settingsFields(form).settings).toEqual({ traverse_every_hours: null });
});

it("Empty fields remove their settings", () => {
  const form = settingsForm({ description: "", settings: { language: "en" } });
  const saved = settingsFields({ ...form, language: " " });
  expect(saved.settings).toEqual({ traverse_every_hours: 24 });
});

const NOW = Date.parse("2026-11-24T12:00:00Z");

it.each([
  [{ revoked_at: null, expires_at: null }, true, /^Valid without an end$/],
  [{ revoked_at: null, expires_at: "2026-11-25T12:00:00Z" }, true, /^Valid until .*2026/],
  [{ revoked_at: null, expires_at: "2026-11-23T12:00:00Z" }, false, /^Expired on .*2026/],
  [
    { revoked_at: "2026-11-23T12:00:00Z", expires_at: "2026-11-25T12:00:00Z" },
    false,
    /^Revoked on .*2026/,
  ],
])("The API key %j is valid: %s", (key, isValid, text) => {
  expect(keyState(key, NOW)).toEqual({ isValid, text: expect.stringMatching(text) as string });
});

it("A new API key ends after the chosen days, or with the key that makes it", () => {
  const form = { name: " Web site ", scopes: ["read"] };
  expect(newKeyFields({ ...form, days: "30" }, NOW)).toEqual({
    name: "Web site",
    scopes: ["read"],
    expires_at: "2026-12-24T12:00:00.000Z",
  });
  const withoutEnd = newKeyFields({ ...form, days: "" }, NOW);
  expect(withoutEnd).toEqual({ name: "Web site", scopes: ["read"] });
});

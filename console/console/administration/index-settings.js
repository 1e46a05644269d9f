/** Hours between scheduled traversals if the settings don't say. */
export const DEFAULT_HOURS = 24;

/** Returns the values of the form for an index record. */
export function settingsForm({ description, settings }) {
  const hours = settings.traverse_every_hours;
  return {
    description,
    language: settings.language ?? "",
    webhookUrl: settings.webhook_url ?? "",
    webhookEvents: settings.webhook_events,
    isScheduled: hours !== null,
    hours: String(hours ?? DEFAULT_HOURS),
  };
}

/**
 * Returns the fields of the request for a form. The settings are replaced as a whole, so an empty
 * field removes its setting. Types of events aren't in the form, and stay.
 */
export function settingsFields(form) {
  const { description, language, webhookUrl, webhookEvents, isScheduled, hours } = form;
  const settings = { traverse_every_hours: isScheduled ? Number(hours) : null };
  if (language.trim() !== "") settings.language = language.trim();
  if (webhookUrl.trim() !== "") settings.webhook_url = webhookUrl.trim();
  if (webhookEvents) settings.webhook_events = webhookEvents;
  return { description, settings };
}

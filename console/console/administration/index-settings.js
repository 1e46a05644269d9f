/** Hours between scheduled traversals if the settings don't say. */
export const DEFAULT_HOURS = 24;

/** Returns the values of the form for an index record. */
export function settingsForm({ description, settings }) {
  const hours = settings.traverse_every_hours;
  return {
    description,
    language: settings.language ?? "",
    webhookUrl: settings.webhook_url ?? "",
    isScheduled: hours !== null,
    hours: String(hours ?? DEFAULT_HOURS),
    calibration: settings.calibration,
  };
}

/**
 * Returns the fields of the request for a form. The settings are replaced as a whole, so an empty
 * field removes its setting.
 */
export function settingsFields({ description, language, webhookUrl, isScheduled, hours, ...rest }) {
  const settings = { traverse_every_hours: isScheduled ? Number(hours) : null };
  if (language.trim() !== "") settings.language = language.trim();
  if (webhookUrl.trim() !== "") settings.webhook_url = webhookUrl.trim();
  // The page of the quality changes it.
  if (rest.calibration !== undefined) settings.calibration = rest.calibration;
  return { description, settings };
}

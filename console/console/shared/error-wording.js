/** Beginnings of pydantic's messages, which leave out the field that they are about. */
const WITHOUT_SUBJECT = /^(?:[a-z]|Field|Input|String|List|Tuple|Dictionary|JSON|URL should)/;

/** Returns the `detail` of an error response as sentences; undefined without one. */
export function formatDetail(detail) {
  if (!Array.isArray(detail)) return detail;
  return [...new Set(detail.map(issueSentence))].join(" ");
}

function issueSentence({ loc, msg }) {
  const field = loc.slice(1).findLast((part) => typeof part === "string");
  if (field === undefined || !WITHOUT_SUBJECT.test(msg)) return sentence(msg);
  return `${sentence(field.replaceAll("_", " "), ":")} ${msg.charAt(0).toLowerCase()}${sentence(msg).slice(1)}`;
}

function sentence(text, end = ".") {
  const capitalised = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?:]$/.test(capitalised) ? capitalised : capitalised + end;
}

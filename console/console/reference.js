/* global SwaggerUIBundle */

/**
 * Renders the path of an operation as text. Swagger UI's own link inside the button that opens the
 * operation can't be reached by screen readers.
 */
const plainPaths = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement("span", {}, text) },
});

/** Swagger UI sends the API key only to this origin, and drops it when the page is closed. */
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [plainPaths],
});

/** Attributes for screen readers and keyboards that Swagger UI leaves out or sets wrongly. */
const ATTRIBUTES = [
  [".close-modal", "aria-label", "Close"],
  ["input[type=file]", "aria-label", "File"],
  ["textarea", "aria-label", "Request body"],
  ["pre.microlight", "tabindex", "0"],
  [".modal-btn[type=submit]", "aria-label", "Authorize"],
];

function setAttributes() {
  for (const [selector, name, value] of ATTRIBUTES) {
    for (const element of document.querySelectorAll(`${selector}:not([${name}="${value}"])`)) {
      element.setAttribute(name, value);
    }
  }
}

new MutationObserver(setAttributes).observe(document.getElementById("reference"), {
  childList: true,
  subtree: true,
});

/* global SwaggerUIBundle */
import { fillExamples } from "./reference-examples.js";

const EVENT_STREAM = /\/index\/[^/]+\/events$/;
const EVENT_STREAM_MS = 5000;

/** Changes of Swagger UI's components. */
const components = ({ React: { createElement } }) => ({
  components: {
    /** Without an introduction, a field for the key and `<main>`: the page has its own. */
    OperationsLayout: ({ getComponent }) => {
      const part = (name) => createElement(getComponent(name, true));
      const wrapped = (name) => createElement("div", { className: "wrapper" }, part(name));
      return createElement(
        "div",
        { className: "swagger-ui" },
        createElement(getComponent("SvgAssets")),
        part("errors"),
        part("FilterContainer"),
        wrapped("operations"),
        wrapped("Models"),
      );
    },
    // Text: a link inside the button that opens an operation can't be reached by screen readers.
    DeepLink: ({ text }) => createElement("span", {}, text),
    authorizeOperationBtn: () => null,
    // Nothing: empty fields are never sent.
    ParameterIncludeEmpty: () => null,
  },
  wrapComponents: {
    JsonSchemaForm: (Form) => (props) => {
      const placeholder = props.schema?.get?.("x-placeholder");
      return createElement(Form, placeholder ? { ...props, description: placeholder } : props);
    },
  },
});

/**
 * Renders the OpenAPI document into `container`, with forms that are filled from `records`
 * and send `key`. Both are null without an API key.
 */
export function renderReference(container, document, records, key) {
  const domNode = container.ownerDocument.createElement("div");
  container.replaceChildren(domNode);
  const ui = SwaggerUIBundle({
    spec: fillExamples(document, records),
    domNode,
    layout: "OperationsLayout",
    deepLinking: true,
    displayRequestDuration: true,
    filter: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    syntaxHighlight: { theme: "obsidian" },
    plugins: [components],
    requestInterceptor: (request) => {
      if (EVENT_STREAM.test(request.url)) request.userFetch = fetchStart;
      return request;
    },
    onComplete: () => key !== null && ui.preauthorizeApiKey("ApiKey", key),
  });
}

/** Fetches the first seconds of a stream, which Swagger UI would otherwise wait for to end. */
async function fetchStart(url, request) {
  const response = await fetch(url, request);
  const { status, statusText, headers } = response;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => void reader.cancel(), EVENT_STREAM_MS);
  let text = "";
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    text += chunk.value;
  }
  clearTimeout(timer);
  return new Response(text, { status, statusText, headers });
}

/** Attributes for screen readers and keyboards that Swagger UI leaves out or sets wrongly. */
const ATTRIBUTES = [
  [".opblock-description-wrapper > input[type=file]", "aria-label", "File"],
  ["textarea", "aria-label", "Request body"],
  [".examples-select-element", "aria-label", "Examples"],
  ["pre.microlight", "tabindex", "0"],
];

/** Sets the missing attributes of everything that Swagger UI renders into `container`. */
export function repairAttributes(container) {
  new MutationObserver(() => {
    for (const [selector, name, value] of ATTRIBUTES) setMissing(container, selector, name, value);
    for (const row of container.querySelectorAll("tr[data-param-name], tr[data-property-name]")) {
      const name = row.dataset.paramName ?? row.dataset.propertyName;
      setMissing(row, "input, select", "aria-label", name);
    }
  }).observe(container, { childList: true, subtree: true });
}

function setMissing(container, selector, name, value) {
  for (const element of container.querySelectorAll(selector)) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

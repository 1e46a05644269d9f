/* global SwaggerUIBundle */

/** The key that is typed in goes with requests to this origin, and is forgotten with the page. */
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});

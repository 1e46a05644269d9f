/* global SwaggerUIBundle */

/** Swagger UI sends the API key only to this origin, and drops it when the page is closed. */
SwaggerUIBundle({
  url: "/openapi.json",
  domNode: document.getElementById("reference"),
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});

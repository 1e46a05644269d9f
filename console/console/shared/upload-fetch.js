/**
 * Sends a request as `fetch` does, and reports to `onUploadProgress` what was sent, which `fetch`
 * can't: by XMLHttpRequest. It follows redirects, but the page's policy allows this origin only.
 */
export function fetchWithProgress(url, { onUploadProgress, ...init }) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const { method, headers, body, signal } = init;
  signal.throwIfAborted();
  const request = new XMLHttpRequest();
  request.open(method, url);
  request.responseType = "blob";
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded, total }) =>
    onUploadProgress(loaded, total),
  );
  request.addEventListener("load", () => resolve(toResponse(request)));
  request.addEventListener("error", () => reject(new TypeError("The connection broke.")));
  request.addEventListener("abort", () => reject(signal.reason));
  signal.addEventListener("abort", () => request.abort(), { once: true });
  request.send(body);
  return promise;
}

function toResponse(request) {
  const { status, response } = request;
  const lines = request.getAllResponseHeaders().trim().split("\r\n").filter(Boolean);
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  return new Response(status === 204 ? null : response, { status, headers });
}

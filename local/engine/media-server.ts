import { createConversionRoutes } from "./conversion-routes.ts";
import { serveRoutes } from "./http-server.ts";
import { createMediaCapabilities } from "./media-capabilities.ts";
import { createMediaRoutes, MAX_MEDIA_BYTES } from "./media-routes.ts";
import { createProcessFolder } from "./work-folder.ts";

/**
 * The media part of the engine on its own: the decoder of a deployment (docs/operate.md). Set
 * ENGINE_TOKEN, which callers must send, or ENGINE_OPEN=true if nobody else reaches the port.
 */
const { ENGINE_HOST = "127.0.0.1", ENGINE_PORT = "8080", ENGINE_TOKEN } = process.env;
const isOpen = process.env["ENGINE_OPEN"] === "true";
if (!ENGINE_TOKEN && !isOpen) {
  throw new Error("Set ENGINE_TOKEN: callers must send it. Or ENGINE_OPEN=true behind a Worker.");
}

const folder = createProcessFolder();
const capabilities = createMediaCapabilities(folder);
const routes = {
  ...createMediaRoutes(capabilities.media, { folder, maxBytes: MAX_MEDIA_BYTES }),
  ...createConversionRoutes(capabilities, folder),
};
serveRoutes(routes, capabilities, {
  name: "decoder",
  host: ENGINE_HOST,
  port: ENGINE_PORT,
  token: ENGINE_TOKEN || null,
});

import { createCapabilities } from "./capabilities.ts";
import { serveRoutes } from "./http-server.ts";
import { blockOtherLoaders } from "./image.ts";
import { MAX_MEDIA_BYTES } from "./media-routes.ts";
import { rememberReplies } from "./remembered-replies.ts";
import { createRoutes } from "./routes.ts";
import { createProcessFolder } from "./work-folder.ts";

const { ENGINE_HOST = "127.0.0.1", ENGINE_PORT, ENGINE_TOKEN, ENGINE_MAX_BYTES } = process.env;
const { ENGINE_REPLIES, MODELS_DIR = "", LOCAL_LLM_URL = "" } = process.env;
if (!ENGINE_TOKEN) throw new Error("Set ENGINE_TOKEN: callers must send it as their bearer token.");

blockOtherLoaders();
const folder = createProcessFolder();
const capabilities = createCapabilities(folder);
const maxBytes = Number(ENGINE_MAX_BYTES) || MAX_MEDIA_BYTES;
const created = createRoutes(capabilities, { folder, maxBytes });
const routes = ENGINE_REPLIES
  ? rememberReplies(created, ENGINE_REPLIES, `${MODELS_DIR} ${LOCAL_LLM_URL}`)
  : created;
serveRoutes(routes, capabilities, {
  name: "engine",
  host: ENGINE_HOST,
  port: ENGINE_PORT,
  token: ENGINE_TOKEN,
});

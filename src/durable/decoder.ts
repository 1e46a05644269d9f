import { Container } from "@cloudflare/containers";
import { DECODER_CONTAINER } from "../decoder-container.ts";

/**
 * One container of the decoder, which starts with its first request. It reaches nothing outside,
 * and only the Worker reaches it, so that it needs no key.
 */
export class Decoder extends Container {
  override defaultPort = DECODER_CONTAINER.port;
  override sleepAfter = DECODER_CONTAINER.sleepAfter;
  override enableInternet = false;
  override envVars = {
    ENGINE_HOST: "0.0.0.0",
    ENGINE_PORT: String(DECODER_CONTAINER.port),
    ENGINE_OPEN: "true",
  };
}

import { extendZodWithOpenApi } from "@asteasolutions/zod-to-openapi";
import { ZodType } from "zod";

/** Zod, whose schemas have `openapi()`; a namespace, so that the bundle has what is used. */
export * from "zod";

extendZodWithOpenApi({ ZodType } as never);

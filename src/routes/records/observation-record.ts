import { z } from "@hono/zod-openapi";
import { ERRORS, type ErrorCode, type Observed } from "../../errors.ts";
import type { BindingObservations } from "../../lifecycle/observe-bindings.ts";
import { EMBEDDING_FORMS } from "../../models/embedding-forms.ts";
import { FORMS } from "../../models/structured-chat.ts";
import { countField, orNull } from "./fields.ts";

const bindingError = z
  .object({
    code: z.string().nullable().describe("Code of Cloudflare, if it gave one.").openapi({
      example: "9412",
    }),
    meaning: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe("Error of the service that it leads to."),
  })
  .openapi("BindingError", { description: "How a binding failed a call." });
const error = orNull(bindingError, "How the call failed; null if it didn't.").openapi({
  example: null,
});

const observed = <Value extends z.ZodType>(value: Value) =>
  z.object({ value: orNull(value, "What was answered; null after an error."), error });

const size = {
  width: countField("Width in pixels.", 64),
  height: countField("Height in pixels.", 36),
};
const number = (description: string, example: number) =>
  z.number().nullable().describe(description).openapi({ example });
const luma = z.number().describe("Mean brightness, 0–255.").openapi({ example: 118 });

/** What the bindings answered: `POST /health/bindings`. */
export const observationRecord = z
  .object({
    contact_sheet: observed(
      z.object({
        ...size,
        columns: countField("Columns, as inferred from the size of the sheet.", 3),
        size_of: z
          .enum(["tile", "sheet"])
          .describe(
            "Whether FRAMES reads `width` and `height` as those of each tile or of the sheet.",
          )
          .openapi({ example: "tile" }),
        tile_lumas: z.array(luma).describe("Mean brightness of each of the 6 tiles, row by row."),
      }),
    )
      .nullable()
      .describe(
        "Six tiles of at least 64 × 36 pixels from the video's first 6 seconds. Null without one.",
      ),
    frame: observed(z.object({ ...size, luma }))
      .nullable()
      .describe("The video's frame at 3.6 seconds. Null without one."),
    decoder: observed(z.object({ ...size, luma }))
      .nullable()
      .describe(
        "The same frame by the decoder of other codecs. Null without a video or a decoder.",
      ),
    codecs: z
      .array(
        observed(z.object({ ...size, luma })).extend({
          codec: orNull(z.string(), "Codec of the video; null if it can't be read.").openapi({
            example: "hevc",
          }),
          is_listed: z.boolean().describe("Whether `FRAMES_CODECS` has the codec."),
        }),
      )
      .describe("The frame at 1.1 seconds of each of the videos of other codecs, by FRAMES."),
    images: z
      .array(
        observed(
          z.object({
            format: z.string().describe("Media type.").openapi({ example: "image/jpeg" }),
            ...size,
          }),
        ),
      )
      .describe("Each of the images."),
    descriptions: z
      .array(
        observed(z.unknown().openapi({ example: { caption: "A dog" } })).extend({
          form: z.enum(FORMS).describe("How JSON was asked for."),
        }),
      )
      .describe(
        "The model's reply, as it is, to a request to describe the first image as JSON. `wrapped` " +
          "has the schema beside a name, `bare` the schema alone, `json_object` has it in the prompt.",
      ),
    image_embeddings: z
      .array(
        observed(
          z.object({
            dimensions: number("Length of the vector; null if there is none.", 1024),
            outline: z
              .unknown()
              .describe("The output: types, and for lists the length and the first item.")
              .openapi({
                example: { data: { length: 1, item: { length: 1024, item: "number" } } },
              }),
          }),
        ).extend({
          form: z.enum(EMBEDDING_FORMS).describe("How the input was sent."),
          input: z.enum(["text", "image"]).describe("What was sent: a text or the first image."),
        }),
      )
      .describe(
        "What a joint image and text model of Workers AI answered to each form of input: `input` and " +
          "`documents` are lists, `messages` are a chat's, `fields` are `text` and `image`.",
      ),
    vectors: observed(
      z.object({
        waiting: z
          .string()
          .nullable()
          .describe(
            "Id of the vector while no query finds it: ask again with it as `vector`. Null once it " +
              "was found, or isn't waited for any more after 5 minutes.",
          )
          .openapi({ example: null }),
        found_after_seconds: number("Time until a query found the vector.", 34),
        cosine: z.number().describe("Cosine of the vector and the query.").openapi({
          example: 0.512,
        }),
        score: number("Score of the query.", 0.51),
        exact_score: number("Score of a query that returns the values.", 0.512),
      }),
    ).describe("A vector that was written, queried and deleted."),
    database: z
      .array(
        z.object({
          limit: z
            .enum(["parameters", "value_bytes", "statement_bytes"])
            .describe("Limit of D1 that was tried."),
          size: countField("Size of the statement's parameters, its value or itself.", 100),
          error,
        }),
      )
      .describe("Statements at and past the limits of D1."),
  })
  .openapi("BindingObservations", { description: "What the bindings answered." });

export function toObservationRecord({
  contactSheet,
  frame,
  decoder,
  codecs,
  images,
  descriptions,
  imageEmbeddings,
  vectors,
  database,
}: BindingObservations): z.input<typeof observationRecord> {
  return {
    contact_sheet:
      contactSheet &&
      mapValue(contactSheet, ({ tileLumas, sizing, ...sheet }) => {
        return { ...sheet, size_of: sizing, tile_lumas: tileLumas };
      }),
    frame,
    decoder,
    codecs: codecs.map(({ isListed, ...codec }) => ({ ...codec, is_listed: isListed })),
    images,
    descriptions,
    image_embeddings: imageEmbeddings,
    vectors: mapValue(vectors, ({ waiting, foundAfterMs, exactScore, cosine, score }) => ({
      waiting,
      found_after_seconds: foundAfterMs === null ? null : foundAfterMs / 1000,
      cosine,
      score,
      exact_score: exactScore,
    })),
    database,
  };
}

function mapValue<T, U>({ value, error: failure }: Observed<T>, map: (value: T) => U): Observed<U> {
  return { value: value === null ? null : map(value), error: failure };
}

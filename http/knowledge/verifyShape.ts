import { z } from "zod";
import { UserQuery } from "./documentShape.ts";

const MAX_ANSWER = 20_000;
const MAX_CITATIONS = 50;

const offset = (meaning: string) =>
  z.int("must be a whole number").min(0, "must be 0 or more").optional().describe(meaning);

const Citation = z
  .object({
    document_id: z.string("must be a string"),
    seq: z.int("must be a whole number").min(0, "must be 0 or more").describe("The passage, as a search hit names it."),
    version: z
      .int("must be a whole number")
      .min(1, "must be 1 or more")
      .optional()
      .describe("The version of the document that was cited. Default: what search shows now."),
    start_index: offset("Where the cited part of the answer begins, in UTF-16 code units. Default: the start."),
    end_index: offset("Where it ends. Default: the end."),
  })
  .refine(({ start_index = 0, end_index = MAX_ANSWER }) => start_index < end_index, {
    path: ["end_index"],
    error: "must be greater than start_index",
  });
export type Citation = z.infer<typeof Citation>;

export const VerifyRequest = UserQuery.extend({
  answer: z
    .string("must be a string")
    .max(MAX_ANSWER, `must have ${MAX_ANSWER.toLocaleString("en")} characters at most`)
    .refine((text) => /\S/.test(text), "must not be empty"),
  citations: z
    .array(Citation, "must be an array of citations")
    .max(MAX_CITATIONS, `must have ${MAX_CITATIONS} items at most`)
    .describe(
      `The passages that the answer cites, at most ${MAX_CITATIONS}. A sentence is compared with those whose part of the answer it touches, the marks after it included; up to five that are cited for a part only may support it together.`,
    ),
}).meta({ title: "VerifyRequest" });

export type VerifyRequest = z.infer<typeof VerifyRequest>;

/** A range [start, end) in UTF-16 units of a document's Markdown. */
const place = {
  document_id: z.string(),
  version: z.int().describe("The text of the document that was compared."),
  seq: z.int(),
  page: z.int().optional(),
  section: z.string().optional(),
  reference: z.string().describe("The full citation, ready to print."),
  start: z.int().describe("Where it begins in the Markdown of the document, in UTF-16 code units."),
  end: z.int(),
};

export const Verification = z
  .object({
    supported: z.int().describe("Number of sentences that a cited passage supports."),
    unsupported: z.int(),
    sentences: z.array(
      z.object({
        text: z.string(),
        start_index: z.int().describe("Where it begins in the answer, in UTF-16 code units."),
        end_index: z.int(),
        verdict: z
          .enum(["supported", "unsupported", "no_claim"])
          .describe("`no_claim`: too short to be compared, as `Yes.`"),
        support: z.number().describe("Share of its words that the passage contains, from 0 to 1."),
        missing_numbers: z.array(z.string()).describe("Its numbers that the passage does not contain."),
        missing_quotes: z
          .array(z.string())
          .describe("What it quotes in six words or more and the passage does not contain word by word."),
        source: z
          .object({ citation: z.int().describe("Index in `citations`."), ...place, quote: z.string() })
          .nullable()
          .describe("The place that supports it best; null without words in common."),
      }),
    ),
    citations: z
      .array(
        z.object({
          ...place,
          version: place.version.optional(),
          reference: place.reference.optional(),
          start: place.start.optional(),
          end: place.end.optional(),
          found: z.boolean(),
        }),
      )
      .describe(
        "As they were sent; `found: false` where there is no such document or passage, or the document is being processed.",
      ),
  })
  .meta({ title: "Verification" });

import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { Money } from "./money.ts";
import { PagePrice } from "./price.ts";
import { ReadingWarning } from "./readingWarnings.ts";
import { RecognizedLanguages } from "./ocrLanguages.ts";

const Id = z.object({ extraction_id: z.uuid() });
const ExtractionRequest = Id.extend({
  mime_type: z.string(),
  size_bytes: z.int().positive(),
  /** Key of the blob that holds the file, sealed with the extraction's data key. */
  blob: z.string(),
  /** Keyed hash (see Keyring.keyedHash) of organization, bytes and type: a second request for them joins the live extraction. */
  content_claim: z.string(),
  /** RFC 3339: 24 hours after the request. From then on the extraction does not exist. */
  expires_at: z.iso.datetime(),
});
const Personal = z.object({ name: z.string(), sha256: z.string() });
const Work = Id.extend({ attempt: z.int().positive() });
const Text = z.object({
  /** Key of the blob of the whole Markdown (UTF-8). */
  text: z.string(),
  page_count: z.int().nullable(),
  chunk_count: z.int().nonnegative(),
  /** Code points of the Markdown. */
  characters: z.int().nonnegative(),
  /** What the reader left out; absent if nothing. */
  warnings: z.array(ReadingWarning).optional(),
  ocr_languages: RecognizedLanguages,
});

export const RequestExtraction = defineCommand(
  "RequestExtraction",
  "extraction",
  ExtractionRequest.extend(Personal.shape),
);
export const StartExtraction = defineCommand("StartExtraction", "extraction", Work.extend({ worker: z.string() }));
export const CompleteExtraction = defineCommand(
  "CompleteExtraction",
  "extraction",
  Work.extend(Text.shape).extend({ per_page: PagePrice }),
);
export const FailExtraction = defineCommand("FailExtraction", "extraction", Work.extend({ error: z.string() }));
export const DeleteExtraction = defineCommand("DeleteExtraction", "extraction", Id);
/** Has no effect before `expires_at`. */
export const ExpireExtraction = defineCommand("ExpireExtraction", "extraction", Id);

const thing = (data: { extraction_id: string }) => streamName("extraction", data.extraction_id);
const Claim = z.object({ content_claim: z.string() });
export const ExtractionRequested = defineEvent("ExtractionRequested", {
  /** `worker`: the process whose queue holds the extraction; null if that queue is full. */
  public: ExtractionRequest.extend({ worker: z.string().nullable() }),
  personal: Personal,
  thing,
  opens: true,
});
export const ExtractionStarted = defineEvent("ExtractionStarted", { public: Work.extend({ worker: z.string() }) });
export const ExtractionCompleted = defineEvent("ExtractionCompleted", {
  /** `units`: billing units charged (spec: Limits). `cost`: what they cost; absent if no price is set for a page. */
  public: Work.extend(Text.shape).extend({ units: z.int().nonnegative(), cost: Money.optional() }),
});
/** Releases the claim, so that the same bytes can be tried again. */
export const ExtractionFailed = defineEvent("ExtractionFailed", {
  public: Work.extend(Claim.shape),
  personal: z.object({ error: z.string() }),
  thing,
});
/** `content_claim` is null if a failure has already released it. */
const ExtractionEnd = Id.extend({ content_claim: z.string().nullable() });
export const ExtractionDeleted = defineEvent("ExtractionDeleted", { public: ExtractionEnd });
export const ExtractionExpired = defineEvent("ExtractionExpired", { public: ExtractionEnd });

export type ExtractionCommand = CommandsIn<typeof import("./extraction.ts")>;
export type ExtractionEvent = EventsIn<typeof import("./extraction.ts")>;

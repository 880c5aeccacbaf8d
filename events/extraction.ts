import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

const Id = z.object({ extraction_id: z.uuid() });
const Requested = Id.extend({
  mime_type: z.string(),
  size_bytes: z.int().positive(),
  /** Key of the blob that holds the file, sealed with the extraction's data key. */
  blob: z.string(),
  /** Mark (see Keyring.mark) of the organization, the bytes and the type: the same twice is one extraction while it lives. */
  content_claim: z.string(),
  /** RFC 3339: 24 hours after it was asked for. From then on it does not exist. */
  expires_at: z.iso.datetime(),
});
const Described = z.object({ name: z.string(), sha256: z.string() });
const Work = Id.extend({ attempt: z.int().positive() });
const Text = z.object({
  /** Key of the blob of the whole Markdown (UTF-8). */
  text: z.string(),
  page_count: z.int().nullable(),
  chunk_count: z.int().nonnegative(),
  /** Code points of the Markdown. */
  characters: z.int().nonnegative(),
});

export const RequestExtraction = defineCommand("RequestExtraction", "extraction", Requested.extend(Described.shape));
export const StartExtraction = defineCommand("StartExtraction", "extraction", Work.extend({ worker: z.string() }));
export const CompleteExtraction = defineCommand("CompleteExtraction", "extraction", Work.extend(Text.shape));
export const FailExtraction = defineCommand("FailExtraction", "extraction", Work.extend({ error: z.string() }));
export const DeleteExtraction = defineCommand("DeleteExtraction", "extraction", Id);
/** Does nothing before its time. */
export const ExpireExtraction = defineCommand("ExpireExtraction", "extraction", Id);

const thing = (data: { extraction_id: string }) => streamOf("extraction", data.extraction_id);
const Claim = z.object({ content_claim: z.string() });
export const ExtractionRequested = defineEvent("ExtractionRequested", {
  /** `worker`: the process that has it in its queue; null when that has no room. */
  public: Requested.extend({ worker: z.string().nullable() }),
  personal: Described,
  thing,
  opens: true,
});
export const ExtractionStarted = defineEvent("ExtractionStarted", { public: Work.extend({ worker: z.string() }) });
export const ExtractionCompleted = defineEvent("ExtractionCompleted", {
  /** `units`: billing units charged (spec: Limits). */
  public: Work.extend(Text.shape).extend({ units: z.int().nonnegative() }),
});
/** Its claim ends: the same bytes are tried anew. */
export const ExtractionFailed = defineEvent("ExtractionFailed", {
  public: Work.extend(Claim.shape),
  personal: z.object({ error: z.string() }),
  thing,
});
/** `content_claim` is null where a failure had given it back. */
const Gone = Id.extend({ content_claim: z.string().nullable() });
export const ExtractionDeleted = defineEvent("ExtractionDeleted", { public: Gone });
export const ExtractionExpired = defineEvent("ExtractionExpired", { public: Gone });

export type ExtractionCommand =
  | CommandFrom<typeof RequestExtraction>
  | CommandFrom<typeof StartExtraction>
  | CommandFrom<typeof CompleteExtraction>
  | CommandFrom<typeof FailExtraction>
  | CommandFrom<typeof DeleteExtraction>
  | CommandFrom<typeof ExpireExtraction>;
export type ExtractionEvent =
  | EventFrom<typeof ExtractionRequested>
  | EventFrom<typeof ExtractionStarted>
  | EventFrom<typeof ExtractionCompleted>
  | EventFrom<typeof ExtractionFailed>
  | EventFrom<typeof ExtractionDeleted>
  | EventFrom<typeof ExtractionExpired>;

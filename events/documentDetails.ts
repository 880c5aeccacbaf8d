import { isDeepStrictEqual } from "node:util";
import { z } from "zod";

/* What a caller records about a document. */

export const MetadataValue = z.union([z.string(), z.number(), z.boolean()]);
export type MetadataValue = z.infer<typeof MetadataValue>;

/** Keys and values of the caller's own. */
export const Metadata = z.record(z.string(), MetadataValue);
export type Metadata = z.infer<typeof Metadata>;

/** Who may read a document: a person (id), a group, a role, or an end user that API keys name. */
export const DocumentReader = z.union([
  z.object({ person: z.uuid() }),
  z.object({ group: z.string() }),
  z.object({ role: z.string() }),
  z.object({ external_user: z.string() }),
]);
export type DocumentReader = z.infer<typeof DocumentReader>;

/** Fields added after the first documents were recorded. Absent fields mean the old behaviour; `readers` null means everybody. */
export const DocumentDetails = z.object({
  metadata: Metadata.optional(),
  readers: z.array(DocumentReader).nullable().optional(),
});
export type DocumentDetails = z.infer<typeof DocumentDetails>;

/** What a push declares about its text. */
export interface PushedDescription extends DocumentDetails {
  name: string;
  tags: string[];
}

/** The sent fields that differ from the recorded ones; undefined if none does. Fields that were not sent keep their value. */
export function changedDescription(
  sent: { [F in keyof PushedDescription]?: PushedDescription[F] | undefined },
  { name, tags, metadata = {}, readers = null }: PushedDescription,
): Partial<PushedDescription> | undefined {
  const recorded: PushedDescription = { name, tags, metadata, readers };
  const fields = ["name", "tags", "metadata", "readers"] as const;
  const changed = fields.filter(
    (field) => sent[field] !== undefined && !isDeepStrictEqual(sent[field], recorded[field]),
  );
  return changed.length === 0 ? undefined : Object.fromEntries(changed.map((field) => [field, sent[field]]));
}

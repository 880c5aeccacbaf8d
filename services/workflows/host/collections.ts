import { StepFailure } from "../tick.ts";
import { invalidInput } from "./input.ts";

export interface Collections {
  /** Looks up collections by slug or display name. */
  resolve(organization: string, names: string[]): Promise<{ found: { id: string; slug: string }[]; unknown: string[] }>;
}

interface CollectionRequest {
  organization_id: string;
  /** The collections that the envelope allows. */
  allowed: string[];
  /** The collections that the step names. */
  named: string[] | null | undefined;
  /** The input field of these names, for messages. */
  field: string;
}

/** Ids of the collections that a call may search; null: all of the organization. Throws StepFailure. */
export async function resolveCollections(
  collections: Collections,
  { organization_id, allowed, named, field }: CollectionRequest,
): Promise<string[] | null> {
  const all = allowed.includes("*");
  const within = all ? null : (await collections.resolve(organization_id, allowed)).found.map(({ id }) => id);
  if (!named || named.length === 0) return within;
  const { found, unknown } = await collections.resolve(organization_id, named);
  if (unknown.length > 0) throw invalidInput(`${field}: there is no collection ${JSON.stringify(unknown[0])}.`);
  const outside = found.find(({ id }) => within && !within.includes(id));
  if (outside)
    throw new StepFailure(
      "collection_not_allowed",
      `${field}: the collection ${outside.slug} is not in the workflow's envelope.collections.`,
      { final: true },
    );
  return found.map(({ id }) => id);
}

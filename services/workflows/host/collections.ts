import { StepFailure } from "../tick.ts";
import { wrong } from "./input.ts";

export interface Collections {
  /** The organization's collections with these slugs or display names, and the names that fit none. */
  resolve(organization: string, names: string[]): Promise<{ found: { id: string; slug: string }[]; unknown: string[] }>;
}

interface Asked {
  organization_id: string;
  /** As the envelope has them. */
  allowed: string[];
  /** As the step named them, if it did. */
  named: string[] | null | undefined;
  /** Where it named them. */
  field: string;
}

/** Ids of the collections that a call may reach; null: every one of the organization. */
export async function reachOf(
  collections: Collections,
  { organization_id, allowed, named, field }: Asked,
): Promise<string[] | null> {
  const all = allowed.includes("*");
  const within = all ? null : (await collections.resolve(organization_id, allowed)).found.map(({ id }) => id);
  if (!named || named.length === 0) return within;
  const { found, unknown } = await collections.resolve(organization_id, named);
  if (unknown.length > 0) throw wrong(`${field}: there is no collection ${JSON.stringify(unknown[0])}.`);
  const outside = found.find(({ id }) => within && !within.includes(id));
  if (outside)
    throw new StepFailure(
      "collection_not_allowed",
      `${field}: the collection ${outside.slug} is not in the workflow's envelope.collections.`,
      { final: true },
    );
  return found.map(({ id }) => id);
}

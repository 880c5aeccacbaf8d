import { holdStream } from "#events/hold.ts";
import { findHoldInside } from "#projections/holds/query.ts";
import type { Http } from "../base/deps.ts";
import { ApiError } from "../base/errors.ts";

/**
 * Call it before a collection, or a source with its documents, is deleted: a legal hold on one of the documents keeps all of them.
 * Throws 409 `legal_hold`.
 */
export async function checkNothingHeld(
  { db, waitUntilCurrent }: Pick<Http, "db" | "waitUntilCurrent">,
  organization: string,
  inside: { kind: "collection" | "source"; id: string },
): Promise<void> {
  await waitUntilCurrent(["holds"], holdStream(organization));
  await waitUntilCurrent(["documents", "usage", ...(inside.kind === "source" ? ["sources"] : [])]);
  const held = await findHoldInside(db, organization, inside);
  if (held)
    throw new ApiError(
      "legal_hold",
      `The hold ${JSON.stringify(held.name)} (${held.id}) of ${held.subject} covers a document of this ${inside.kind} until it is released.`,
    );
}

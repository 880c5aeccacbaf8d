import { z } from "zod";
import { isAdmin } from "../auth/authenticate.ts";
import type { Caller } from "../base/caller.ts";
import { ApiError } from "../base/errors.ts";
import { MAX_SUBJECT } from "../base/limits.ts";

export const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const SHAPE = new RegExp(`^(key|person|agent):(${UUID})$`, "i");

/** The owner whose things a list shows. Keys, people and agents may be deleted already. */
export const OwnerName = z
  .string()
  .regex(SHAPE, "must be key:<id>, person:<id> or agent:<id>.")
  .toLowerCase()
  .describe("`key:<id>`, `person:<id>` or `agent:<id>`, also of one that was deleted. Only for owners and admins.");

/** An owner as in `OwnerName`, or an external user by its `user` value. */
export const ErasedOwner = z.union(
  [
    OwnerName,
    z
      .string()
      .max(MAX_SUBJECT)
      .regex(/^user:./s)
      .describe("An external user, by the `user` of requests. The log keeps a mark of the value that tells nothing."),
  ],
  { error: "must be key:<id>, person:<id>, agent:<id> or user:<value> of at most 7,995 characters." },
);

/** Throws 403 unless the caller may see what others own. */
export function requireAllOwners(caller: Caller): void {
  if (!caller.session)
    throw new ApiError("session_required", "This requires a signed-in person; an API key cannot do it.");
  if (!isAdmin(caller)) throw new ApiError("forbidden", "Only an owner or an admin may do this.");
}

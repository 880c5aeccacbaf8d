import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { Actor } from "./runOrigin.ts";

/* A link lets somebody without an account decide one approval. Its events are part of the run's stream. */

const Link = z.object({ run_id: z.uuid(), approval_id: z.uuid(), link_id: z.uuid() });
const Terms = Link.extend({
  /** The person whose right to decide the link hands over. */
  created_by: Actor,
  expires_at: z.iso.datetime(),
  /** SHA-256 of a secret of 256 random bits; the secret itself is not stored. */
  secret_hash: z.string(),
});
/** The person the link is made for. */
const Recipient = z.object({ name: z.string().max(200).nullable(), email: z.string().max(320).nullable() });

export const CreateApprovalLink = defineCommand("CreateApprovalLink", "run", Terms.extend(Recipient.shape));
export const RevokeApprovalLink = defineCommand("RevokeApprovalLink", "run", Link.extend({ by: Actor }));

export const ApprovalLinkCreated = defineEvent("ApprovalLinkCreated", {
  public: Terms,
  personal: Recipient,
  thing: (data) => streamName("run", data.run_id),
});
export const ApprovalLinkRevoked = defineEvent("ApprovalLinkRevoked", { public: Link.extend({ by: Actor }) });

export type ApprovalLinkCommand = CommandsIn<typeof import("./approvalLinks.ts")>;
export type ApprovalLinkEvent = EventsIn<typeof import("./approvalLinks.ts")>;

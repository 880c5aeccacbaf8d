import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { StoredValue } from "./runParts.ts";

/* A message is what a client sends to the runs that wait for it; the API calls it an event. */

const Id = z.object({ message_id: z.uuid() });
/** `project_id`: only runs of this project get it; null: those of the whole organization. */
const Reach = Id.extend({ project_id: z.uuid().nullable() });
/** Absent: all runs that wait for it. */
const Address = z.object({ to: z.literal("one").optional() });
/** `data`: JSON of an object. */
const Content = z.object({ name: z.string(), data: StoredValue });

export const PostMessage = defineCommand("PostMessage", "message", Reach.extend(Address.shape).extend(Content.shape));
const Delivery = z.object({
  reached: z.int().nonnegative(),
  /** The number of runs that waited for a message that only one may receive. None of them received it. */
  refused_for: z.int().optional(),
});
/** Records that every run that waited for the message has it. */
export const CloseMessage = defineCommand("CloseMessage", "message", Id.extend(Delivery.shape));

const thing = (data: { message_id: string }) => streamName("message", data.message_id);
/** Answers every matching wait that is in the log before this event. */
export const MessagePosted = defineEvent("MessagePosted", {
  public: Reach.extend(Address.shape),
  personal: Content,
  thing,
  opens: true,
});
/** `reached`: number of runs. The content is destroyed, because the runs have copies of their own. */
export const MessageDelivered = defineEvent("MessageDelivered", {
  public: Id.extend(Delivery.shape),
});

export type MessageCommand = CommandsIn<typeof import("./message.ts")>;
export type MessageEvent = EventsIn<typeof import("./message.ts")>;

import { z } from "zod";
import type { EventFilter } from "#events/auditLog.ts";
import { eventDefinitions } from "#events/index.ts";
import { isUuid, parseStreamName } from "#events/ids.ts";
import { ApiError } from "../base/errors.ts";

/** The filters of the list of events and of its histogram. */
export const eventFilters = {
  stream: z.string().optional().describe("Only events of this stream: `<aggregate>-<id>`."),
  type: z.string().optional().describe("Only events of these types, separated by commas."),
  principal: z
    .string()
    .regex(
      /^(person|key|webhook|link):[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
      "must be person:<id>, key:<id>, webhook:<id> or link:<id>.",
    )
    .toLowerCase()
    .optional()
    .describe(
      "Only events that somebody caused: `person:<id>`, `key:<id>`, `webhook:<id of the trigger>` or `link:<id of the link to an approval>`, also of one that was deleted.",
    ),
  command: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, "must be the command_id of an event.")
    .optional()
    .describe(
      "Only events of the command with this `command_id`, which were committed together. Ids that a client chose are looked for in the newest 50,000 events once they are older than two days.",
    ),
};
const Filters = z.object(eventFilters);

const refuse = (param: string, why: string) => new ApiError(null, `${param}: ${why}`, { param });

/** Reads the filters of a query. Throws a 400. */
export function readEventFilter({ stream, type, principal, command }: z.infer<typeof Filters>): EventFilter {
  if (stream !== undefined && !isUuid(parseStreamName(stream).id)) throw refuse("stream", "must be <aggregate>-<id>.");
  const types = type?.split(",");
  const unknown = types?.find((name) => !eventDefinitions.has(name));
  if (unknown !== undefined) throw refuse("type", `there is no event type ${JSON.stringify(unknown.slice(0, 200))}.`);
  return { stream, types, principal, command };
}

import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";

/** All groups of an organization are one stream, so that their number has an exact limit. */
export const groupsStream = (organization: string): string => streamName("group", deriveId("groups", organization));

/** Lower case, so that approvals find a group however they spell it. */
export const GROUP_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const Name = z.object({ group: z.string() });
/** `members`: ids of people. */
const Settings = Name.extend({ members: z.array(z.uuid()) });

export const ConfigureGroup = defineCommand("ConfigureGroup", "group", Settings);
export const RemoveGroup = defineCommand("RemoveGroup", "group", Name);

export const GroupConfigured = defineEvent("GroupConfigured", { public: Settings });
export const GroupRemoved = defineEvent("GroupRemoved", { public: Name });

export type GroupCommand = CommandsIn<typeof import("./group.ts")>;
export type GroupEvent = EventsIn<typeof import("./group.ts")>;

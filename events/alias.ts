import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { deriveId, streamName } from "./ids.ts";
import { RouteRules, RouteTarget } from "./route.ts";

/** All aliases of an organization are one stream, so that their number has an exact limit. */
export const aliasesStream = (organization: string): string => streamName("alias", deriveId("aliases", organization));

const Name = z.object({ alias: z.string() });
const Settings = Name.extend(RouteRules.shape).extend({ targets: z.array(RouteTarget) });

export const ConfigureAlias = defineCommand("ConfigureAlias", "alias", Settings);
export const RemoveAlias = defineCommand("RemoveAlias", "alias", Name);

export const AliasConfigured = defineEvent("AliasConfigured", { public: Settings });
export const AliasRemoved = defineEvent("AliasRemoved", { public: Name });

export type AliasCommand = CommandsIn<typeof import("./alias.ts")>;
export type AliasEvent = EventsIn<typeof import("./alias.ts")>;

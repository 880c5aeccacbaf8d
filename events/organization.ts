import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";
import { OcrLanguages } from "./ocrLanguages.ts";

/** Characters. */
export const MAX_ORGANIZATION_NAME = 200;

export const CreateOrganization = defineCommand(
  "CreateOrganization",
  "organization",
  z.object({ organization_id: z.uuid(), name: z.string().min(1).max(MAX_ORGANIZATION_NAME) }),
);
export const OrganizationCreated = defineEvent("OrganizationCreated", {
  public: z.object({ organization_id: z.uuid() }),
  personal: z.object({ name: z.string() }),
  thing: (data) => streamName("organization", data.organization_id),
  opens: true,
});

/** Turns the tools that the organization wrote itself on or off: for requests, agents and steps of workflows. */
export const SwitchScriptedTools = defineCommand(
  "SwitchScriptedTools",
  "organization",
  z.object({ enabled: z.boolean() }),
);
export const ScriptedToolsSwitched = defineEvent("ScriptedToolsSwitched", {
  public: z.object({ enabled: z.boolean() }),
});

/** Chooses the languages that text recognition (OCR) looks for; null: those of the deployment. Texts that were read stay as they are. */
export const SetOcrLanguages = defineCommand(
  "SetOcrLanguages",
  "organization",
  z.object({ languages: OcrLanguages.nullable() }),
);
export const OcrLanguagesSet = defineEvent("OcrLanguagesSet", {
  public: z.object({ languages: z.array(z.string()).nullable() }),
});

export type OrganizationCommand = CommandsIn<typeof import("./organization.ts")>;
export type OrganizationEvent = EventsIn<typeof import("./organization.ts")>;

import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

export const CreateOrganization = defineCommand(
  "CreateOrganization",
  "organization",
  z.object({ organization_id: z.uuid(), name: z.string().min(1).max(200) }),
);
export const OrganizationCreated = defineEvent("OrganizationCreated", {
  public: z.object({ organization_id: z.uuid() }),
  personal: z.object({ name: z.string() }),
  thing: (data) => streamOf("organization", data.organization_id),
  opens: true,
});

export type OrganizationCommand = CommandFrom<typeof CreateOrganization>;
export type OrganizationEvent = EventFrom<typeof OrganizationCreated>;

import { z } from "zod";
import { Role } from "#events/user.ts";
import type { MemberRow } from "#projections/users/query.ts";

const settings = { name: z.string().trim().min(1).max(200), role: Role };
export const CreateMemberBody = z.object({
  ...settings,
  email: z
    .string()
    .trim()
    .toLowerCase()
    .max(320)
    .regex(z.regexes.email, "must be an email address")
    .describe(
      "The person signs in with it. Unique in the organization; another organization may have the same address.",
    ),
});
export const ChangeMemberBody = z
  .strictObject({ ...settings, active: z.boolean().describe("False: the person cannot sign in, and has no sessions.") })
  .partial();

export const Member = z
  .object({
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: Role,
    active: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ title: "Member" });
const password = z.string().describe("Shown once. The person signs in with it and should then change it.");
export const CreatedMember = Member.extend({
  password: password.optional().describe("Shown once: a repeated request is answered without it."),
}).meta({ title: "NewMember" });
export const NewPassword = z.object({ password }).meta({ title: "NewPassword" });

export const presentMember = ({ created_at, updated_at, ...row }: MemberRow): z.infer<typeof Member> => ({
  ...row,
  created_at: created_at.toISOString(),
  updated_at: updated_at.toISOString(),
});

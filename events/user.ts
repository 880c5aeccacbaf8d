import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

export const Role = z.enum(["owner", "admin", "builder", "approver", "viewer"]);

export const RegisterUser = defineCommand(
  "RegisterUser",
  "user",
  z.object({
    user_id: z.uuid(),
    role: Role,
    /** Lower case: what the person signs in with, once in the whole deployment. */
    email: z.string().min(3).max(320),
    name: z.string().max(200),
    /** argon2id, in PHC form. */
    password_hash: z.string(),
  }),
);
export const UserRegistered = defineEvent("UserRegistered", {
  public: z.object({ user_id: z.uuid(), role: Role, email_claim: z.string() }),
  personal: z.object({ email: z.string(), name: z.string(), password_hash: z.string() }),
  thing: (data) => streamOf("user", data.user_id),
  opens: true,
});

export type UserCommand = CommandFrom<typeof RegisterUser>;
export type UserEvent = EventFrom<typeof UserRegistered>;

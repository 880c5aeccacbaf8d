import { z } from "zod";
import { defineCommand, defineEvent, type CommandFrom, type EventFrom } from "./language.ts";
import { streamOf } from "./ids.ts";

/* People of an organization. They stand in its own stream: whoever changes one needs to know the others, the last owner above all. */

export const Role = z.enum(["owner", "admin", "builder", "approver", "viewer"]);
export type Role = z.infer<typeof Role>;

const Id = z.object({ user_id: z.uuid() });
/** argon2id, in PHC form. */
const Password = z.object({ password_hash: z.string() });
const Standing = z.object({
  role: Role,
  /** One that is not cannot sign in. */
  active: z.boolean(),
});
const Name = z.object({ name: z.string().max(200) });

export const RegisterUser = defineCommand(
  "RegisterUser",
  "organization",
  Id.extend(Name.shape)
    .extend(Password.shape)
    .extend({
      role: Role,
      /** Lower case: what the person signs in with, once in the whole deployment. */
      email: z.string().min(3).max(320),
      /** The keyring's mark of it: the log says for ever that it was taken, and nobody can tell what it was. */
      email_claim: z.string(),
    }),
);
/** What is left out stays. */
export const ChangeUser = defineCommand(
  "ChangeUser",
  "organization",
  Id.extend(Standing.partial().shape).extend(Name.partial().shape),
);
export const SetPassword = defineCommand("SetPassword", "organization", Id.extend(Password.shape));
export const RemoveUser = defineCommand("RemoveUser", "organization", Id);

const thing = (data: { user_id: string }) => streamOf("user", data.user_id);
/** Counts from 1 how often all sessions of a person were ended: a session holds only while its epoch is the person's. */
const Epoch = z.object({ epoch: z.int().positive() });

export const UserRegistered = defineEvent("UserRegistered", {
  public: Id.extend({ role: Role, email_claim: z.string() }),
  personal: Name.extend(Password.shape).extend({ email: z.string() }),
  thing,
  opens: true,
});
/** Only what changed. */
export const UserChanged = defineEvent("UserChanged", {
  public: Id.extend(Standing.partial().shape).extend(Epoch.shape),
  personal: Name.partial(),
  thing,
});
/** By the person, or by whoever may change that person: the sessions until then end. */
export const PasswordSet = defineEvent("PasswordSet", { public: Id.extend(Epoch.shape), personal: Password, thing });
/** What the person has made stays the organization's. */
export const UserRemoved = defineEvent("UserRemoved", { public: Id.extend({ email_claim: z.string() }) });

export type UserCommand =
  | CommandFrom<typeof RegisterUser>
  | CommandFrom<typeof ChangeUser>
  | CommandFrom<typeof SetPassword>
  | CommandFrom<typeof RemoveUser>;
export type UserEvent =
  | EventFrom<typeof UserRegistered>
  | EventFrom<typeof UserChanged>
  | EventFrom<typeof PasswordSet>
  | EventFrom<typeof UserRemoved>;

import { z } from "zod";
import { defineCommand, defineEvent, type CommandsIn, type EventsIn } from "./language.ts";
import { streamName } from "./ids.ts";

/* The people of an organization. They are part of its stream, because rules such as "keep one owner" need all of them at once (ADR 15). */

export const Role = z.enum(["owner", "admin", "builder", "approver", "viewer"]);
export type Role = z.infer<typeof Role>;
/** Roles that may manage people, keys and providers. */
export const ADMINS: Role[] = ["owner", "admin"];
/** Roles that may change agents, definitions, secrets and workflows. */
export const BUILDERS: Role[] = [...ADMINS, "builder"];
/** Roles that may decide approvals, and start and end runs. */
export const APPROVERS: Role[] = [...BUILDERS, "approver"];

const Id = z.object({ user_id: z.uuid() });
/** argon2id, in PHC form. */
const Password = z.object({ password_hash: z.string() });
const Membership = z.object({
  role: Role,
  /** An inactive person cannot sign in. */
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
      /** Lower case. The person signs in with it, so it is unique in the organization. */
      email: z.string().min(3).max(320),
      /** Keyed hash of the address, which keeps it unique within the organization. */
      email_claim: z.string(),
    }),
);
/** Omitted fields keep their value. */
export const ChangeUser = defineCommand(
  "ChangeUser",
  "organization",
  Id.extend(Membership.partial().shape).extend(Name.partial().shape),
);
/** Replaces the password whatever it is. `http` processes of earlier releases also send it for a person's own change. */
export const SetPassword = defineCommand("SetPassword", "organization", Id.extend(Password.shape));
/**
 * A person's own change, refused if the epoch in which the current password was checked is over: a change under way must not replace
 * the password of an administrator's reset. A type of its own, because older processes would drop the epoch
 * (docs/adr/0092-a-field-that-must-not-be-dropped-is-a-new-command.md).
 */
export const ChangePassword = defineCommand(
  "ChangePassword",
  "organization",
  Id.extend(Password.shape).extend({ epoch: z.int().positive() }),
);
/** Between these times the substitute may decide the approvals that this person may decide. Replaces an earlier one. */
const Substitute = Id.extend({ substitute_id: z.uuid(), from: z.iso.datetime(), until: z.iso.datetime() });
export const NameSubstitute = defineCommand("NameSubstitute", "organization", Substitute);
/** `named`: whether there is a substitute, which only the read model knows. Without one, only the sender's right is checked. */
export const WithdrawSubstitute = defineCommand(
  "WithdrawSubstitute",
  "organization",
  Id.extend({ named: z.boolean().optional() }),
);
export const RemoveUser = defineCommand("RemoveUser", "organization", Id);

const thing = (data: { user_id: string }) => streamName("user", data.user_id);
/** Starts at 1 and grows each time all sessions of a person end: a session is valid only in the epoch it started in. */
const Epoch = z.object({ epoch: z.int().positive() });

export const UserRegistered = defineEvent("UserRegistered", {
  public: Id.extend({ role: Role, email_claim: z.string() }),
  personal: Name.extend(Password.shape).extend({ email: z.string() }),
  thing,
  opens: true,
});
/** Holds only the changed fields. */
export const UserChanged = defineEvent("UserChanged", {
  public: Id.extend(Membership.partial().shape).extend(Epoch.shape),
  personal: Name.partial(),
  thing,
});
/** Ends all earlier sessions of the person. */
export const PasswordSet = defineEvent("PasswordSet", { public: Id.extend(Epoch.shape), personal: Password, thing });
export const SubstituteNamed = defineEvent("SubstituteNamed", { public: Substitute });
export const SubstituteWithdrawn = defineEvent("SubstituteWithdrawn", { public: Id });
/** Everything the person created stays with the organization. */
export const UserRemoved = defineEvent("UserRemoved", { public: Id.extend({ email_claim: z.string() }) });

export type UserCommand = CommandsIn<typeof import("./user.ts")>;
export type UserEvent = EventsIn<typeof import("./user.ts")>;

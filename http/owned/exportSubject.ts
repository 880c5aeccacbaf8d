import { z } from "zod";
import { splitSubject } from "#events/budget.ts";
import type { Principal, RecordedEvent } from "#events/envelope.ts";
import type { Actor } from "#events/runOrigin.ts";
import { listDocumentsForUser } from "#projections/documents/owned.ts";
import { listUnmarkedRuns } from "#projections/runs/ownedRuns.ts";
import { listUserScopes } from "#projections/userScopes.ts";
import type { Http } from "../base/deps.ts";
import { MAX_SUBJECT, markUser } from "../base/limits.ts";
import { UUID } from "./owner.ts";

const SHAPE = new RegExp(`^(?:(?:person|key):${UUID}|user:.+)$`, "is");

export const SubjectName = z
  .string()
  .max(MAX_SUBJECT)
  .regex(SHAPE, "must be person:<id>, key:<id> or user:<value>.")
  .describe(
    "`person:<id>` or `key:<id>`, also one that was deleted; or `user:<value>`: an external user, by the `user` of requests or the header that names one to a hook.",
  );

export type Subject =
  | { kind: "principal"; principal: Principal; actor: Pick<Actor, "type" | "id"> }
  | {
      kind: "user";
      user: string;
      user_mark: string;
      scopes: string[];
      /** Runs that do not carry the user's mark. */
      run_ids: string[];
      /** Documents that only the user may read. */
      document_ids: string[];
    };

export async function findSubject(
  http: Pick<Http, "db" | "keyring">,
  organization: string,
  name: string,
): Promise<Subject> {
  const at = name.indexOf(":");
  const [kind, value] = [name.slice(0, at).toLowerCase(), name.slice(at + 1)];
  if (kind === "user") {
    const [scopes, run_ids, document_ids] = await Promise.all([
      listUserScopes(http.db, organization, value),
      listUnmarkedRuns(http.db, organization, value),
      listDocumentsForUser(http.db, organization, value),
    ]);
    return { kind: "user", user: value, user_mark: markUser(http, organization, value), scopes, run_ids, document_ids };
  }
  const id = value.toLowerCase();
  if (kind === "person") return { kind: "principal", principal: `person:${id}`, actor: { type: "person", id } };
  return { kind: "principal", principal: `key:${id}`, actor: { type: "api_key", id } };
}

/** Whether a field has one of `values`, at any depth. `isNamed` selects fields by name. */
function holds(fields: unknown, values: ReadonlySet<string>, isNamed: (name: string) => boolean, name = ""): boolean {
  if (typeof fields === "string") return values.has(fields) && isNamed(name);
  if (Array.isArray(fields)) return fields.some((value) => holds(value, values, isNamed, name));
  if (typeof fields !== "object" || fields === null) return false;
  return Object.entries(fields).some(([key, value]) => holds(value, values, isNamed, key));
}

/** The fields that carry the value of an external user. */
const USER_FIELDS = new Set(["user", "external_user_id", "external_user"]);

/** Whether public fields have one of `names`, alone or as the subject of a budget of one model. */
function names(data: unknown, known: ReadonlySet<string>): boolean {
  const { subject } = data as { subject?: unknown };
  const who = typeof subject === "string" ? splitSubject(subject).who : undefined;
  return (who !== undefined && known.has(who)) || holds(data, known, () => true);
}

/** Creates a test of whether the subject caused an event, or is named in it. */
export function createMatcher(subject: Subject): (event: Pick<RecordedEvent, "data" | "personal" | "meta">) => boolean {
  if (subject.kind === "principal") {
    const known = new Set([subject.principal, subject.actor.id]);
    return ({ meta, data, personal }) =>
      meta.principal === subject.principal || names(data, known) || holds(personal, known, () => true);
  }
  const scopes = new Set(subject.scopes);
  const users = new Set([subject.user]);
  // once the user's things are erased, only the mark is left
  const marks = new Set([subject.user_mark, `user:${subject.user_mark}`]);
  return ({ data, personal }) =>
    scopes.has((data as { scope?: string }).scope ?? "") ||
    names(data, marks) ||
    holds(data, users, (name) => USER_FIELDS.has(name)) ||
    holds(personal, users, (name) => USER_FIELDS.has(name));
}

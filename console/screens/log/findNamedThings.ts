/** An item with a screen that an event's field names. */
interface NamedThing {
  /** The path of the field: `run_id`, `parent.run_id`. */
  field: string;
  kind: string;
  id: string;
}

const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
/** Kinds by the word before `_id`. */
const KINDS: Record<string, string> = {
  turn: "turn",
  thread: "thread",
  run: "run",
  approval: "approval",
  document: "document",
  extraction: "extraction",
  collection: "collection",
  agent: "agent",
  workflow: "workflow",
  definition: "definition",
  key: "key",
  user: "user",
  person: "user",
  member: "user",
};
/** Limits of nested fields, and of items per event: a run may name a thousand. */
const MAX_DEPTH = 3;
const MAX_THINGS = 12;

function thingIn(field: string, value: string): NamedThing[] {
  const [, principal, id = ""] = /^(person|key):(.+)$/.exec(value) ?? [];
  if (principal) return ID.test(id) ? [{ field, kind: KINDS[principal]!, id }] : [];
  const kind = KINDS[/(?:^|[._])([a-z]+)_id$/.exec(field)?.[1] ?? ""];
  return kind && ID.test(value) ? [{ field, kind, id: value }] : [];
}

function find(value: unknown, field: string, depth: number): NamedThing[] {
  if (typeof value === "string") return thingIn(field, value);
  if (typeof value !== "object" || value === null || Array.isArray(value) || depth === 0) return [];
  return Object.entries(value).flatMap(([name, inner]) => find(inner, field ? `${field}.${name}` : name, depth - 1));
}

/** The items with a screen that an event's fields name, in their order. */
export const findNamedThings = (data: unknown): NamedThing[] => find(data, "", MAX_DEPTH).slice(0, MAX_THINGS);

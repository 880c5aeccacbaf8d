/* Turns real answers into examples: ids, times and secrets are the same each time, and one item stands for a list. */

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
/** Values that open something, point into the log, or are of one machine, by their field's name. */
const OPAQUE = /(^|_)(password|cursor|after|hook_token|sha256|hash|digest|version_hash)$/;
const SECRETS: [RegExp, string][] = [
  [/\b(sk|whsec|sess|link)-svc-[\w-]+/g, "$1-svc-…"],
  [/\bSVC_BUS_[0-9A-F]{12}/g, "SVC"],
  // the next midnight, at which budgets begin again
  [/\b\d{4}-\d\d-\d\d(?=T00:00:00\.000Z)/g, "2026-12-02"],
  [/http:\/\/127\.0\.0\.1:\d+/g, "https://assistant.example"],
  [/(\/hooks\/)[\w-]+/g, "$1…"],
  [/[\w.+-]+@(?!example\.com\b)[\w.-]+/g, "ada@example.com"],
];
/** Items of a list within an answer. */
const MAX_ITEMS = 3;
const AT = Date.parse("2026-12-01T09:00:00.000Z");

/** Replaces what differs between two runs by something of the same kind. */
export function createTidy() {
  const ids = new Map<string, string>();
  const idFor = (id: string): string => {
    const known = ids.get(id) ?? `01a21991-d0c5-7b21-8e53-${String(ids.size + 1).padStart(12, "0")}`;
    ids.set(id, known);
    return known;
  };
  const tidyText = (text: string): string => {
    if (TIME.test(text)) return new Date(AT).toISOString();
    return SECRETS.reduce((one, [pattern, by]) => one.replace(pattern, by), text.replace(UUID, idFor));
  };
  const tidyField = (name: string, value: unknown): unknown => {
    if (OPAQUE.test(name) && typeof value === "string") return "…";
    const isTime = typeof value === "number" && (name === "created" || name.endsWith("_at"));
    if (isTime) return AT / 1_000;
    return tidy(name === "data" && Array.isArray(value) ? value.slice(0, 1) : value);
  };
  function tidy(value: unknown): unknown {
    if (typeof value === "string") return tidyText(value);
    if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(tidy);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [tidyText(name), tidyField(name, child)]));
  }
  return tidy;
}

/** The names of an answer's fields, and as `data.name` those of list items. Deeper fields are checked by the schema. */
export function listFields(answer: object): string[] {
  const { data } = answer as { data?: unknown };
  const items = Array.isArray(data) ? data.flatMap((one) => Object.keys(one as object)) : [];
  return [...Object.keys(answer), ...items.map((name) => `data.${name}`)];
}
